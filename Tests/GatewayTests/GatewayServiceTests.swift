import DatagramPort
import Foundation
import Glibc
import HTTPTypes
import HomeFakes
import HomeHub
import HummingbirdTesting
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle
import StationFakes
import Testing

@testable import Gateway

/// The whole gateway with both listeners.
@Suite(.timeLimit(.minutes(10))) struct GatewayServiceTests {
    var logger: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }

    @Test func itServesBothSchemesAndEndsItsSessionsWhenItStops() async throws {
        let folder = try TemporaryFolder()
        var configuration = GatewayConfiguration.demonstration
        configuration.stateDirectory = folder.directory.path
        configuration.http.port = 0
        configuration.http.https?.port = 0
        let liveView = FakeLiveView()
        let (ready, isReady) = AsyncStream<GatewayConfiguration>.makeStream()
        let gateway = try GatewayService(
            configuration: configuration, signalling: liveView.services,
            cameras: FakeCameras(drivers: [FakeCamera("front-door")]),
            logger: logger, onReady: { isReady.yield($0) })
        let group = ServiceGroup(configuration: .init(services: [gateway], logger: logger))
        let token = try #require(gateway.tokens.token(of: "owner"))

        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { isReady.finish() }
                try await group.run()
            }
            var opened: GatewayConfiguration?
            for await listening in ready {
                opened = listening
                break
            }
            let httpPort = try #require(opened).http.port
            let httpsPort = try #require(opened?.http.https).port
            #expect(httpPort != 0 && httpsPort != 0)
            let headers: HTTPFields = [.authorization: "Bearer \(token)", .contentType: "application/json"]
            // However long a busy machine takes.
            let patience = Duration.seconds(3_600)
            try await TestClient.withClient(
                host: "127.0.0.1", port: httpPort, configuration: .init(timeout: patience)
            ) { client in
                let health = try await client.execute(.init("/healthz", method: .get, authority: "localhost"))
                #expect(health.status == .ok)
            }
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.certificateVerification = .none
            try await TestClient.withClient(
                host: "127.0.0.1", port: httpsPort,
                configuration: .init(tlsConfiguration: tls, timeout: patience, serverName: "localhost")
            ) { client in
                let started = try await client.execute(
                    .init(
                        "/v1/devices/front-door/traits/WebRtcLiveView/commands/startLiveView", method: .post,
                        authority: "localhost", headers: headers, body: ByteBuffer(string: #"{"offerSdp":"v=0"}"#)))
                #expect(started.status == .ok)
                // An event stream must not hold the end up.
                try await client.executeAndDontWaitForResponse(
                    .init("/v1/events", method: .get, authority: "localhost", headers: headers))
                #expect(await eventually { await gateway.hub.watcherCount == 1 })
                #expect(await liveView.list.count == 1)
                #expect(FileManager.default.fileExists(atPath: folder.directory.file(LocalGateway.fileName)))
                await group.triggerGracefulShutdown()
                // The client stays until the gateway has ended.
                for await _ in ready {}
            }
            try await tasks.waitForAll()
        }
        #expect(await liveView.list.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: folder.directory.file(LocalGateway.fileName)))
    }

    @Test func nothingSecretReachesTheLog() throws {
        let folder = try TemporaryFolder()
        var configuration = GatewayConfiguration.demonstration
        configuration.stateDirectory = folder.directory.path
        let gateway = try GatewayService(
            configuration: configuration, signalling: FakeLiveView().services, cameras: FakeCameras(),
            logger: logger)
        var dumped = ""
        dump([gateway.tokens as Any, gateway as Any], to: &dumped)
        let token = try #require(gateway.tokens.token(of: "owner"))
        for text in ["\(gateway)", String(reflecting: gateway), "\(gateway.tokens)", dumped] {
            #expect(!text.contains(token) && !text.contains("digest") && text.count < 200)
        }
    }

    @Test func `kept pictures of a home that records nothing age by the time that the state folder keeps`() async throws
    {
        let folder = try TemporaryFolder()
        var configuration = GatewayConfiguration.demonstration
        configuration.stateDirectory = folder.directory.path
        let gateway = try GatewayService(
            configuration: configuration, signalling: FakeLiveView().services, cameras: FakeCameras(),
            logger: logger)
        let kept = folder.directory.file(RetentionTime.fileName)
        #expect(!FileManager.default.fileExists(atPath: kept))
        // The wall clock alone would delete all pictures after a leap. The time that counts is kept from run to run.
        await gateway.api.pictures?.prune()
        #expect(FileManager.default.fileExists(atPath: kept))
    }

    @Test func aTakenPortIsNamedWithItsKey() async throws {
        let folder = try TemporaryFolder()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        var configuration = GatewayConfiguration()
        configuration.stateDirectory = folder.directory.path
        configuration.http.port = try #require(channel.localAddress?.port)
        configuration.http.https = nil
        let gateway = try GatewayService(
            configuration: configuration, signalling: FakeLiveView().services, cameras: FakeCameras(),
            logger: logger)
        let error = await #expect(throws: GatewayService.StartFailure.self) {
            try await ServiceGroup(configuration: .init(services: [gateway], logger: logger)).run()
        }
        #expect(
            error?.description == "cannot listen on 127.0.0.1:\(configuration.http.port): another program, perhaps "
                + "another gateway, has this port; stop it, or set http.port in the config to another port")
        try await channel.close().get()
    }

    /// HTTPS listens there, too, and has no address of its own.
    @Test func `an address that the machine does not have is reported with the key that is in the config`() async throws
    {
        let folder = try TemporaryFolder()
        var configuration = GatewayConfiguration()
        configuration.stateDirectory = folder.directory.path
        configuration.http.host = "192.0.2.1"
        configuration.http.port = 0
        configuration.http.https?.port = 0
        let gateway = try GatewayService(
            configuration: configuration, signalling: FakeLiveView().services, cameras: FakeCameras(),
            logger: logger)
        let error = await #expect(throws: GatewayService.StartFailure.self) {
            try await ServiceGroup(configuration: .init(services: [gateway], logger: logger)).run()
        }
        #expect(
            error?.description == "cannot listen on 192.0.2.1:0: this machine does not have this address; correct "
                + "http.host in the config")
    }

    @Test(arguments: [
        (EADDRNOTAVAIL, "this machine does not have this address; correct http.https.host in the config"),
        (EACCES, "the gateway may not use ports below 1024; set http.https.port in the config to a port from 1024 on"),
        (EMFILE, "Too many open files; see http.https.port in the config"),
    ])
    func `a listener that cannot be opened is reported with what to do`(code: Int32, reason: String) {
        let failure = GatewayService.StartFailure.listening(
            on: "192.0.2.1:443", key: "http.https.port", hostKey: "http.https.host", code: code)
        #expect(failure.description == "cannot listen on 192.0.2.1:443: \(reason)")
    }

    @Test func `a server that cannot be started is reported with the keys of its section`() {
        func words(_ call: String, _ code: Int32) -> String {
            let error = SystemCallError(call: call, purpose: "cannot do it", errorNumber: code)
            return GatewayService.StartFailure.starting(on: "192.0.2.1:554", section: "rtsp", error).description
        }
        #expect(
            words("bind", EADDRNOTAVAIL) == "cannot listen on 192.0.2.1:554: this machine does not have this address; "
                + "correct rtsp.host in the config")
        #expect(
            words("bind", EACCES) == "cannot listen on 192.0.2.1:554: the gateway may not use ports below 1024; set "
                + "rtsp.port in the config to a port from 1024 on")
        #expect(words("pthread_create", EAGAIN).hasPrefix("cannot do it: pthread_create failed: "))
    }

    @Test func givenCertificatesAreUsedAndBadOnesNamed() async throws {
        let folder = try TemporaryFolder()
        let made = try ServerCertificate.selfSigned(names: ["localhost"])
        try folder.directory.writePrivate("c.pem", made.certificate)
        var configuration = GatewayConfiguration()
        configuration.stateDirectory = folder.directory.path
        configuration.http.https?.files = .init(
            certificate: folder.directory.file("c.pem"), privateKey: folder.directory.file("missing.pem"))
        let gateway = try GatewayService(
            configuration: configuration, signalling: FakeLiveView().services, cameras: FakeCameras(),
            logger: logger)
        let error = await #expect(throws: GatewayService.StartFailure.self) { try await gateway.run() }
        #expect(error?.description.contains("missing.pem") == true)
    }
}
