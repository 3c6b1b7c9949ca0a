import Cameras
import DatagramPort
import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import PushAvStreamTransport
import ServiceLifecycle
import Stations
import Transport

@testable import Gateway

/// A gateway of the tests: the real API on a real socket, with a live-view service and cameras of the tests' own.
struct TestGateway: Sendable {
    static let token = "gatehouse_the-owner-token-of-the-tests-000000000"
    static let guestToken = "gatehouse_the-guest-token-of-the-tests-000000000"

    static let webhookToken = "gatehouse_webhook_the-door-token-of-the-tests-000"

    let liveView: FakeLiveView
    let camera = FakeCamera("door")
    let cameras = FakeCameras()
    /// The home's clock.
    let clock = Locked(Date(timeIntervalSince1970: 1_000))
    /// What the log masks.
    let secrets = SecretList()
    let folder: TemporaryFolder
    /// The network in which cameras are searched for.
    let network = FakeNetwork()
    let api: GatewayAPI

    init(
        recordings: RecordingAccess? = nil, transports: TransportService? = nil,
        directory: HomeDirectory = HomeDirectory(),
        permits: OutputPermits? = nil,
        _ change: (inout GatewayConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = GatewayConfiguration()
        configuration.cameras = [
            .init(id: "door", name: "Front door", kind: .doorbell, source: .builtInDoorbell),
            .init(id: "yard", name: "Yard", kind: .camera, source: .rtsp("rtsp://192.0.2.1/")),
        ]
        change(&configuration)
        self.liveView = FakeLiveView(devices: Set(configuration.cameras.map(\.id)))
        self.folder = try TemporaryFolder()
        try self.folder.directory.create()
        let pictures = KeptPictures(
            folder: self.folder.directory.file("snapshots"), now: { Date(timeIntervalSince1970: 1_000) })
        let transports = transports.map { HomeTransports(service: $0) }
        let hub = HomeHub(
            devices: configuration.cameras.map { .init(id: $0.id, name: $0.name, kind: $0.kind) },
            drivers: [self.camera], signalling: self.liveView.services, transports: transports,
            directory: directory, history: try History(now: { Date(timeIntervalSince1970: 1_000) }), pictures: pictures,
            now: { [clock] in clock.withLock { $0 } })
        let keeper = try ConfigurationKeeper(
            configuration: configuration, file: "gatehouse.yaml", store: CameraStore(directory: self.folder.directory),
            cameras: self.cameras, hub: hub, secrets: self.secrets,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            environment: ["HOME": "/secret-of-the-environment"])
        let tokens = TokenRegistry(
            file: TokenStore(tokens: [("owner", Self.token), ("guest", Self.guestToken)]))
        let vapid = VAPID(key: try P256Key.make())
        self.api = GatewayAPI(
            hub: hub, tokens: tokens,
            webhooks: WebhookTokens(tokens: [("door", Self.webhookToken)]),
            configuration: configuration, keeper: keeper, recordings: recordings,
            permits: { permits?.camera == $0 ? permits : nil }, pictures: pictures,
            uploadEndpoints: UploadEndpoints(stateFolder: self.folder.directory.path),
            automationService: AutomationService(
                hub: hub, registry: tokens, store: MemoryRunStore(),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }),
            cameraSearch: CameraSearch(look: network.look),
            push: PushService(
                hub: hub,
                subscriptions: PushSubscriptions(
                    store: nil, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }),
                vapid: vapid, settings: .init(),
                // No push service has an address in the tests.
                client: PushClient(
                    vapid: vapid, settings: .init(), lookUp: { (_, _) async throws(UnknownHostName) in [] }),
                accessOf: { tokens.access(of: $0) },
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
    }

    /// Runs the automations while the body runs.
    func runAutomations(_ body: (AutomationService) async throws -> Void) async throws {
        let service = try api.requireService()
        await api.automations.observe { [weak service] changes in await service?.adopt(changes) }
        await service.adopt(api.automations.definitions().map { .defined($0) })
        await service.start()
        do {
            try await body(service)
        } catch {
            await service.stop()
            throw error
        }
        await service.stop()
    }

    var keeper: ConfigurationKeeper { api.keeper }

    var hub: HomeHub { api.hub }

    /// Serves the API while the body runs.
    ///
    /// Hummingbird's own `test(.live)` gives up a request after 20 s, in which a busy machine may do nothing.
    func run<Value: Sendable>(
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        _ body: @Sendable (Client) async throws -> Value
    ) async throws -> Value {
        let (ports, running) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: api.router(scheme: "http"), server: GatewayHTTPChannel.server(ConnectionGuard()),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { running.yield(port) }
            }, logger: logger)
        let services = ServiceGroup(configuration: .init(services: [application], logger: logger))
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { running.finish() }
                try await services.run()
            }
            guard let port = await ports.first(where: { _ in true }) else {
                try await group.waitForAll()
                throw NotServed()
            }
            let client = TestClient(host: "127.0.0.1", port: port, configuration: .init(timeout: .seconds(3_600)))
            client.connect()
            let result: Result<Value, any Error>
            do {
                let end: @Sendable () async -> Void = { await services.triggerGracefulShutdown() }
                result = .success(try await body(Client(client: client, port: port, end: end)))
            } catch {
                result = .failure(error)
            }
            try await client.shutdown()
            await services.triggerGracefulShutdown()
            return try result.get()
        }
    }

    /// The server has ended without serving.
    struct NotServed: Error {}

    /// Sends requests, with the owner's token unless told otherwise.
    struct Client: Sendable {
        let client: TestClient
        let port: Int
        /// Lets the gateway end while the body runs.
        let end: @Sendable () async -> Void

        func send(
            _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil, type: String? = nil,
            token: String? = TestGateway.token, headers: HTTPFields = [:]
        ) async throws -> TestResponse {
            var headers = headers
            if let token { headers[.authorization] = "Bearer \(token)" }
            if let type { headers[.contentType] = type }
            headers[.connection] = "keep-alive"
            let response = try await client.execute(
                TestClient.Request(
                    path, method: method, authority: "localhost", headers: headers,
                    body: body.map { ByteBuffer(string: $0) }))
            return TestResponse(head: response.head, body: response.body ?? ByteBuffer())
        }

        func get(_ path: String) async throws -> TestResponse { try await send(.get, path) }

        func command(_ trait: String, _ command: String, _ body: String, device: String = "door") async throws
            -> TestResponse
        {
            try await send(
                .post, "/v1/devices/\(device)/traits/\(trait)/commands/\(command)", body, type: "application/json")
        }

        /// Starts a live view and gives the session's id.
        func start() async throws -> String {
            let response = try await command("WebRtcLiveView", "startLiveView", #"{"offerSdp":"v=0\r\n"}"#)
            return try response.decoded(Google.WebRtcLiveViewTrait.StartLiveViewCommand.Response.self).mediaSessionId
        }
    }
}

/// An answer of the gateway.
struct TestResponse: Sendable {
    let head: HTTPResponse
    let body: ByteBuffer

    var status: HTTPResponse.Status { head.status }
    var headers: HTTPFields { head.headerFields }
    var text: String { String(buffer: body) }

    func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: Data(body.readableBytesView))
    }

    /// The error in the body.
    var failure: HomeError? { try? decoded(HomeErrorResponse.self).homeError }
}

/// Runs no camera, and notes what it was asked for.
actor FakeCameras: CameraRunning {
    private(set) var applied: [[GatewayConfiguration.Camera]] = []
    private(set) var reconnected: [String] = []
    private var drivers: [FakeCamera]
    /// Makes the driver that takes the place of one whose camera has changed; nil where drivers stay.
    private let replace: (@Sendable (String) -> FakeCamera)?

    init(drivers: [FakeCamera] = [], replace: (@Sendable (String) -> FakeCamera)? = nil) {
        self.drivers = drivers
        self.replace = replace
    }

    func reconnect(_ id: String) -> Bool {
        reconnected.append(id)
        return true
    }

    func findings(of id: String) -> CameraFindings? {
        guard id == "yard" else { return nil }
        var findings = CameraFindings()
        findings.profile = ["transport": "udp", "quirks": "garbage-between-packets"]
        findings.transport = "udp"
        findings.speaker = ["PCMA/8000"]
        return findings
    }

    func apply(_ cameras: [GatewayConfiguration.Camera]) async -> CameraChanges {
        let steps = CameraPlan(
            running: (applied.last ?? []).map { CameraSettings($0) }, wanted: cameras.map { CameraSettings($0) }
        ).steps
        applied.append(cameras)
        var changes = CameraChanges()
        for step in steps {
            let id = step.id
            switch step {
            case .add:
                changes.added.append(id)
                changes.drivers.append(drivers.first { $0.deviceID == id } ?? replace?(id) ?? FakeCamera(id))
            case .remove: changes.removed.append(id)
            case .replaceSource, .restart, .relabel:
                changes.changed.append(id)
                if let replace { changes.drivers.append(replace(id)) }
            }
        }
        return changes
    }
}

/// A folder that is removed with the value.
final class TemporaryFolder: Sendable {
    let path: String
    var directory: StateDirectory { StateDirectory(path: path + "/state") }

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
