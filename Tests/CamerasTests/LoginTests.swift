import RTSP
import Synchronization
import Testing
import Transport

@testable import Cameras

/// Cameras lock an account after a few wrong passwords.
@Suite(.timeLimit(.minutes(10))) struct LoginTests {
    private static let both = "WWW-Authenticate: Digest realm=\"d\", nonce=\"n\", Basic realm=\"b\"\r\n"

    /// A camera that accepts credentials in one way, or in none; counts those that it refused.
    private static func camera(takes scheme: String?, _ refused: Locked<[String]>) throws -> CameraSimulator {
        try CameraSimulator(
            CameraSimulator.answers(
                media: [.bytes(CameraQuirkTests.video)],
                special: { request in
                    let answer = request.header("authorization") ?? ""
                    if let scheme, answer.hasPrefix(scheme) { return [] }
                    if !answer.isEmpty { refused.withLock { $0.append(String(answer.prefix { $0 != " " })) } }
                    return [.text("RTSP/1.0 401 Unauthorized\r\nCSeq: $CSEQ\r\n\(Self.both)\r\n")]
                }))
    }

    private static func source(_ camera: CameraSimulator, path: String = "live") throws -> RTSPSource {
        try RTSPSource(address: "rtsp://admin:pass@127.0.0.1:\(camera.port)/\(path)", configuration: .patient)
    }

    @Test func aBrokenDigestCostsOneWrongAnswer() async throws {
        let refused = Locked<[String]>([])
        let camera = try Self.camera(takes: "Basic", refused)
        defer { camera.stop() }
        let source = try Self.source(camera)
        for _ in 0..<2 {
            let sink = RecordingSink()
            source.start(sink: sink)
            let items = await sink.take { $0 == .event(.state(.flowing)) || $0.isBackingOff }
            source.stop()
            #expect(items.states.last == .flowing)
        }
        #expect(refused.withLock { $0 } == ["Digest"])
        #expect(source.profile.quirks.contains(.brokenDigest) && source.profile.authentication == "Basic")
        // The next start of the gateway knows it.
        var configuration = RTSPSource.Configuration.patient
        configuration.profile = source.profile
        let later = try RTSPSource(
            address: "rtsp://admin:pass@127.0.0.1:\(camera.port)/live", configuration: configuration)
        let sink = RecordingSink()
        later.start(sink: sink)
        _ = await sink.take { $0 == .event(.state(.flowing)) || $0.isBackingOff }
        later.stop()
        #expect(refused.withLock { $0.count } == 1)
    }

    @Test func bothStreamsOfACameraCountTogether() async throws {
        let refused = Locked<[String]>([])
        let camera = try Self.camera(takes: nil, refused)
        defer { camera.stop() }
        let (main, substream) = (try Self.source(camera), try Self.source(camera, path: "sub"))
        _ = MultiStreamSource(main: main, substream: substream)
        let sinks = [RecordingSink(), RecordingSink()]
        main.start(sink: sinks[0])
        substream.start(sink: sinks[1])
        for sink in sinks { _ = await sink.take(until: \.isBackingOff) }
        main.stop()
        substream.stop()
        let count = refused.withLock { $0.count }
        #expect(count <= 3, "\(refused.withLock { $0 })")
        // Stopping and starting again makes the password no better.
        let sink = RecordingSink()
        main.start(sink: sink)
        _ = await sink.take(until: \.isBackingOff)
        main.stop()
        #expect(refused.withLock { $0.count } == count)
    }

    /// Two sources with a wrong password, in virtual time: each session answers once, or once more where the ledger says
    /// so.
    @Test(arguments: 0..<50) func aWrongPasswordIsSentFewerThanFiveTimes(seed: Int) {
        var random = RandomSource.seeded(UInt64(seed))
        var ledger = LoginLedger()
        var due = [Instant.zero, Instant.zero + .milliseconds(Int.random(in: 0...20_000, using: &random))]
        var told: [Instant] = []
        let schemes: [Challenge.Scheme] = [.digest(.sha256, isSession: false), .digest(.md5, isSession: false), .basic]
        while let now = due.min(), now < .zero + .seconds(90), let index = due.firstIndex(of: now) {
            if let closed = ledger.admit(at: now) {
                #expect(closed.until > now)
                due[index] = closed.until
                continue
            }
            var isOver = false
            while !isOver {
                told.append(now)
                let left = schemes.filter { !ledger.refusedSchemes.contains($0) }
                let used = left.first ?? schemes[0]
                isOver = !ledger.refuse(.init(scheme: used, offersOther: left.count > 1))
            }
            due[index] = ledger.fail(.rtsp(.unauthorized(.credentialsRefused)), at: now, random: &random).until
        }
        #expect(told.count < 5, "\(told)")
        #expect(told.count > 1)
    }

    @Test func aLoginThatWorksForgetsTheRefusals() {
        var random = RandomSource.seeded(1)
        var ledger = LoginLedger()
        let triesOther = ledger.refuse(.init(scheme: .basic, offersOther: true))
        #expect(triesOther)
        let closed = ledger.fail(.rtsp(.unauthorized(.credentialsRefused)), at: .zero, random: &random)
        let before = ledger.admit(at: .zero)
        #expect(before?.until == closed.until)
        ledger.succeed()
        for _ in 0..<2 {
            let after = ledger.admit(at: .zero)
            #expect(after?.until == nil)
        }
        #expect(ledger.refusedSchemes == [.basic], "what did not help is not tried first the next time")
    }
}
