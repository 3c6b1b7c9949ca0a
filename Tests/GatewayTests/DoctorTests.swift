import Cameras
import Foundation
import HTTPTypes
import HomeFakes
import HomeHub
import HomeTypes
import LocalNetwork
import MediaRelay
import NIOCore
import PortMapping
import PushAvStreamTransport
import STUN
import TURN
import Testing
import Transport

@testable import Gateway

@Suite struct DoctorTests {
    private static let own = TransportAddress(ipv4: 0xC0A8_010A, port: 0)
    private static let outside = TransportAddress(ipv4: 0xCB00_7106, port: 8189)

    private static func server(_ number: UInt32) -> TransportAddress {
        TransportAddress(ipv4: 0xC633_6400 + number, port: 3478)
    }

    private static func configuration(stun: Int = 1) throws -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.network.stunServers = try (0..<stun).map { try #require(ICEServerURL("stun:198.51.100.\($0)")) }
        configuration.media.iceServers = [.init(url: "stun:stun.example")]
        return configuration
    }

    private static func network(_ seen: [ReflexiveAddress]) throws -> [DoctorFinding] {
        DoctorFinding.network(
            NetworkFacts(port: 8189, hostAddresses: [own], seen: seen), try configuration(stun: max(seen.count, 1)))
    }

    private static func states(_ findings: [DoctorFinding], of subject: DoctorFinding.Subject) -> [DoctorFinding.State]
    {
        findings.filter { $0.subject == subject }.map(\.state)
    }

    @Test func aRouterWithOneAddressForAllDestinationsIsGood() throws {
        let found = try Self.network([
            .init(server: Self.server(1), address: Self.outside, roundTripTime: .milliseconds(21)),
            .init(server: Self.server(2), address: Self.outside),
        ])
        #expect(found.allSatisfy { $0.state == .good && $0.advice == nil })
        #expect(Set(found.map(\.subject)) == [.mediaPort, .outsideAddress, .translation])
        #expect(found.contains { $0.message.contains("203.0.113.6:8189 after 21 ms") })
    }

    @Test func aRouterWithAPortForEachDestinationIsAWarning() throws {
        let found = try Self.network([
            .init(server: Self.server(1), address: Self.outside),
            .init(server: Self.server(2), address: Self.outside.withPort(9)),
        ])
        #expect(Self.states(found, of: .translation) == [.warning])
        #expect(found.last?.advice?.contains("Forward UDP port 8189") == true)
    }

    private static func turn(_ state: TURNState?) throws -> [DoctorFinding] {
        var configuration = try configuration()
        configuration.network.turnServers = [
            .init(url: try #require(ICEServerURL("turn:turn.example")), username: "u", password: "p")
        ]
        return DoctorFinding.network(
            NetworkFacts(
                port: 8189, hostAddresses: [own],
                seen: [
                    .init(server: server(1), address: outside), .init(server: server(2), address: outside.withPort(9)),
                ], turn: state), configuration)
    }

    @Test func aTURNServerThatRelaysHelpsWhereARouterHasAPortForEachDestination() throws {
        let found = try Self.turn(TURNState(server: Self.server(3), relayedAddresses: [Self.outside.withPort(50_000)]))
        #expect(Self.states(found, of: .turnServer) == [.good])
        #expect(Self.states(found, of: .translation) == [.note])
    }

    @Test(arguments: [
        TURNFailure.wrongCredentials, .refused(code: 486), .refused(code: 300), .refused(code: nil), .contradictory,
        .noAnswer, .disconnected, .unreachable(reason: "Connection refused"), .insecure(reason: "it has expired"),
    ])
    func aTURNServerThatDoesNotRelayIsAFailureWithAdvice(failure: TURNFailure) throws {
        let found = try Self.turn(TURNState(server: Self.server(3), transport: .tcp, failure: failure))
        let finding = try #require(found.first { $0.subject == .turnServer })
        #expect(finding.state == .failure && finding.message.contains("\(failure)") && finding.advice != nil)
        #expect(Self.states(found, of: .translation) == [.warning])
    }

    @Test func aTURNServerIsUnknownUntilItHasAnswered() throws {
        #expect(Self.states(try Self.turn(nil), of: .turnServer) == [.warning])
        #expect(Self.states(try Self.turn(TURNState(server: Self.server(3))), of: .turnServer) == [.note])
        var silent = TURNState(server: Self.server(3))
        silent.record(allocated: [Self.outside], isSilent: true)
        #expect(Self.states(try Self.turn(silent), of: .turnServer) == [.warning])
        let without = try Self.network([.init(server: Self.server(1), address: Self.outside)])
        #expect(Self.states(without, of: .turnServer).isEmpty)
    }

    @Test func oneServerCannotTellHowTheRouterTranslates() throws {
        let found = try Self.network([.init(server: Self.server(1), address: Self.outside)])
        #expect(Self.states(found, of: .translation) == [.note])
    }

    @Test func withoutARouterNothingIsTranslated() throws {
        let found = try Self.network([.init(server: Self.server(1), address: Self.own.withPort(8189))])
        #expect(Self.states(found, of: .translation) == [.good])
    }

    @Test func oneSilentServerIsAWarningAndAllOfThemAFailure() throws {
        let silent = ReflexiveAddress(server: Self.server(1), failure: .noAnswer)
        #expect(Self.states(try Self.network([silent]), of: .outsideAddress) == [.failure])
        let answering = ReflexiveAddress(server: Self.server(2), address: Self.outside)
        #expect(Self.states(try Self.network([silent, answering]), of: .outsideAddress) == [.warning, .good])
        #expect(Self.states(try Self.network([.init(server: Self.server(1))]), of: .outsideAddress) == [.note])
        // The names of the config have no addresses so far.
        #expect(Self.states(try Self.network([]), of: .outsideAddress) == [.warning])
    }

    @Test func aGatewayWithoutSTUNServersSaysWhoCannotReachIt() {
        let found = DoctorFinding.network(
            NetworkFacts(port: 8189, hostAddresses: [], receiveDrops: 3), GatewayConfiguration())
        #expect(Self.states(found, of: .mediaPort) == [.failure, .warning])
        #expect(Self.states(found, of: .outsideAddress) == [.note])
        #expect(Self.states(found, of: .translation).isEmpty && Self.states(found, of: .viewerServers).isEmpty)
    }

    @Test func theTCPPortIsNamedAndItsFailureExplained() {
        let open = DoctorFinding.network(
            NetworkFacts(port: 8189, hostAddresses: [Self.own], tcpPort: 8190), GatewayConfiguration())
        #expect(Self.states(open, of: .mediaPort) == [.good])
        #expect(open.first?.message.contains("TCP port 8190") == true)
        let taken = DoctorFinding.network(
            NetworkFacts(port: 8189, hostAddresses: [Self.own], tcpFailure: "it is in use"), GatewayConfiguration())
        #expect(Self.states(taken, of: .mediaPort) == [.good, .warning])
        #expect(taken.first?.message.contains("TCP") == false)
    }

    @Test func theNameInTheLocalNetworkIsReported() throws {
        func state(_ change: (inout MulticastDNSState) -> Void) -> [DoctorFinding.State] {
            var facts = NetworkFacts(port: 8189, hostAddresses: [Self.own])
            var state = MulticastDNSState()
            (state.name, state.isAnnounced, state.interfaces) = ("gatehouse.local", true, ["eth0"])
            change(&state)
            facts.localName = state
            return Self.states(DoctorFinding.network(facts, GatewayConfiguration()), of: .localName)
        }
        #expect(state { _ in } == [.good])
        #expect(state { ($0.name, $0.isRenamed) = ("gatehouse-2.local", true) } == [.note])
        #expect(state { $0.isAnnounced = false } == [.note])
        #expect(state { $0.interfaces = [] } == [.note])
        #expect(state { $0.failure = "cannot join" } == [.warning])
        #expect(state { $0.name = nil }.isEmpty)
    }

    @Test func whatTheRouterForwardsIsReported() throws {
        func findings(_ change: (inout PortMapping) -> Void) -> [DoctorFinding] {
            var facts = NetworkFacts(port: 8189, hostAddresses: [Self.own])
            var mapping = PortMapping()
            mapping.router = Self.own
            change(&mapping)
            facts.portMapping = mapping
            return DoctorFinding.network(facts, GatewayConfiguration())
        }
        func state(_ change: (inout PortMapping) -> Void) -> [DoctorFinding.State] {
            Self.states(findings(change), of: .portMapping)
        }
        #expect(state { $0.external = Self.outside } == [.good])
        #expect(state { $0.external = TransportAddress(ipv4: 0x0A00_0001, port: 9) } == [.warning])
        #expect(state { _ in } == [.note])
        #expect(state { $0.failure = .noAnswer } == [.failure])
        #expect(state { $0.router = nil } == [.warning])
        let offered = findings { $0.external = Self.outside }.first { $0.subject == .outsideAddress }
        #expect(offered?.message.contains("router") == true)
        #expect(
            Self.states(DoctorFinding.network(.init(port: 1, hostAddresses: []), .init()), of: .portMapping).isEmpty)
    }

    @Test func whetherTheRouterForwardsTheTCPPortIsReportedNextToTheMediaPort() throws {
        func findings(
            media: TransportAddress? = Self.outside, _ change: (inout PortMapping) -> Void
        ) -> [DoctorFinding] {
            var facts = NetworkFacts(port: 8189, hostAddresses: [Self.own], tcpPort: 443)
            var (ofMedia, ofTCP) = (PortMapping(), PortMapping())
            (ofMedia.router, ofMedia.external) = (Self.own, media)
            if media == nil { ofMedia.failure = .noAnswer }
            (ofTCP.router, ofTCP.method) = (Self.own, .upnp)
            change(&ofTCP)
            (facts.portMapping, facts.tcpPortMapping) = (ofMedia, ofTCP)
            return DoctorFinding.network(facts, GatewayConfiguration()).filter { $0.subject == .portMapping }
        }
        let both = findings { $0.external = Self.outside.withPort(443) }
        #expect(both.map(\.state) == [.good, .good])
        #expect(both.last?.message.contains("203.0.113.6:443 to TCP port 443 (UPnP)") == true)
        let refused = findings { $0.failure = .refused(.upnp, code: 718) }
        #expect(refused.map(\.state) == [.good, .warning])
        #expect(refused.last?.message.contains("another host has the port") == true)
        #expect(refused.last?.advice?.contains("Forward TCP port 443") == true)
        #expect(findings { _ in }.map(\.state) == [.good, .note])
        let twice = findings { $0.external = TransportAddress(ipv4: 0x0A00_0001, port: 443) }
        #expect(twice.map(\.state) == [.good, .warning])
        // The router is not asked about the TCP port before it forwards the media port, so one finding is enough.
        let neither = findings(media: nil) { $0.router = nil }
        #expect(neither.map(\.state) == [.failure])
        #expect(neither.first?.advice?.contains("UDP port 8189 and TCP port 443") == true)
    }

    @Test func viewersNeedASTUNServerToo() throws {
        var configuration = try Self.configuration()
        configuration.media.iceServers = []
        let found = DoctorFinding.network(NetworkFacts(port: 8189, hostAddresses: [Self.own]), configuration)
        #expect(Self.states(found, of: .viewerServers) == [.warning])
    }

    @Test(arguments: [
        (-1.0, true, DoctorFinding.State.failure), (3, true, .warning), (100, true, .note), (100, false, .good),
        (-1, false, .failure),
    ])
    func aCertificateIsJudgedByItsEnd(days: Double, isOwn: Bool, expected: DoctorFinding.State) {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let facts = DoctorFinding.CertificateFacts(end: now.addingTimeInterval(days * 86_400), isOwn: isOwn)
        #expect(DoctorFinding.certificate(facts, now: now).state == expected)
        #expect(DoctorFinding.certificate(nil, now: now).state == .failure)
    }

    @Test func listenersOnLoopbackAndWithoutHTTPSAreNamed() {
        var http = GatewayConfiguration.HTTP()
        #expect(DoctorFinding.page(http).map(\.state) == [.note])
        http.https?.host = "0.0.0.0"
        #expect(DoctorFinding.page(http).map(\.state) == [.good])
        http.host = "0.0.0.0"
        #expect(DoctorFinding.page(http).map(\.state) == [.good, .warning])
        http.https = nil
        #expect(DoctorFinding.page(http).map(\.subject) == [.page, .certificate])
        http.host = "localhost"
        #expect(DoctorFinding.page(http).map(\.state) == [.note, .warning])
    }

    @Test(arguments: CameraSourceState.allCases)
    func everyStateOfACameraHasWords(state: CameraSourceState) {
        let found = DoctorFinding.camera("Yard", CameraSourceStatus(state: state, reason: "because"))
        #expect(found.device == "Yard" && !found.message.isEmpty)
        #expect((found.state == .good) == (state == .flowing))
        #expect((found.state == .failure) == (state == .backingOff || state == .givenUp))
        // What rests is a note. What is stopped delivers nothing until somebody does something.
        #expect(state != .idle || found.state == .note)
        #expect(state != .stopped || found.state == .warning)
        #expect(found.state == .good || found.state == .note || found.advice != nil)
    }

    @Test func aCameraWhosePicturesBrowsersDoNotPlayIsNamed() {
        func find(_ codec: String, isTranscoded: Bool = true) -> DoctorFinding {
            let tracks = [CameraTrack(kind: "video", codec: codec), CameraTrack(kind: "audio", codec: "PCMA")]
            return DoctorFinding.camera(
                "Yard", CameraSourceStatus(state: .flowing, tracks: tracks), isTranscoded: isTranscoded)
        }
        for codec in ["H264", "VP8", "vp9", "AV1"] { #expect(find(codec).state == .good) }
        #expect(find("H265").state == .note)
        let never = find("H265", isTranscoded: false)
        #expect(never.state == .warning && never.message.contains("H265") && never.advice?.contains("H.264") == true)
        // Its smaller stream is for those browsers.
        let both = ["H265", "H264"].map { CameraTrack(kind: "video", codec: $0) }
        let found = DoctorFinding.camera(
            "Yard", CameraSourceStatus(state: .flowing, tracks: both), isTranscoded: false)
        #expect(found.state == .good && found.message.contains("get H264"))
    }

    @Test func theAdviceFitsTheKindOfFailure() {
        func advice(_ cause: CameraSourceCause?) -> String? {
            DoctorFinding.camera("Yard", CameraSourceStatus(state: .backingOff, reason: "no", cause: cause)).advice
        }
        let causes = CameraSourceCause.allCases
        #expect(Set(causes.map { advice($0) }).count == causes.count)
        #expect(advice(.credentials)?.contains("password") == true)
        #expect(advice(.refusedElsewhere)?.contains("password are not at fault") == true)
        #expect(advice(.passwordWithheld)?.contains("Digest") == true)
        #expect(advice(.refused)?.contains("port") == true && advice(.timedOut)?.contains("firewall") == true)
        #expect(advice(.unknownName)?.contains("name server") == true && advice(.insecure)?.contains("TLS") == true)
        #expect(advice(nil) == advice(.other))
        // A camera that is off rests.
        for cause in [CameraSourceCause.switchedOff, .privacy] {
            let finding = DoctorFinding.camera("Yard", CameraSourceStatus(state: .idle, reason: "no", cause: cause))
            #expect(finding.state == .note && finding.advice == cause.advice)
        }
        #expect(DoctorFinding.camera("Yard", CameraSourceStatus(state: .idle)).advice == nil)
    }

    @Test func recordingsThatSomeBrowsersDoNotPlayAreNamed() async throws {
        func find(_ codecs: [String]) -> DoctorFinding? {
            let tracks = codecs.map { CameraTrack(kind: "video", codec: $0) }
            return DoctorFinding.recordings(of: "Yard", CameraSourceStatus(state: .flowing, tracks: tracks))
        }
        let found = find(["H265", "H264"])
        #expect(found?.state == .note && found?.device == "Yard" && found?.advice?.contains("H.264") == true)
        // The main stream is what is recorded.
        #expect(find(["H264", "H265"]) == nil && find([]) == nil)
        for isRecorded in [true, false] {
            let gateway = try TestGateway { $0.recording = isRecorded ? GatewayConfiguration.Recording() : nil }
            gateway.camera.send(
                .source(CameraSourceStatus(state: .flowing, tracks: [CameraTrack(kind: "video", codec: "H265")])))
            gateway.camera.finish()
            await gateway.hub.run()
            let report = await gateway.api.doctor.report()
            let notes = report.findings.filter { $0.message.hasPrefix("Its recordings are H.265") }
            #expect(notes.map(\.device) == (isRecorded ? ["Front door"] : []))
        }
    }

    @Test func theAdviceAboutACameraFollowsFromItsFailure() async throws {
        let gateway = try TestGateway()
        gateway.camera.send(.source(CameraSourceStatus(state: .backingOff, reason: "no", cause: .credentials)))
        gateway.camera.finish()
        await gateway.hub.run()
        let report = await gateway.api.doctor.report()
        let finding = try #require(report.findings.first { $0.device == "Front door" })
        #expect(finding.state == .failure && finding.advice == CameraSourceCause.credentials.advice)
        // Somebody who may not read the reason learns no kind of failure either.
        let guest = try await gateway.api.doctor.report(about: "door", withReasons: false)
        #expect(guest.findings.first?.advice == CameraSourceCause.general)
        let owner = try await gateway.api.doctor.report(about: "door", withReasons: true)
        #expect(owner.findings.first?.advice == CameraSourceCause.credentials.advice)
    }

    @Test func aCameraThatWaitsForItsPublisherHasNotFailed() {
        for state in [CameraSourceState.backingOff, .givenUp] {
            let source = CameraSourceStatus(state: state, reason: "waiting for a publisher")
            #expect(DoctorFinding.camera("Phone", source, isPublished: true).state == .note)
        }
    }

    @Test func anAddressOfTheConfigIsEnoughForViewers() throws {
        var configuration = try Self.configuration(stun: 2)
        configuration.media.addresses = [Self.outside.host]
        let seen: [ReflexiveAddress] = [
            .init(server: Self.server(1), address: Self.outside),
            .init(server: Self.server(2), address: Self.outside.withPort(9)),
        ]
        let found = DoctorFinding.network(NetworkFacts(port: 8189, hostAddresses: [], seen: seen), configuration)
        #expect(Self.states(found, of: .mediaPort) == [.good] && Self.states(found, of: .translation) == [.note])
    }

    @Test func theDiskIsJudgedByItsRoom() {
        func state(_ free: Int64) -> DoctorFinding.State {
            DoctorFinding.disk(FileSystemSpace(free: free, total: 1 << 40), folder: "/state").state
        }
        #expect([0, 500_000_000, 5_000_000_000].map(state) == [.failure, .warning, .good])
        #expect(DoctorFinding.disk(nil, folder: "/state").state == .failure)
        #expect(DoctorFinding.clock(isSynchronized: false).state == .warning)
    }

    @Test func theAPIReports() async throws {
        let gateway = try TestGateway()
        try await gateway.run { client in
            let response = try await client.get("/v1/doctor")
            #expect(response.status == .ok)
            let report = try JSONDecoder().decode(DoctorReport.self, from: Data(response.body.readableBytesView))
            #expect(Set(report.findings.map(\.subject)).isSuperset(of: [.page, .certificate, .clock]))
        }
    }
}
