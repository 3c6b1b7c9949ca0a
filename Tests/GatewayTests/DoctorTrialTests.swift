import Foundation
import MediaRelay
import NIOCore
import NIOPosix
import NIOSSL
import STUN
import StationFakes
import TURN
import Testing
import Transport

@testable import Gateway

/// What the doctor tries: the servers of the config, and the certificate of `http.publicURL`.
@Suite struct DoctorTrialTests {
    /// Long enough for a machine that is busy with other tests: every fake server here answers.
    private static let patience = Duration.seconds(60)
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let outside = TransportAddress(ipv4: 0xCB00_7106, port: 8189)
    private static let home = TransportAddress(ipv4: 0xC0A8_010A, port: 443)

    private static func viewers(
        _ servers: [GatewayConfiguration.ICEServer], patience: Duration = patience
    ) async -> [DoctorFinding] {
        await ServerTrials(patience: patience).viewerServers(servers).map { DoctorFinding.viewerServer($0) }
    }

    // MARK: - The servers of media.iceServers

    @Test func `a server of viewers that serves is good, and its allocation is given back`() async throws {
        let server = try FakeICEServer()
        defer { server.close() }
        let found = await Self.viewers([
            .init(url: "stun:\(server.address)"),
            .init(url: "turn:\(server.address)", username: "viewer", credential: "secret"),
        ])
        #expect(found.map(\.state) == [.good, .good], "\(found)")
        #expect(found.allSatisfy { $0.subject == .viewerServers && $0.advice == nil })
        #expect(found.map { $0.message.hasPrefix("The STUN server stun:\(server.address)") } == [true, false])
        #expect(found[1].message.contains("relays with the credentials that viewers get"))
        #expect(await eventually { server.methods.contains(TURN.Method.refresh) })
    }

    @Test func `a password that the TURN server refuses is a failure in words`() async throws {
        let server = try FakeICEServer()
        defer { server.close() }
        let found = await Self.viewers([
            .init(url: "turn:\(server.address)", username: "viewer", credential: "mistaken")
        ])
        #expect(found.map(\.state) == [.failure])
        #expect(found[0].message.contains("refuses the user name or the password that viewers get"))
        #expect(found[0].advice == "Correct the username and the credential in media.iceServers.")
        #expect(!"\(found)".contains("mistaken"))
    }

    @Test func `a server that does not answer, and one whose port is closed, are warnings with advice`() async throws {
        let server = try FakeICEServer(isSilent: true)
        defer { server.close() }
        let found = await Self.viewers(
            [
                .init(url: "stun:\(server.address)"),
                .init(url: "turn:\(server.address)", username: "viewer", credential: "secret"),
                .init(url: "turn:\(server.address)?transport=tcp", username: "viewer", credential: "secret"),
            ], patience: .milliseconds(200))
        #expect(found.map(\.state) == [.warning, .warning, .warning], "\(found)")
        #expect(found[0].message.contains("it does not answer") && found[1].message.contains("it does not answer"))
        #expect(found.allSatisfy { $0.advice?.contains("media.iceServers") == true })
    }

    @Test func `what browsers refuse is named without a trial`() async {
        let found = await Self.viewers([
            .init(url: "turn:192.0.2.1"), .init(url: "turn:192.0.2.1", username: "viewer"),
            .init(url: "stun:a:b:c"), .init(url: "turns:192.0.2.1?transport=udp", username: "u", credential: "p"),
        ])
        #expect(found.map(\.state) == [.failure, .failure, .warning, .note], "\(found)")
        #expect(found[0].message.contains("no username or no credential"))
        #expect(found.allSatisfy { $0.advice != nil })
    }

    @Test(arguments: [
        TURNFailure.wrongCredentials, .refused(code: 486), .refused(code: 300), .refused(code: nil), .contradictory,
        .noAnswer, .disconnected, .unreachable(reason: "Connection refused"), .insecure(reason: "it has expired"),
    ])
    func `every failure of a server has words and advice for its section`(failure: TURNFailure) {
        for isRelay in [true, false] {
            let found = DoctorFinding.viewerServer(
                TriedServer(
                    url: "turns:turn.example:443", isRelay: isRelay, transport: .tcp, outcome: .failed(failure)))
            #expect(found.state == .failure || found.state == .warning)
            #expect(found.message.contains("turns:turn.example:443") && !found.message.hasSuffix(".."))
            #expect(found.advice?.contains("network.turn") == false)
        }
    }

    // MARK: - The servers of network.turn

    @Test func `each TURN server of the gateway is tried except the one in use`() async throws {
        let (used, spare, broken) = try (FakeICEServer(), FakeICEServer(), FakeICEServer())
        defer { for server in [used, spare, broken] { server.close() } }
        let servers = try [(used, "secret"), (spare, "secret"), (broken, "mistaken")].map { server, password in
            GatewayConfiguration.Network.TURNServer(
                url: try #require(ICEServerURL("turn:\(server.address)")), username: "viewer", password: password)
        }
        let inUse = TURNState(server: used.address, relayedAddresses: [FakeICEServer.relayed])
        let tried = await ServerTrials(patience: Self.patience).relays(servers, inUse: inUse)
        #expect(tried.map(\.outcome.isInUse) == [true, false, false])
        #expect(tried.map(\.hasAnswered) == [false, true, false])
        #expect(used.methods.isEmpty)
        let found = DoctorFinding.otherRelays(tried, isRelayed: true)
        #expect(found.map(\.state) == [.good, .warning], "\(found)")
        #expect(found[1].message.contains("refuses the user name or the password"))
        #expect(found[1].advice?.contains("network.turn") == true)
    }

    @Test func `a TURN server that fails is a failure only if no other one relays`() throws {
        var configuration = GatewayConfiguration()
        configuration.network.turnServers = try ["turn:a.example", "turn:b.example"].map {
            .init(url: try #require(ICEServerURL($0)), username: "u", password: "p")
        }
        func states(_ other: TriedServer.Outcome) -> [DoctorFinding.State] {
            let facts = NetworkFacts(
                port: 8189, hostAddresses: [Self.home], turn: TURNState(server: Self.outside, failure: .noAnswer))
            let tried = [
                TriedServer(url: "turn:a.example:3478", isRelay: true, outcome: .inUse),
                TriedServer(url: "turn:b.example:3478", isRelay: true, outcome: other),
            ]
            return DoctorFinding.network(facts, configuration, relays: tried).filter { $0.subject == .turnServer }
                .map(\.state)
        }
        #expect(states(.answered(after: .milliseconds(40))) == [.warning, .good])
        #expect(states(.failed(.noAnswer)) == [.failure, .failure])
        #expect(states(.unknown("b.example: no name server answers")) == [.failure, .failure])
    }

    // MARK: - The address of http.publicURL

    private static func page(
        _ url: String = "https://home.example", _ change: (inout PublicPage) -> Void
    ) throws -> [DoctorFinding] {
        var page = try #require(PublicPage(url))
        page.addresses = [outside.withPort(443)]
        page.served = .certificate(certificate())
        change(&page)
        return DoctorFinding.publicPage(page, outside: [outside], now: now)
    }

    /// - Parameter days: when it begins and ends, from now on.
    private static func certificate(
        days: (begin: Double, end: Double) = (-10, 60), coversName: Bool = true, distrust: String? = nil
    ) -> ServedCertificate {
        ServedCertificate(
            begin: now.addingTimeInterval(days.begin * 86_400), end: now.addingTimeInterval(days.end * 86_400),
            coversName: coversName, distrust: distrust)
    }

    @Test func `a name that leads to the gateway and a good certificate are good`() throws {
        #expect(
            try Self.page { _ in }.map { "\($0.state.rawValue): \($0.message)" } == [
                "good: home.example (http.publicURL) has the address 203.0.113.6.",
                "good: The certificate that is served at https://home.example is for home.example, this machine trusts "
                    + "it, and it is valid for 60 days.",
            ])
    }

    @Test func `where the name leads is said`() throws {
        func name(_ change: (inout PublicPage) -> Void) throws -> DoctorFinding {
            let found = try Self.page("https://home.example", change).first { $0.subject == .page }
            return try #require(found)
        }
        let unknown = try name { $0.lookUpFailure = "home.example: Name or service not known" }
        #expect(unknown.state == .failure && unknown.advice?.contains("A or AAAA") == true)
        let elsewhere = try name { $0.addresses = [TransportAddress(ipv4: 0xC633_6401, port: 443)] }
        #expect(elsewhere.state == .note && elsewhere.message.contains("198.51.100.1, but"))
        #expect(elsewhere.message.contains("seen from outside at 203.0.113.6"))
        let local = try name { $0.addresses = [Self.home] }
        #expect(local.state == .note && local.message.contains("192.168.1.10, an address of the local network"))
        let itself = try name { $0.addresses = [TransportAddress(ipv4: 0x7F00_0101, port: 443)] }
        #expect(itself.state == .note && itself.advice?.contains("--gateway https://home.example") == true)
    }

    @Test func `a certificate is judged by its name, its time and its authority`() throws {
        func states(_ certificate: ServedCertificate) throws -> [DoctorFinding.State] {
            let found = try Self.page { $0.served = .certificate(certificate) }.filter { $0.subject == .certificate }
            #expect(found.allSatisfy { $0.state == .good || $0.advice != nil })
            return found.map(\.state)
        }
        #expect(try states(Self.certificate(coversName: false)) == [.failure])
        #expect(try states(Self.certificate(days: (-100, -1))) == [.failure])
        #expect(try states(Self.certificate(days: (1, 90))) == [.failure])
        #expect(try states(Self.certificate(days: (-80, 13.5))) == [.warning])
        #expect(try states(Self.certificate(days: (-80, 14.5))) == [.good])
        #expect(try states(Self.certificate(distrust: "self-signed certificate")) == [.warning])
        #expect(try states(Self.certificate(days: (-100, -1), coversName: false)) == [.failure, .failure])
    }

    @Test func `an address that nobody reaches from inside is a note, beside the gateway's own certificate`() throws {
        func found(_ own: ServedCertificate?) throws -> [DoctorFinding] {
            try Self.page { ($0.served, $0.own) = (.unreached("203.0.113.6:443: no answer"), own) }
                .filter { $0.subject == .certificate }
        }
        #expect(try found(nil).map(\.state) == [.note])
        #expect(try found(nil)[0].advice?.contains("gatehouse doctor --gateway https://home.example") == true)
        #expect(try found(Self.certificate()).map(\.state) == [.note, .good])
        #expect(try found(Self.certificate(coversName: false)).map(\.state) == [.note, .note])
        let nothing = try Self.page { $0.served = .nothing("TLS failed: wrong version number") }
        #expect(nothing.last?.state == .failure && nothing.last?.advice?.contains("port 443") == true)
        let clear = try Self.page("http://home.example") { $0.served = nil }
        #expect(clear.map(\.state) == [.good, .warning])
    }

    @Test func `what cannot be seen from inside is said with the command that sees it`() {
        let named = DoctorFinding.unseenFromInside("https://home.example")
        #expect(named.state == .note && named.asksForLookFromOutside)
        #expect(named.advice?.contains("gatehouse doctor --gateway https://home.example") == true)
        #expect(DoctorFinding.unseenFromInside(nil).advice?.contains("gatehouse doctor --gateway URL") == true)
        #expect(!DoctorFinding.clock(isSynchronized: true).asksForLookFromOutside)
    }

    /// A server of TLS on this host with a certificate that it has signed itself.
    private static func tlsServer(names: [String]) async throws -> any Channel {
        let made = try ServerCertificate.selfSigned(names: names, validityDays: 5)
        let certificates = try NIOSSLCertificate.fromPEMBytes(Array(made.certificate.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(made.privateKey.utf8), format: .pem)
        let context = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key)))
        return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    @Test func `the certificate that is served is seen, whoever has signed it`() async throws {
        let server = try await Self.tlsServer(names: ["home.example", "127.0.0.1"])
        let port = UInt16(try #require(server.localAddress?.port))
        let address = TransportAddress(ipv4: 0x7F00_0001, port: port)
        let names = ["home.example", "127.0.0.1", "other.example"]
        let found = await DoctorThread.run {
            names.map { name in try? ServedCertificate.look(at: address, name: name, within: Self.patience) }
        }
        #expect(found?.map { $0?.coversName } == [true, true, false])
        let seen = try #require(found?.first ?? nil)
        #expect(seen.distrust?.contains("self") == true)
        #expect(seen.begin < Date() && abs(seen.end.timeIntervalSinceNow - 5 * 86_400) < 86_400)
        try await server.close().get()
    }

    @Test func `the report has what the config names, and a viewer's request tries nothing`() async throws {
        let server = try await Self.tlsServer(names: ["other.example"])
        let turn = try FakeICEServer()
        defer { turn.close() }
        let port = try #require(server.localAddress?.port)
        let gateway = try TestGateway { configuration in
            configuration.http.publicURL = "https://127.0.0.1:\(port)"
            configuration.media.iceServers = [
                .init(url: "turn:\(turn.address)", username: "viewer", credential: "mistaken")
            ]
        }
        var doctor = gateway.api.doctor
        doctor.patience = Self.patience
        _ = try await doctor.report(about: "door", withReasons: false)
        #expect(turn.methods.isEmpty)
        let report = await doctor.report()
        let viewers = report.findings.filter { $0.subject == .viewerServers }
        #expect(viewers.map(\.state) == [.failure], "\(viewers)")
        let certificates = report.findings.filter { $0.message.contains("is not for 127.0.0.1") }
        #expect(certificates.map(\.state) == [.failure], "\(report.findings)")
        #expect(report.findings.contains { $0.asksForLookFromOutside && $0.advice?.contains(":\(port)") == true })
        #expect(!report.isHealthy)
        try await server.close().get()
    }
}

extension TriedServer.Outcome {
    fileprivate var isInUse: Bool { self == .inUse }
}
