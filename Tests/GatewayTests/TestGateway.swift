import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore

@testable import Gateway

/// A gateway of the tests: the real API on a real socket, with a live-view service and cameras of the tests' own.
struct TestGateway: Sendable {
    static let token = "gatehouse_the-owner-token-of-the-tests-000000000"
    static let guestToken = "gatehouse_the-guest-token-of-the-tests-000000000"

    let liveView = FakeLiveView()
    let camera = FakeCamera("door")
    let api: GatewayAPI

    init(_ change: (inout GatewayConfiguration) -> Void = { _ in }) {
        var configuration = GatewayConfiguration()
        configuration.cameras = [
            .init(id: "door", name: "Front door", kind: .doorbell, source: .builtInDoorbell),
            .init(id: "yard", name: "Yard", kind: .camera, source: .rtsp("rtsp://192.0.2.1/")),
        ]
        change(&configuration)
        let hub = HomeHub(
            devices: configuration.cameras.map { .init(id: $0.id, name: $0.name, kind: $0.kind) },
            drivers: [self.camera], liveView: self.liveView, now: { Date(timeIntervalSince1970: 1_000) })
        self.api = GatewayAPI(
            hub: hub, tokens: TokenStore(tokens: [("owner", Self.token), ("guest", Self.guestToken)]),
            configuration: configuration)
    }

    var hub: HomeHub { self.api.hub }

    var application: Application<RouterResponder<GatewayRequestContext>> {
        var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        logger.logLevel = .critical
        return Application(
            router: self.api.router(scheme: "http"),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)), logger: logger)
    }

    func run<Value: Sendable>(_ body: @Sendable (Client) async throws -> Value) async throws -> Value {
        try await self.application.test(.live) { try await body(Client(client: $0)) }
    }

    /// Sends requests, with the owner's token unless told otherwise.
    struct Client: Sendable {
        let client: any TestClientProtocol

        func send(
            _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, type: String? = nil,
            token: String? = TestGateway.token, headers: HTTPFields = [:]
        ) async throws -> TestResponse {
            var headers = headers
            if let token { headers[.authorization] = "Bearer \(token)" }
            if let type { headers[.contentType] = type }
            return try await self.client.execute(
                uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
        }

        func get(_ path: String) async throws -> TestResponse { try await self.send(.get, path) }

        func command(_ trait: String, _ command: String, _ body: String, device: String = "door") async throws
            -> TestResponse
        {
            try await self.send(
                .post, "/v1/devices/\(device)/traits/\(trait)/commands/\(command)", body, type: "application/json")
        }

        /// Starts a live view and gives the session's id.
        func start() async throws -> String {
            let response = try await self.command("WebRtcLiveView", "startLiveView", #"{"offerSdp":"v=0\r\n"}"#)
            return try response.decoded(Google.WebRtcLiveViewTrait.StartLiveViewResult.self).mediaSessionId
        }
    }
}

extension TestResponse {
    var text: String { String(buffer: self.body) }

    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: Data(self.body.readableBytesView))
    }

    /// The error in the body.
    var failure: HomeError? { try? self.decoded(HomeErrorResponse.self).homeError }
}

/// A folder that is removed with the value.
final class TemporaryFolder: Sendable {
    let path: String
    var directory: StateDirectory { StateDirectory(path: self.path + "/state") }

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        self.path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }
}
