import AsyncHTTPClient
import Automation
import Foundation
import HomeHub
import HomeTypes
import NIOCore
import NIOHTTP1
import NIOSSL
import Signalling
import Stations

/// Sends the notifications of automations to the receivers of the config: over MQTT, or with a request to an HTTPS address,
/// with the picture of a camera if the automation wants one.
///
/// An automation chooses a receiver by its name and never names an address, so it reaches nothing that the owner of the
/// config did not mean. A redirect is not followed.
actor AutomationNotifier {
    /// The trait of the structure whose command notifies.
    static let trait = "Notification"
    /// How long one request may take.
    static let timeout = TimeAmount.seconds(8)
    /// How wide a picture is at most.
    static let pictureWidth = 1_280

    /// What a receiver gets.
    struct Notification: Sendable, Codable, Equatable {
        var automationID: String
        var runID: String
        var message: String
        /// The camera of the picture; nil without one.
        var deviceID: String?
        /// When it was sent.
        var timestamp: Date
    }

    private let receivers: [GatewayConfiguration.Automations.Receiver]
    private let mqtt: MQTTRunner?
    /// By the file of their authorities; empty for those of the system.
    private var clients: [String: HTTPClient] = [:]

    /// Makes a notifier for the receivers of the config.
    init(_ receivers: [GatewayConfiguration.Automations.Receiver], mqtt: MQTTRunner?) {
        self.receivers = receivers
        self.mqtt = mqtt
    }

    /// Ends its connections. It must not be used afterwards.
    func shutDown() async {
        for client in clients.values {
            // A client that is shut down already has nothing left to do.
            try? await client.shutdown()
        }
        clients = [:]
    }

    /// Sends a notification to one receiver, or to all at the same time. One that cannot be reached keeps it from no other.
    /// - Throws: `failedPrecondition` for a receiver that the config does not have, `permissionDenied` for a camera whose
    ///   pictures the caller may not see, and `unavailable` with the names of the receivers that cannot be reached.
    func notify(
        _ parameters: [String: JSONObject.Value], of request: CommandRequest, by caller: Caller, in hub: HomeHub
    ) async throws(HomeError) {
        guard case .text(let message)? = parameters["message"] else {
            throw .invalidArgument("notify needs the parameter message")
        }
        var chosen = receivers
        if case .text(let name)? = parameters["receiver"] {
            chosen = receivers.filter { $0.name == name }
        }
        guard !chosen.isEmpty else {
            throw .failedPrecondition("automations.notify in the config has no such receiver")
        }
        var notification = Notification(
            automationID: request.automationID, runID: request.runID, message: message, timestamp: Date())
        var picture: CameraSnapshot?
        if case .text(let device)? = parameters["snapshotOf"] {
            try await hub.requireView(of: device, for: caller)
            notification.deviceID = device
            do throws(SignallingError) {
                picture = try await hub.signalling.snapshots.snapshot(of: device, maximumWidth: Self.pictureWidth)
            } catch {
                throw HomeError(error)
            }
        }
        defer { picture?.permit?.end() }
        let json = try Self.json(notification)
        let failures = await withTaskGroup(of: (Int, HomeError)?.self) { group in
            for (number, receiver) in chosen.enumerated() {
                group.addTask { [picture] in
                    do throws(HomeError) {
                        try await self.send(json, picture, to: receiver)
                        return nil
                    } catch {
                        return (number, error)
                    }
                }
            }
            var failures: [(Int, HomeError)] = []
            for await failure in group { if let failure { failures.append(failure) } }
            return failures.sorted { $0.0 < $1.0 }.map(\.1)
        }
        guard let first = failures.first else { return }
        guard failures.count > 1 else { throw first }
        throw HomeError(first.code, failures.map(\.message).joined(separator: "; "))
    }

    private func send(
        _ json: Data, _ picture: CameraSnapshot?, to receiver: GatewayConfiguration.Automations.Receiver
    ) async throws(HomeError) {
        try Self.check(picture)
        switch receiver.way {
        case .mqtt(let topic):
            guard let mqtt else { throw .failedPrecondition("the config has no section mqtt") }
            try await mqtt.publish(json, to: topic)
            guard let picture else { return }
            try Self.check(picture)
            try await mqtt.publish(Data(picture.jpeg), to: topic + "/snapshot")
        case .https(let url, let token, let authorities):
            try await post(json, picture, to: url, token: token, authorities: authorities, as: receiver.name)
        }
    }

    /// - Throws: `failedPrecondition` if the camera was switched off after the picture was taken.
    private static func check(_ picture: CameraSnapshot?) throws(HomeError) {
        do { try picture?.permit?.check() } catch {
            throw .failedPrecondition("the camera's pictures are switched off")
        }
    }

    private static func json(_ notification: Notification) throws(HomeError) -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return try encoder.encode(notification) } catch {
            throw .encodingFailed("the notification cannot be written as JSON: \(error)")
        }
    }

    private func post(
        _ json: Data, _ picture: CameraSnapshot?, to url: String, token: String?, authorities: String?, as name: String
    ) async throws(HomeError) {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
        if let picture {
            let boundary = TokenRegistry.newID(prefix: "b")
            request.headers.add(name: "Content-Type", value: "multipart/form-data; boundary=\(boundary)")
            let form = Self.form(json, picture.jpeg, boundary)
            // The camera may be switched off while a slow receiver reads.
            request.body = .stream(PictureForm(form: form, picture: picture), length: .known(Int64(form.count)))
        } else {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: json))
        }
        let status: UInt
        do {
            status = try await client(authorities).execute(request, timeout: Self.timeout).status.code
        } catch {
            throw .unavailable("the receiver \(name) cannot be reached (\(Self.words(error)))")
        }
        guard (200..<300).contains(status) else {
            throw .unavailable("the receiver \(name) answered with status \(status)")
        }
    }

    /// A form of two parts (RFC 7578).
    static func form(_ json: Data, _ jpeg: [UInt8], _ boundary: String) -> Data {
        var body = Data()
        func part(_ name: String, _ type: String, _ file: String, _ content: some Sequence<UInt8>) {
            let head =
                "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(file)\"\r\n"
                + "Content-Type: \(type)\r\n\r\n"
            body.append(contentsOf: head.utf8)
            body.append(contentsOf: content)
            body.append(contentsOf: "\r\n".utf8)
        }
        part("notification", "application/json", "notification.json", json)
        part("snapshot", "image/jpeg", "snapshot.jpg", jpeg)
        body.append(contentsOf: "--\(boundary)--\r\n".utf8)
        return body
    }

    private func client(_ authorities: String?) throws -> HTTPClient {
        if let client = clients[authorities ?? ""] { return client }
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let authorities {
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(authorities))
        }
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        configuration.timeout.connect = .seconds(5)
        configuration.timeout.read = Self.timeout
        // A notification that may have arrived is not sent twice.
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        clients[authorities ?? ""] = client
        return client
    }

    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError: error.shortDescription
        case is NIOSSLError, is NIOSSLExtraError: "its certificate is not trusted"
        default: "no connection"
        }
    }
}

/// A form with a picture, in pieces. It breaks off when the camera is switched off.
private struct PictureForm: AsyncSequence, Sendable {
    let form: Data
    let picture: CameraSnapshot

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: Data
        let picture: CameraSnapshot

        mutating func next() async throws -> ByteBuffer? {
            guard !rest.isEmpty else { return nil }
            try picture.permit?.check()
            let piece = rest.prefix(16 << 10)
            rest = rest.dropFirst(piece.count)
            return ByteBuffer(bytes: piece)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: form, picture: picture) }
}
