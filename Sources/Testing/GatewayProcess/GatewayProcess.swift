import Foundation
import Glibc
import Transport

/// The real gateway, started as a process of its own with a config, ports and a state folder of its own.
public final class GatewayProcess: @unchecked Sendable {
    // Proof for @unchecked: everything is immutable, and `Process` may be asked and ended from any thread.

    /// Why no gateway runs.
    public struct Failure: Error, CustomStringConvertible {
        /// What was wrong.
        public var description: String
    }

    /// The address of the HTTP API.
    public let address: String
    /// The owner's token.
    public let token: String
    private let folder: URL
    private let process = Process()

    /// Starts a gateway and waits until it serves.
    /// - Parameter sections: further sections of the config, as JSON.
    /// - Throws: when the program has not been built, or does not start.
    public init(sections: String) throws {
        // The tests are beside the program that they test.
        let program = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("gatehouse")
        guard FileManager.default.isExecutableFile(atPath: program.path) else {
            throw Failure(description: "\(program.path) has not been built; run swift build")
        }
        guard let port = freePort(), let mediaPort = freePort() else {
            throw Failure(description: "this host has no free port")
        }
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let state = folder.appendingPathComponent("state")
        let config = folder.appendingPathComponent("gatehouse.yaml")
        // JSON is YAML.
        try Data(
            """
            {"http": {"host": "127.0.0.1", "port": \(port), "https": false}, "media": {"port": \(mediaPort)},
             "stateDirectory": "\(state.path)", \(sections)}
            """.utf8
        ).write(to: config)
        process.executableURL = program
        process.arguments = ["serve", "--config", config.path]
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["XDG_STATE_HOME": folder.appendingPathComponent("standard").path]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        address = "http://127.0.0.1:\(port)"
        do {
            try Self.waitForStart(output.fileHandleForReading)
            let text = try String(contentsOf: state.appendingPathComponent("token"), encoding: .utf8)
            guard let token = text.split(whereSeparator: \.isWhitespace).last else {
                throw Failure(description: "the gateway made no token")
            }
            self.token = String(token)
        } catch {
            process.terminate()
            throw error
        }
    }

    deinit { stop() }

    /// Ends the process when this one ends, for a gateway that many tests share.
    public func stopAtExit() {
        Self.shared.withLock { $0.append(self) }
        Self.registration
    }

    private static let shared = Locked<[GatewayProcess]>([])
    /// Evaluated once.
    private static let registration: Void = {
        atexit { GatewayProcess.shared.withLock { $0 }.forEach { $0.stop() } }
    }()

    /// Ends the process and removes its folder.
    public func stop() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    /// Ends the process as a power cut would.
    public func kill() { Glibc.kill(process.processIdentifier, SIGKILL) }

    /// Reads the output up to the line that says that the gateway serves. What follows is read, and thrown away.
    private static func waitForStart(_ handle: FileHandle) throws {
        var text = ""
        while !text.contains("Gatehouse ") {
            let part = handle.availableData
            guard !part.isEmpty else { throw Failure(description: "the gateway ended at once: \(text)") }
            text += String(decoding: part, as: UTF8.self)
        }
        handle.readabilityHandler = { handle in
            if handle.availableData.isEmpty { handle.readabilityHandler = nil }
        }
    }
}
