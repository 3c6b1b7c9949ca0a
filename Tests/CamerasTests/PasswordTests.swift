import ONVIF
import RTSP
import Testing
import Transport

@testable import Cameras

/// A hostile camera, or somebody who answers in its place, tries to read the password.
@Suite(.timeLimit(.minutes(10))) struct PasswordTests {
    private static let digest = "WWW-Authenticate: Digest realm=\"d\", nonce=\"n\"\r\n"
    private static let basic = "WWW-Authenticate: Basic realm=\"b\"\r\n"
    private static let unauthorized = "RTSP/1.0 401 Unauthorized\r\nCSeq: $CSEQ\r\n"
    private static let password = "pass-word"
    /// `admin:pass-word` as Basic writes it.
    private static let encoded = Base64.encode(Array("admin:\(password)".utf8))

    /// What a camera asks for, and everything that it has received.
    private final class Camera: Sendable {
        let challenge = Locked(PasswordTests.digest)
        /// The method that it challenges; every one if it is nil.
        let asksFor = Locked<String?>(nil)
        let heard = Locked<[String]>([])

        var toldPassword: Bool {
            heard.withLock { heads in
                heads.contains { $0.contains(PasswordTests.encoded) || $0.contains(PasswordTests.password) }
            }
        }

        func start() throws -> CameraSimulator {
            try CameraSimulator(
                CameraSimulator.answers(
                    media: [.bytes(CameraQuirkTests.video)],
                    special: { [self] request in
                        heard.withLock { $0.append(request.head) }
                        let challenge = challenge.withLock { $0 }
                        let wanted = asksFor.withLock { $0 }
                        let scheme = challenge.contains("Digest") ? "Digest" : "Basic"
                        let isAsked = wanted.map { $0 == request.method } ?? true
                        guard isAsked, request.header("authorization")?.hasPrefix(scheme) != true else { return [] }
                        return [.text(PasswordTests.unauthorized + challenge + "\r\n")]
                    }))
        }
    }

    private static func source(
        _ port: UInt16, path: String = "live", _ change: (inout RTSPSource.Configuration) -> Void = { _ in }
    ) throws -> RTSPSource {
        var configuration = RTSPSource.Configuration.patient
        configuration.looksForBackChannel = false
        change(&configuration)
        return try RTSPSource(
            address: "rtsp://admin:\(password)@127.0.0.1:\(port)/\(path)", configuration: configuration)
    }

    /// Runs a source until it flows or has failed; its last state.
    private static func run(_ source: RTSPSource) async -> SourceState? {
        let sink = RecordingSink()
        source.start(sink: sink)
        let items = await sink.take { $0 == .event(.state(.flowing)) || $0.isBackingOff }
        source.stop()
        return items.states.last
    }

    private static func failure(_ state: SourceState?) -> CameraFailure? {
        guard case .backingOff(_, let reason)? = state else { return nil }
        return reason
    }

    /// Why authentication failed, if that is why the source waits.
    private static func authenticationFailure(_ state: SourceState?) -> AuthenticationFailure? {
        switch failure(state) {
        case .rtsp(.unauthorized(let failure))?, .onvif(.unauthorized(let failure))?: failure
        // The answer to a tunnel comes before its connection can be used.
        case .unreachable(let error)?: error.authenticationFailure
        default: nil
        }
    }

    /// Whether the next attempt comes soon. After a refused password it comes after 15 s at the earliest.
    private static func isTriedSoon(_ state: SourceState?) -> Bool {
        guard case .backingOff(let seconds, _)? = state else { return false }
        return seconds < 2
    }

    @Test func aCameraThatAcceptedDigestIsNotSentThePasswordLater() async throws {
        let camera = Camera()
        let simulator = try camera.start()
        defer { simulator.stop() }
        let source = try Self.source(simulator.port)
        #expect(await Self.run(source) == .flowing)
        #expect(source.profile.takesDigest)
        camera.challenge.withLock { $0 = Self.basic }
        #expect(await Self.authenticationFailure(Self.run(source)) == .passwordWithheld)
        #expect(!camera.toldPassword)

        // The next start of the gateway knows it by the profile, and a second stream by the first.
        let stored = CameraProfile(fields: source.profile.fields)
        let later = try Self.source(simulator.port) { $0.profile = stored }
        let state = await Self.run(later)
        #expect(Self.authenticationFailure(state) == .passwordWithheld)
        #expect(Self.isTriedSoon(state), "no password was refused")
        let main = try Self.source(simulator.port) { $0.profile = stored }
        let substream = try Self.source(simulator.port, path: "sub")
        _ = MultiStreamSource(main: main, substream: substream)
        #expect(await Self.authenticationFailure(Self.run(substream)) == .passwordWithheld)
        #expect(!camera.toldPassword)

        // The command `reconnect` forgets it.
        let fresh = try Self.source(simulator.port)
        #expect(await Self.run(fresh) == .flowing)
        #expect(camera.toldPassword)
    }

    @Test func aCameraThatAsksForBasicWithinASessionIsNotSentThePassword() async throws {
        let camera = Camera()
        let simulator = try CameraSimulator(
            CameraSimulator.answers(special: { request in
                camera.heard.withLock { $0.append(request.head) }
                if request.method == "SETUP" { return [.text(Self.unauthorized + Self.basic + "\r\n")] }
                guard request.header("authorization") == nil else { return [] }
                return [.text(Self.unauthorized + Self.digest + "\r\n")]
            }))
        defer { simulator.stop() }
        let source = try Self.source(simulator.port)
        #expect(await Self.authenticationFailure(Self.run(source)) == .passwordWithheld)
        #expect(!camera.toldPassword)
    }

    @Test func aTunnelIsNotSentThePassword() async throws {
        let camera = Camera()
        camera.challenge.withLock { $0 = Self.basic }
        let simulator = try CameraSimulator { request in
            camera.heard.withLock { $0.append(request.head) }
            return [.text("HTTP/1.0 401 Unauthorized\r\n\(Self.basic)\r\n"), .close]
        }
        defer { simulator.stop() }
        let source = try Self.source(simulator.port) { configuration in
            configuration.transport = .http
            configuration.profile.takesDigest = true
        }
        let state = await Self.run(source)
        #expect(Self.authenticationFailure(state) == .passwordWithheld)
        #expect(Self.isTriedSoon(state), "no password was refused")
        #expect(!camera.toldPassword)
    }

    /// A camera that refuses an answer by Digest counts it, although it then asks for Basic alone.
    @Test(arguments: [CameraProfile.Transport.tcp, .http])
    func `a refused answer counts as one whatever the camera asks for then`(
        transport: CameraProfile.Transport
    ) async throws {
        let isTunnelled = transport == .http
        let heard = Locked<[String]>([])
        let simulator = try CameraSimulator(
            CameraSimulator.answers(special: { request in
                heard.withLock { $0.append(request.head) }
                let challenge = request.header("authorization") == nil ? Self.digest : Self.basic
                guard isTunnelled else { return [.text(Self.unauthorized + challenge + "\r\n")] }
                return [.text("HTTP/1.0 401 Unauthorized\r\n\(challenge)\r\n"), .close]
            }))
        defer { simulator.stop() }
        let source = try Self.source(simulator.port) { configuration in
            configuration.transport = isTunnelled ? .http : .tcp
            configuration.profile.takesDigest = true
        }
        let state = await Self.run(source)
        #expect(Self.authenticationFailure(state) == .credentialsRefused)
        #expect(!Self.isTriedSoon(state))
        let answers = heard.withLock { heads in heads.filter { $0.contains("Authorization") } }
        #expect(answers.count == 1 && answers.allSatisfy { $0.contains("Digest") })
    }

    @Test func aTunnelsRedirectionIsNotFollowed() throws {
        var random = RandomSource.seeded(1)
        var tunnel = RTSPTunnel(url: try RTSPURL(parsing: "rtsp://u:p@cam/live"), random: &random)
        let answer = Array("HTTP/1.0 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n".utf8)
        #expect(throws: RTSPError.self) { try tunnel.handle(answer, random: &random) }
    }

    @Test(arguments: [
        ("rtsp://cam/live", basic, AuthenticationFailure.credentialsMissing),
        ("rtsp://u:p@cam/live", basic, .passwordWithheld),
        ("rtsp://u:p@cam/live", "", .methodUnsupported),
        ("rtsp://u:p@cam/live", "WWW-Authenticate: Bearer\r\n", .methodUnsupported),
    ])
    func aTunnelSaysWhyAuthenticationFailed(url: String, challenge: String, failure: AuthenticationFailure) throws {
        var random = RandomSource.seeded(1)
        var tunnel = RTSPTunnel(url: try RTSPURL(parsing: url), refusesBasic: true, random: &random)
        let answer = Array("HTTP/1.0 401 Unauthorized\r\n\(challenge)\r\n".utf8)
        #expect(throws: RTSPError.unauthorized(failure)) { try tunnel.handle(answer, random: &random) }
    }

    @Test func `a tunnel says that this machine lacks the hash which the camera wants`() throws {
        var random = RandomSource.seeded(1)
        var tunnel = RTSPTunnel(url: try RTSPURL(parsing: "rtsp://u:p@cam/live"), hashes: [.sha256], random: &random)
        let answer = Array("HTTP/1.0 401 Unauthorized\r\n\(Self.digest)\r\n".utf8)
        #expect(throws: RTSPError.unauthorized(.hashUnavailable)) { try tunnel.handle(answer, random: &random) }
    }

    @Test func aTunnelCountsTheSecondChallengeAsARefusal() throws {
        var random = RandomSource.seeded(1)
        var tunnel = RTSPTunnel(url: try RTSPURL(parsing: "rtsp://u:p@cam/live"), random: &random)
        let answer = Array("HTTP/1.0 401 Unauthorized\r\n\(Self.digest)\r\n".utf8)
        #expect(try tunnel.handle(answer, random: &random) == .authenticate)
        #expect(throws: RTSPError.unauthorized(.credentialsRefused)) { try tunnel.handle(answer, random: &random) }
    }

    @Test(arguments: [digest, basic])
    func anotherPortIsNotSentThePassword(challenge: String) async throws {
        let other = Camera()
        other.challenge.withLock { $0 = challenge }
        let elsewhere = try other.start()
        defer { elsewhere.stop() }
        let port = elsewhere.port
        let simulator = try CameraSimulator(
            CameraSimulator.answers(special: { request in
                guard request.method == "DESCRIBE" else { return [] }
                return [.text("RTSP/1.0 302 Moved\r\nCSeq: $CSEQ\r\nLocation: rtsp://127.0.0.1:\(port)/x\r\n\r\n")]
            }))
        defer { simulator.stop() }
        let source = try Self.source(simulator.port)
        let state = await Self.run(source)
        #expect(Self.failure(state) == .passwordWithheld(address: "rtsp://127.0.0.1:\(port)/x"))
        #expect(Self.isTriedSoon(state), "no password was refused")
        let heard = other.heard.withLock { $0 }
        #expect(!heard.isEmpty && heard.allSatisfy { !$0.contains("Authorization") })
    }

    @Test func theSpeakersSessionIsNotSentThePassword() async throws {
        let camera = Camera()
        camera.challenge.withLock { $0 = Self.basic }
        let simulator = try camera.start()
        defer { simulator.stop() }
        var configuration = BackChannelSpeaker.Configuration()
        configuration.refusesBasic = true
        let url = try RTSPURL(parsing: "rtsp://admin:\(Self.password)@127.0.0.1:\(simulator.port)/live")
        let speaker = BackChannelSpeaker(url: url, configuration: configuration)
        var asked: [Int] = []
        for _ in 0..<2 {
            let (states, told) = AsyncStream<SpeakerState>.makeStream()
            speaker.begin { told.yield($0) }
            for await state in states {
                guard case .refused(let refusal) = state else { continue }
                #expect(refusal == .unauthorized(.rtsp(.unauthorized(.passwordWithheld))))
                break
            }
            speaker.end()
            asked.append(camera.heard.withLock { $0.count })
        }
        #expect(!camera.toldPassword)
        #expect(asked[0] > 0 && asked[1] > asked[0], "no password was refused, so the next talk does not have to wait")
    }

    @Test func `a password that is refused to a talk is not sent for the next one at once`() async throws {
        let heard = Locked<[String]>([])
        let simulator = try CameraSimulator(
            CameraSimulator.answers(special: { request in
                heard.withLock { $0.append(request.head) }
                return [.text(Self.unauthorized + Self.digest + "\r\n")]
            }))
        defer { simulator.stop() }
        let url = try RTSPURL(parsing: "rtsp://admin:\(Self.password)@127.0.0.1:\(simulator.port)/live")
        let speaker = BackChannelSpeaker(url: url)
        for _ in 0..<2 {
            let (states, told) = AsyncStream<SpeakerState>.makeStream()
            speaker.begin { told.yield($0) }
            for await state in states {
                guard case .refused(let refusal) = state else { continue }
                guard case .unauthorized = refusal else {
                    Issue.record("\(refusal)")
                    break
                }
                break
            }
            speaker.end()
        }
        #expect(heard.withLock { $0 }.filter { $0.contains("Authorization") }.count == 1)
    }

    @Test func aDeviceIsNotSentThePassword() async throws {
        let heard = Locked<[String]>([])
        let device = try CameraSimulator { request in
            heard.withLock { $0.append(request.head) }
            return [.text("HTTP/1.1 401 Unauthorized\r\n\(Self.basic)Content-Length: 0\r\n\r\n"), .close]
        }
        defer { device.stop() }
        let source = try ONVIFSource(address: "onvif://admin:\(Self.password)@127.0.0.1:\(device.port)")
        let sink = RecordingSink()
        source.start(sink: sink)
        let items = await sink.take(until: \.isBackingOff)
        source.stop()
        #expect(Self.failure(items.states.last) == .onvif(.unauthorized(.passwordWithheld)))
        // It has refused a digest of the password (WS-Security), and counts that.
        #expect(!Self.isTriedSoon(items.states.last))
        #expect(heard.withLock { heads in heads.count > 1 && heads.allSatisfy { !$0.contains("Authorization") } })
    }

    @Test func aDevicesRedirectionIsNotFollowed() async throws {
        let other = Locked(0)
        let elsewhere = try CameraSimulator { _ in
            other.withLock { $0 += 1 }
            return [.close]
        }
        defer { elsewhere.stop() }
        let port = elsewhere.port
        let device = try CameraSimulator { _ in
            [.text("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:\(port)/\r\nContent-Length: 0\r\n\r\n"), .close]
        }
        defer { device.stop() }
        let source = try ONVIFSource(address: "onvif://admin:\(Self.password)@127.0.0.1:\(device.port)")
        let sink = RecordingSink()
        source.start(sink: sink)
        let items = await sink.take(until: \.isBackingOff)
        source.stop()
        #expect(Self.failure(items.states.last) == .onvif(.status(302)))
        #expect(other.withLock { $0 } == 0)
    }
}

/// A camera that redirects the gateway to a place where it must not go.
@Suite(.timeLimit(.minutes(10))) struct RedirectionTests {
    private static func addresses(_ host: String) throws -> [TransportAddress] {
        try CameraSocket.lookUp(host: host, port: 554).get()
    }

    @Test(arguments: [
        ("192.0.2.1", "127.0.0.1", false), ("192.0.2.1", "127.9.9.9", false), ("192.0.2.1", "0.0.0.0", false),
        ("192.0.2.1", "169.254.169.254", false), ("192.0.2.1", "192.0.2.2", true), ("192.0.2.1", "10.0.0.1", true),
        ("127.0.0.1", "127.0.0.2", true), ("127.0.0.1", "169.254.1.1", false), ("169.254.1.1", "169.254.1.2", true),
        ("169.254.1.1", "127.0.0.1", false),
    ])
    func thisHostAndTheLinkAreLeftAlone(home: String, target: String, isFollowed: Bool) throws {
        let origin = try RTSPURL(parsing: "rtsp://\(home)/")
        let there = try RTSPURL(parsing: "rtsp://\(target)/")
        let followed = Redirection.followed(
            try Self.addresses(target), to: there, from: origin, at: try Self.addresses(home).first)
        #expect(!followed.isEmpty == isFollowed)
    }

    @Test(arguments: [
        ("::1", true, false), ("::", true, false), ("::ffff:127.0.0.1", true, false),
        ("fe80::1", false, true), ("::ffff:169.254.169.254", false, true), ("2001:db8::1", false, false),
    ])
    func addressesOfIPv6AreDistinguished(text: String, isLoopback: Bool, isLinkLocal: Bool) throws {
        guard CameraSimulator.hasIPv6 else { return }
        let address = try #require(try Self.addresses(text).first)
        #expect(address.leadsToThisHost == isLoopback && address.leadsToLink == isLinkLocal)
    }

    @Test func theReasonNamesTheAddress() async throws {
        let simulator = try CameraSimulator(
            CameraSimulator.answers(special: { request in
                guard request.method == "DESCRIBE" else { return [] }
                return [.text("RTSP/1.0 302 Moved\r\nCSeq: $CSEQ\r\nLocation: rtsp://169.254.169.254/x\r\n\r\n")]
            }))
        defer { simulator.stop() }
        let source = try RTSPSource(address: "rtsp://127.0.0.1:\(simulator.port)/live")
        let sink = RecordingSink()
        source.start(sink: sink)
        let items = await sink.take(until: \.isBackingOff)
        source.stop()
        let target = try RTSPURL(parsing: "rtsp://169.254.169.254/x")
        let refusal = RTSPError.redirectionRefused(to: "\(target)", .ownHost)
        guard case .backingOff(_, let reason)? = items.states.last else {
            Issue.record("it did not fail")
            return
        }
        #expect(reason == .unreachable(CameraUnreachable(answer: refusal)))
        #expect(reason.words.contains("rtsp://169.254.169.254/x") && reason.words.contains("not followed"))
    }
}
