import Testing
import Transport

@testable import Cameras

/// The password of a camera that sends a stream over HTTP.
@Suite(.timeLimit(.minutes(10))) struct StreamPasswordTests {
    @Test(arguments: ["live.ts", "live.flv", "live.m3u8"])
    func `a stream whose other port asks for a password is tried again soon`(path: String) async throws {
        let other = try PictureServer { _, _ in
            PictureServer.Answer(
                "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"cam\"\r\nContent-Length: 0\r\n\r\n")
        }
        defer { other.stop() }
        let port = other.port
        let server = try PictureServer { _, _ in
            PictureServer.Answer("HTTP/1.1 302 Moved\r\nLocation: http://127.0.0.1:\(port)/x\r\n\r\n")
        }
        defer { server.stop() }
        let source = try StreamSource(address: "http://admin:pass-word@127.0.0.1:\(server.port)/\(path)")
        let sink = RecordingSink()
        source.start(sink: sink)
        let items = await sink.take(until: \.isBackingOff)
        source.stop()
        guard case .backingOff(let seconds, let reason)? = items.states.last else {
            Issue.record("it did not fail")
            return
        }
        let place = "http://127.0.0.1:\(port)/x"
        let expected: CameraFailure =
            path == "live.m3u8"
            ? .stream(.refusedElsewhere(address: place, status: 401)) : .passwordWithheld(address: place)
        #expect(reason == expected)
        // After a refused password it would be 15 s at the earliest.
        #expect(seconds < 2)
        let heard = other.heard.withLock { $0 }
        #expect(!heard.isEmpty && heard.allSatisfy { !$0.contains("Authorization") })
    }
}
