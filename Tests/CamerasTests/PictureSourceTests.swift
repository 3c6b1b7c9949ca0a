import Codecs
import HTTPMedia
import Intake
import PacketFakes
import RTP
import RTSP
import SDP
import Testing
import Transport

@testable import Cameras

/// Cameras that send JPEG pictures over HTTP.
@Suite(.timeLimit(.minutes(10))) struct PictureSourceTests {
    private static func source(
        _ server: PictureServer, user: String = "", _ change: (inout PictureSource.Configuration) -> Void = { _ in }
    ) throws -> PictureSource {
        var configuration = PictureSource.Configuration()
        change(&configuration)
        return try PictureSource(address: "http://\(user)127.0.0.1:\(server.port)/stream", configuration: configuration)
    }

    /// Runs a source until `isLast` accepts an item; what its sink got.
    private func run(
        _ source: PictureSource, until isLast: (RecordingSink.Item) -> Bool
    ) async -> [RecordingSink.Item] {
        let sink = RecordingSink()
        source.start(sink: sink)
        let items = await sink.take(until: isLast)
        source.stop()
        return items
    }

    private func isFlowing(_ item: RecordingSink.Item) -> Bool { item == .event(.state(.flowing)) }

    private func reason(_ items: [RecordingSink.Item]) -> CameraFailure? {
        for case .backingOff(_, let reason) in items.states { return reason }
        return nil
    }

    /// Whether the next attempt comes soon. After a refused password it comes after 15 s at the earliest.
    private func isTriedSoon(_ items: [RecordingSink.Item]) -> Bool {
        for case .backingOff(let seconds, _) in items.states { return seconds < 2 }
        return false
    }

    @Test func `a series becomes H.264 whatever its boundary and its lengths are`() async throws {
        let server = try PictureServer { _, _ in PictureServer.series([PictureServer.picture()]) }
        defer { server.stop() }
        let source = try Self.source(server)
        let items = await run(source, until: isFlowing)
        #expect(items.states == [.resolving, .describing, .playing, .flowing])
        let openings = items.compactMap { if case .event(.tracks(let tracks)) = $0 { tracks } else { nil } }
        let tracks = try #require(openings.last)
        #expect(tracks.map(\.codec.name) == ["H264"])
        #expect(tracks[0].codec.formatParameters["profile-level-id"]?.hasPrefix("42") == true)
        let packets = items.packets(ofTrack: 0)
        #expect(packets.first?.flags.contains([.keyFrame, .startsFrame]) == true)
        #expect(packets.last?.flags.contains(.marker) == true)
        #expect(items.contains { if case .event(.senderReport(track: 0, _, _)) = $0 { true } else { false } })
        guard case .pictures(isSeries: true, width: 64, height: 48, tenthsPerSecond: _, cutOff: _)? = source.notes.first
        else {
            Issue.record("\(source.notes)")
            return
        }
    }

    @Test func `a picture is decodable from its packets`() async throws {
        let server = try PictureServer { _, _ in
            PictureServer.series([PictureServer.picture(luma: 150, width: 320, height: 200)])
        }
        defer { server.stop() }
        let items = await run(try Self.source(server), until: isFlowing)
        var assembler = FrameAssembler(format: .h264, maximumDelay: .zero)
        for packet in items.packets(ofTrack: 0) {
            packet.payload.withUnsafeBytes { payload in
                assembler.insert(
                    sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp,
                    marker: packet.flags.contains(.marker), payload: payload, at: .zero)
            }
        }
        let assembled = assembler.nextFrame(at: .zero)
        let unit = try #require(assembled)
        var decoder = try H264Decoder()
        let decoded = try decoder.decode(unit.data)
        let frame = try #require(decoded)
        #expect((frame.width, frame.height) == (320, 200))
        #expect(abs(Int(frame.luma[100 * 320 + 160]) - 150) < 6)
    }

    @Test func `single pictures are requested one after the other`() async throws {
        let server = try PictureServer { _, number in
            PictureServer.single(PictureServer.picture(luma: UInt8(40 + number % 100)))
        }
        defer { server.stop() }
        let source = try Self.source(server) { $0.framesPerSecond = 30 }
        var timestamps: Set<UInt32> = []
        let items = await run(source) { item in
            if case .packets(let packets, _) = item { timestamps.formUnion(packets.map(\.timestamp)) }
            return timestamps.count == 4
        }
        #expect(items.states == [.resolving, .describing, .playing, .flowing])
        #expect(server.heard.withLock { $0.count } >= 4)
        let numbers = items.packets(ofTrack: 0).map(\.sequenceNumber)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 })
    }

    @Test func `a camera that answers more slowly than it is asked gets one request at a time`() async throws {
        let server = try PictureServer { _, number in
            var answer = PictureServer.single(PictureServer.picture(luma: UInt8(40 + number % 100)))
            // Three times the interval of the source.
            answer.hesitation = 100
            return answer
        }
        defer { server.stop() }
        let source = try Self.source(server) { $0.framesPerSecond = 30 }
        var timestamps: Set<UInt32> = []
        let items = await run(source) { item in
            // The key frame is made of the picture that is there.
            if isFlowing(item) { source.requestKeyFrame(track: 0) }
            if case .packets(let packets, _) = item { timestamps.formUnion(packets.map(\.timestamp)) }
            return timestamps.count == 5
        }
        #expect(items.states == [.resolving, .describing, .playing, .flowing])
        #expect(server.heard.withLock { $0.count } >= 4)
        #expect(server.simultaneous.withLock { $0 } == 0)
    }

    @Test func `a camera whose answers no longer hold a picture is silent`() async throws {
        let hasFlowed = Locked(false)
        let server = try PictureServer { _, number in
            guard hasFlowed.withLock({ $0 }) else { return PictureServer.single(PictureServer.picture()) }
            // Without an end to the empty answers, they would be requested for ever.
            return number < 1_000 ? PictureServer.single([]) : PictureServer.Answer("HTTP/1.1 404 Not Found\r\n\r\n")
        }
        defer { server.stop() }
        let source = try Self.source(server) {
            $0.framesPerSecond = 30
            $0.pictureTimeout = .seconds(1)
        }
        let items = await run(source) { item in
            if isFlowing(item) { hasFlowed.withLock { $0 = true } }
            return item.isBackingOff && hasFlowed.withLock { $0 }
        }
        guard case .backingOff(_, let reason)? = items.states.last else {
            Issue.record("\(items.states)")
            return
        }
        #expect(reason == .pictures(.silent(seconds: 1)))
        #expect(items.states.dropLast().last == .stalled(track: 0))
    }

    @Test func `a reconnection continues the numbers and begins with a key frame`() async throws {
        let server = try PictureServer { _, number in
            PictureServer.series([PictureServer.picture()], staysOpen: number > 0)
        }
        defer { server.stop() }
        var flows = 0
        let items = await run(try Self.source(server)) { item in
            if item == .event(.state(.flowing)) { flows += 1 }
            return flows == 2
        }
        #expect(reason(items) == .connectionClosed)
        let packets = items.packets(ofTrack: 0)
        let numbers = packets.map(\.sequenceNumber)
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 })
        #expect(Set(packets.map(\.timestamp)).count == 2)
        #expect(packets.filter { $0.flags.contains([.keyFrame, .startsFrame]) }.count == 2)
    }

    @Test func `a requested key frame does not wait for the next picture`() async throws {
        let server = try PictureServer { _, _ in PictureServer.series([PictureServer.picture()]) }
        defer { server.stop() }
        let source = try Self.source(server)
        let sink = RecordingSink()
        source.start(sink: sink)
        let first = await sink.take(until: isFlowing)
        // The camera sends nothing more, so the key frame is made of its newest picture.
        source.requestKeyFrame(track: 0)
        let more = await sink.take { if case .packets = $0 { true } else { false } }
        source.stop()
        let (before, after) = (first.packets(ofTrack: 0), more.packets(ofTrack: 0))
        #expect(after.first?.flags.contains([.keyFrame, .startsFrame]) == true)
        #expect(after.first?.sequenceNumber == (before.last?.sequenceNumber ?? 0) &+ 1)
        #expect(after.first?.timestamp != before.first?.timestamp)
    }

    @Test(arguments: ["Basic realm=\"cam\"", "Digest realm=\"cam\", nonce=\"abc\", qop=\"auth\""])
    func `a camera that asks for credentials gets them`(challenge: String) async throws {
        let scheme = String(challenge.prefix { $0 != " " })
        let server = try PictureServer { head, _ in
            guard head.contains("Authorization: \(scheme) ") else {
                return PictureServer.Answer("HTTP/1.1 401 No\r\nWWW-Authenticate: \(challenge)\r\n\r\n")
            }
            return PictureServer.series([PictureServer.picture()])
        }
        defer { server.stop() }
        let source = try Self.source(server, user: "admin:pass-word@")
        let items = await run(source, until: isFlowing)
        #expect(items.states.last == .flowing)
        #expect(source.profile.authentication?.hasPrefix(scheme) == true)
        #expect(source.profile.takesDigest == (scheme == "Digest"))
        #expect(server.heard.withLock { $0.first?.contains("Authorization") } == false)
    }

    @Test func `the password is not sent in clear text to a camera that took Digest before`() async throws {
        let server = try PictureServer { _, _ in
            PictureServer.Answer("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"cam\"\r\n\r\n")
        }
        defer { server.stop() }
        let source = try Self.source(server, user: "admin:pass-word@") { $0.profile.takesDigest = true }
        let items = await run(source) { $0.isBackingOff }
        #expect(reason(items) == .pictures(.passwordWithheld))
        #expect(isTriedSoon(items), "no password was refused")
        #expect(server.heard.withLock { heads in heads.allSatisfy { !$0.contains("Authorization") } })
    }

    @Test func `a refused answer counts as one whatever the camera asks for then`() async throws {
        let server = try PictureServer { head, _ in
            let scheme = head.contains("Authorization") ? "Basic realm=\"cam\"" : "Digest realm=\"cam\", nonce=\"abc\""
            return PictureServer.Answer("HTTP/1.1 401 No\r\nWWW-Authenticate: \(scheme)\r\n\r\n")
        }
        defer { server.stop() }
        let source = try Self.source(server, user: "admin:pass-word@") { $0.profile.takesDigest = true }
        let items = await run(source) { $0.isBackingOff }
        #expect(reason(items) == .pictures(.credentialsRefused))
        #expect(!isTriedSoon(items))
    }

    @Test func `an answer that a camera no longer accepts is not sent again`() async throws {
        let challenge = { @Sendable (scheme: String) in
            PictureServer.Answer("HTTP/1.1 401 No\r\nWWW-Authenticate: \(scheme)\r\n\r\n")
        }
        let server = try PictureServer { head, number in
            // It accepts Digest for one picture, and then asks for the password itself.
            if number == 0 { return challenge("Digest realm=\"cam\", nonce=\"abc\"") }
            return number == 1 ? PictureServer.single(PictureServer.picture()) : challenge("Basic realm=\"cam\"")
        }
        defer { server.stop() }
        let source = try Self.source(server, user: "admin:pass-word@") { $0.framesPerSecond = 30 }
        var failures = 0
        let items = await run(source) { item in
            if item.isBackingOff { failures += 1 }
            return failures == 2
        }
        #expect(reason(items) == .pictures(.passwordWithheld))
        let authorized = server.heard.withLock { heads in heads.map { $0.contains("Authorization") } }
        #expect(Array(authorized.prefix(4)) == [false, true, true, false])
    }

    @Test(arguments: ["Basic realm=\"cam\"", "Digest realm=\"cam\", nonce=\"abc\", qop=\"auth\""])
    func `another port of the camera is not sent the password`(challenge: String) async throws {
        let unauthorized = PictureServer.Answer("HTTP/1.1 401 No\r\nWWW-Authenticate: \(challenge)\r\n\r\n")
        let other = try PictureServer { _, _ in unauthorized }
        defer { other.stop() }
        let port = other.port
        // It redirects after it has been sent the password itself, so the next request could carry it on.
        let server = try PictureServer { head, _ in
            head.contains("Authorization")
                ? PictureServer.Answer("HTTP/1.1 302 Moved\r\nLocation: http://127.0.0.1:\(port)/x\r\n\r\n")
                : unauthorized
        }
        defer { server.stop() }
        let items = await run(try Self.source(server, user: "admin:pass-word@")) { $0.isBackingOff }
        #expect(reason(items) == .passwordWithheld(address: "http://127.0.0.1:\(port)/x"))
        #expect(reason(items)?.words.contains("write that address into the config") == true)
        #expect(isTriedSoon(items), "no password was refused")
        let heard = other.heard.withLock { $0 }
        #expect(!heard.isEmpty && heard.allSatisfy { !$0.contains("Authorization") })
    }

    @Test func `what another port of the camera forbids says nothing about the password`() async throws {
        let other = try PictureServer { _, _ in PictureServer.Answer("HTTP/1.1 403 No\r\n\r\n") }
        defer { other.stop() }
        let port = other.port
        let server = try PictureServer { _, _ in
            PictureServer.Answer("HTTP/1.1 302 Moved\r\nLocation: http://127.0.0.1:\(port)/x\r\n\r\n")
        }
        defer { server.stop() }
        let items = await run(try Self.source(server, user: "admin:pass-word@")) { $0.isBackingOff }
        let failure = try #require(reason(items))
        #expect(failure == .stream(.refusedElsewhere(address: "http://127.0.0.1:\(port)/x", status: 403)))
        #expect(failure.kind == .refusedElsewhere)
        #expect(
            failure.words
                == "http://127.0.0.1:\(port)/x, to which the camera leads, answered with the HTTP status 403")
    }

    @Test func `a redirection to another port is followed without a password`() async throws {
        let other = try PictureServer { _, _ in PictureServer.series([PictureServer.picture()]) }
        defer { other.stop() }
        let port = other.port
        let server = try PictureServer { _, _ in
            PictureServer.Answer("HTTP/1.1 302 Moved\r\nLocation: http://127.0.0.1:\(port)/x\r\n\r\n")
        }
        defer { server.stop() }
        let items = await run(try Self.source(server, user: "admin:pass-word@"), until: isFlowing)
        #expect(items.states.last == .flowing)
    }

    @Test func `a wrong password is tried once, and then after a long pause`() async throws {
        let server = try PictureServer { _, _ in
            PictureServer.Answer("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"cam\"\r\n\r\n")
        }
        defer { server.stop() }
        let items = await run(try Self.source(server, user: "admin:wrong@")) { $0.isBackingOff }
        #expect(reason(items) == .pictures(.credentialsRefused))
        guard case .backingOff(let seconds, _)? = items.states.last else {
            Issue.record("not backing off")
            return
        }
        #expect(seconds >= 15)
        #expect(server.heard.withLock { $0.count } == 2)
    }

    @Test(arguments: [
        ("HTTP/1.1 404 Not Found\r\n\r\n", CameraFailure.pictures(.refused(status: 404))),
        ("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>", .pictures(.notPictures(contentType: "text/html"))),
        (
            "HTTP/1.1 302 Moved\r\nLocation: http://192.0.2.9/x\r\n\r\n",
            .pictures(.redirected(to: "http://192.0.2.9/x"))
        ),
        ("HTTP/1.1 302 Moved\r\nLocation: /stream\r\n\r\n", .redirectionCircle),
        ("HTTP/1.1 302 Moved\r\n\r\n", .pictures(.redirected(to: ""))),
        ("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"cam\"\r\n\r\n", .pictures(.credentialsMissing)),
        ("SIP/2.0 200 OK\r\n\r\n", .pictures(.answer(.malformed("it does not begin with an HTTP/1.1 status line")))),
        ("HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace\r\n\r\n--x\r\n\r\nGIF89a", .connectionClosed),
    ])
    func `a camera that sends no pictures is refused with the reason`(
        answer: String, expected: CameraFailure
    ) async throws {
        let server = try PictureServer { _, _ in PictureServer.Answer(answer) }
        defer { server.stop() }
        let items = await run(try Self.source(server)) { $0.isBackingOff }
        #expect(reason(items) == expected)
    }

    @Test func `interim answers without end do not hold the camera's thread`() async throws {
        let answer = PictureServer.Answer(String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 100_000))
        let server = try PictureServer { _, _ in answer }
        defer { server.stop() }
        let items = await run(try Self.source(server)) { $0.isBackingOff }
        #expect(reason(items) == .pictures(.answer(.tooLarge(what: "a head", limit: 16_384))))
    }

    @Test func `a redirection on the same camera is followed`() async throws {
        let server = try PictureServer { head, _ in
            head.hasPrefix("GET /stream ")
                ? PictureServer.Answer("HTTP/1.1 302 Moved\r\nLocation: /video?x=1\r\n\r\n")
                : PictureServer.series([PictureServer.picture()])
        }
        defer { server.stop() }
        let items = await run(try Self.source(server), until: isFlowing)
        #expect(items.states.last == .flowing)
        #expect(server.heard.withLock { $0.last?.hasPrefix("GET /video?x=1 ") } == true)
    }

    @Test func `a picture of another size restarts the track`() async throws {
        let server = try PictureServer { _, number in
            PictureServer.single(PictureServer.picture(width: number < 2 ? 64 : 128))
        }
        defer { server.stop() }
        let source = try Self.source(server) { $0.framesPerSecond = 30 }
        var openings = 0
        let items = await run(source) { item in
            if case .event(.tracks) = item { openings += 1 }
            if case .packets = item { return openings == 2 }
            return false
        }
        #expect(items.packets(ofTrack: 0).last?.flags.contains(.keyFrame) == true)
    }
}
