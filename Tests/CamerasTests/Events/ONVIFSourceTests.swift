import ONVIF
import RTP
import RTSP
import Testing
import Transport

@testable import Cameras

/// A camera that is named by its ONVIF device service, which answers, and whose stream fails.
@Suite(.timeLimit(.minutes(10))) struct ONVIFSourceTests {
    /// A profile as a device lists it.
    static func profile(_ token: String, _ encoding: String = "H264", width: Int = 0) -> String {
        var size = ""
        if width > 0 {
            size =
                "<tt:Resolution><tt:Width>\(width)</tt:Width><tt:Height>\(width * 9 / 16)</tt:Height>"
                + "</tt:Resolution>"
        }
        return "<trt:Profiles token=\"\(token)\"><tt:Name>\(token)</tt:Name><tt:VideoEncoderConfiguration>"
            + "<tt:Encoding>\(encoding)</tt:Encoding>\(size)</tt:VideoEncoderConfiguration></trt:Profiles>"
    }

    /// A device that announces the address of its stream.
    /// - Parameters:
    ///   - profiles: its profiles, the best first.
    ///   - asked: gets each request's content type, which names its action.
    ///   - streamURI: the address of a stream; nil where the device does not answer.
    static func device(
        profiles: [String] = [profile("p")], asked: Locked<[String]>? = nil,
        _ streamURI: @escaping @Sendable () -> String?
    ) throws -> CameraSimulator {
        try CameraSimulator { request in
            let action = request.header("content-type") ?? ""
            asked?.withLock { $0.append(action) }
            var body = "<tds:Nothing/>"
            if action.contains("GetProfiles") {
                body = "<trt:GetProfilesResponse>\(profiles.joined())</trt:GetProfilesResponse>"
            } else if action.contains("GetStreamUri") {
                guard let uri = streamURI() else { return [] }
                body =
                    "<trt:GetStreamUriResponse><trt:MediaUri><tt:Uri>\(uri)</tt:Uri></trt:MediaUri>"
                    + "</trt:GetStreamUriResponse>"
            }
            let envelope =
                "<s:Envelope xmlns:s=\"http://www.w3.org/2003/05/soap-envelope\" "
                + "xmlns:tt=\"http://www.onvif.org/ver10/schema\" xmlns:tds=\"http://www.onvif.org/ver10/device/wsdl\" "
                + "xmlns:trt=\"http://www.onvif.org/ver10/media/wsdl\"><s:Body>\(body)</s:Body></s:Envelope>"
            return [
                .text("HTTP/1.1 200 OK\r\nContent-Length: \(envelope.utf8.count)\r\n\r\n\(envelope)")
            ]
        }
    }

    /// A source that fails four times as soon as it is started, and notes it.
    private final class FailingSource: CameraSource {
        let url: RTSPURL
        let starts: AsyncStream<RTSPURL>.Continuation
        init(_ url: RTSPURL, _ starts: AsyncStream<RTSPURL>.Continuation) { (self.url, self.starts) = (url, starts) }
        var speaker: (any CameraSpeaker)? { nil }
        func start(sink: any CameraSink) {
            for _ in 0..<4 {
                sink.handle(.state(.backingOff(seconds: 1, reason: .unreachable(CameraUnreachable("no media")))))
            }
            starts.yield(url)
        }
        func stop() {}
        func requestKeyFrame(track: Int) {}
    }

    @Test func theSourceOfAStreamIsKeptUntilTheStreamIsElsewhere() async throws {
        let path = Locked("one")
        let camera = try Self.device { "rtsp://10.0.0.9/\(path.withLock { $0 })" }
        defer { camera.stop() }
        let made = Locked<[String]>([])
        let (starts, started) = AsyncStream<RTSPURL>.makeStream()
        let source = try ONVIFSource(address: "onvif://127.0.0.1:\(camera.port)") { url in
            made.withLock { $0.append(url.path) }
            return FailingSource(url, started)
        }
        source.start(sink: RecordingSink())
        // It counts its own failures over all three starts, so that its circuit can open.
        var seen = 0
        for await url in starts {
            if url.path == "/two" { break }
            seen += 1
            if seen == 3 { path.withLock { $0 = "two" } }
        }
        source.stop()
        #expect(seen >= 3)
        #expect(made.withLock { $0 } == ["/one", "/two"])
    }

    /// A source that records its calls, and fails four times as soon as it is started.
    private final class NotingSource: CameraSource {
        let calls: AsyncStream<String>.Continuation
        init(_ calls: AsyncStream<String>.Continuation) { self.calls = calls }
        var speaker: (any CameraSpeaker)? { nil }
        func start(sink: any CameraSink) {
            calls.yield("start")
            for _ in 0..<4 {
                sink.handle(.state(.backingOff(seconds: 1, reason: .unreachable(CameraUnreachable("no media")))))
            }
        }
        func stop() {}
        func requestKeyFrame(track: Int) {}
        func setCoalescing(_ isCoalescing: Bool) { calls.yield(isCoalescing ? "coalesce" : "read at once") }
    }

    @Test func theSourceOfAStreamKnowsBeforeItStartsWhetherSomebodyWatches() async throws {
        let count = Locked(0)
        let camera = try Self.device {
            // Another address each time, so that each source is a new one.
            "rtsp://10.0.0.9/\(count.withLock { $0 += 1; return $0 })"
        }
        defer { camera.stop() }
        let (calls, called) = AsyncStream<String>.makeStream()
        let source = try ONVIFSource(address: "onvif://127.0.0.1:\(camera.port)") { _ in NotingSource(called) }
        source.setCoalescing(true)
        source.start(sink: RecordingSink())
        var seen: [String] = []
        for await call in calls {
            seen.append(call)
            if seen.count == 4 { source.setCoalescing(false) }
            // The source that was there before may get one more call.
            if seen.suffix(2) == ["read at once", "start"] { break }
            // Sources fail and are replaced quickly, so many calls may wait here already.
            if seen.count == 100_000 { break }
        }
        source.stop()
        #expect(seen.prefix(4) == ["coalesce", "start", "coalesce", "start"])
        #expect(seen.suffix(2) == ["read at once", "start"])
    }

    @Test func aDeviceWhosePortIsClosedIsRefused() async throws {
        let device = try Self.device { "rtsp://10.0.0.9/" }
        device.stop()
        for await _ in device.notes {}
        let source = try ONVIFSource(address: "onvif://127.0.0.1:\(device.port)")
        let sink = RecordingSink()
        source.start(sink: sink)
        let items = await sink.take(until: \.isBackingOff)
        source.stop()
        guard case .backingOff(_, let reason)? = items.states.last else {
            Issue.record("\(items.states)")
            return
        }
        #expect(reason.kind == .refused)
    }

    @Test func aSourceThatHasGivenUpIsLeftAlone() throws {
        let control = try #require(SourceControl())
        let watch = FailureWatch(sink: RecordingSink(), control: control)
        let end = Instant.zero + .seconds(300)
        watch.handle(.state(.backingOff(seconds: 1, reason: .unreachable(CameraUnreachable("")))))
        #expect(watch.nextQuestion == .distantFuture)
        watch.handle(.state(.givenUp(until: end, failures: 10, reason: .unreachable(CameraUnreachable("")))))
        #expect(watch.nextQuestion == end)
        watch.handle(.state(.flowing))
        #expect(watch.nextQuestion == .distantFuture)
    }
}
