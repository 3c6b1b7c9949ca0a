import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The ONVIF device simulator of Tests/Peers, as a process of its own.
final class SimulatedONVIFCamera {
    /// Why no camera runs.
    struct Failure: Error {
        var words: String
    }

    /// What the picture and the loudspeaker are set to, in the words of ONVIF.
    struct Image: Decodable, Equatable {
        var filter: String
        var wide: String
        var rotate: String
        var degree: Int
        var level: Int
    }

    private struct State: Decodable {
        var image: Image
        /// The requests that set something, by their operation.
        var requests: [String: String]
    }

    private let process = Process()
    private let origin: String

    /// Starts a camera and waits until it answers.
    /// - Parameter options: the options of onvif-camera.py.
    init(_ options: String...) throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Peers/onvif-camera.py")
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", script.standardizedFileURL.path] + options
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var text = ""
        while !text.hasSuffix("\n") {
            let part = output.fileHandleForReading.availableData
            guard !part.isEmpty else {
                process.waitUntilExit()
                throw Failure(words: "the simulated camera ended at once: \(text)")
            }
            text += String(decoding: part, as: UTF8.self)
        }
        guard let port = text.split(whereSeparator: \.isWhitespace).last.flatMap({ UInt16($0) }) else {
            kill(process.processIdentifier, SIGKILL)
            throw Failure(words: "the simulated camera says no port: \(text)")
        }
        origin = "http://127.0.0.1:\(port)"
    }

    deinit { stop() }

    /// Ends the camera, as if somebody had cut its power.
    func stop() {
        guard process.isRunning else { return }
        // A process inherits the mask of the thread that starts it, and the threads of Swift's pool block SIGTERM.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// A camera of the gateway's config, as JSON, with the key `door`.
    var configuration: String {
        """
        {"id": "door", "name": "Door", "type": "doorbell", "source": "builtin:doorbell",
         "onvif": {"url": "\(origin)/onvif/device_service", "username": "admin", "password": "secret"}}
        """
    }

    /// What it is set to.
    func image() async throws -> Image { try await state().image }

    /// The operations that clients have called to set something.
    func requests() async throws -> Set<String> { Set(try await state().requests.keys) }

    /// Refuses each change with a subcode of ONVIF from now on; nil to accept changes again.
    func refuse(with subcode: String?) async throws {
        var request = URLRequest(url: try url("/control/image"))
        request.httpMethod = "POST"
        request.httpBody = Data(#"{"fault": \#(subcode.map { "\"\($0)\"" } ?? "null")}"#.utf8)
        _ = try await URLSession.shared.data(for: request)
    }

    private func state() async throws -> State {
        let (data, _) = try await URLSession.shared.data(from: try url("/control/state"))
        return try JSONDecoder().decode(State.self, from: data)
    }

    private func url(_ path: String) throws -> URL {
        guard let url = URL(string: origin + path) else { throw Failure(words: "\(origin) is not an address") }
        return url
    }
}
