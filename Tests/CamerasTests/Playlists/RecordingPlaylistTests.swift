import StreamFormats
import Testing
import Transport

@testable import Cameras

/// Playlists that have ended: recordings.
@Suite(.timeLimit(.minutes(10))) struct RecordingPlaylistTests {
    @Test func `A recording that is longer than what waits is played from its beginning to its end`() throws {
        let count = 6
        // 30 MiB. No more than 24 MiB wait.
        let (stream, _) = PlaylistRun.pictures(5, length: 1 << 20)
        let server = try PictureServer { head, _ in
            guard PictureServer.path(head) == "/live.m3u8" else { return PlaylistRun.ok(stream) }
            let lines = (0..<count).flatMap { ["#EXT-X-DISCONTINUITY", "#EXTINF:1,", "\($0).ts"] }
            return PlaylistRun.ok(PlaylistRun.recording(lines))
        }
        defer { server.stop() }
        let run = try PlaylistRun(server)
        let (fetcher, client, home) = (run.fetcher, run.client, run.home)
        let isStarted = startDetachedThread(name: "playlist") { fetcher.run(client, at: home, random: .system) }
        try #require(isStarted)
        defer { _ = fetcher.control.stop() }
        // Each segment is an epoch of its own.
        var shown: [PacedUnits.Entry] = []
        var end: CameraFailure?
        var now = Instant.zero + .seconds(1)
        for _ in 0..<600 {
            let step = fetcher.fetched.withLock { $0.step(at: now) }
            shown += step.due
            end = step.end
            if end != nil { break }
            if let due = step.nextDue, due > now {
                now = due
            } else if step.due.isEmpty {
                run.owner.wait(.seconds(1))
                _ = run.owner.takeKeyFrameRequests()
            }
        }
        #expect(end == .stream(.ended))
        #expect(shown.map(\.epoch) == (0..<count).flatMap { [Int](repeating: $0, count: 5) })
        let last = shown.map { Int($0.unit.bytes.last ?? 0) }
        #expect(last == (0..<count).flatMap { _ in Array(1...5) })
        #expect(server.paths == ["/live.m3u8"] + (0..<count).map { "/\($0).ts" })
    }

    @Test func `A recording with more segments than a camera's playlist keeps begins with the first`() throws {
        let (stream, places) = PlaylistRun.pictures(40)
        let server = try PictureServer { head, _ in
            let path = PictureServer.path(head)
            guard let number = Int(path.dropFirst().prefix { $0 != "." }) else {
                return PlaylistRun.ok(PlaylistRun.recording((0..<40).flatMap { ["#EXTINF:1,", "\($0).ts"] }))
            }
            return PlaylistRun.ok(Array(stream[places[number]]))
        }
        defer { server.stop() }
        #expect(try PlaylistRun(server).finish().pictures == Array(1...40))
    }

    @Test func `Pictures and sound of a recording are fetched side by side`() throws {
        let (stream, _) = PlaylistRun.pictures(1)
        let server = try PictureServer { head, _ in
            switch PictureServer.path(head) {
            case "/live.m3u8":
                return PlaylistRun.ok(
                    "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",URI=\"sound.m3u8\"\n"
                        + "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\nvideo.m3u8\n")
            case "/video.m3u8":
                return PlaylistRun.ok(PlaylistRun.recording((0..<3).flatMap { ["#EXTINF:2,", "v\($0).ts"] }))
            case "/sound.m3u8":
                return PlaylistRun.ok(PlaylistRun.recording((0..<6).flatMap { ["#EXTINF:1,", "s\($0).ts"] }))
            default: return PlaylistRun.ok(stream)
            }
        }
        defer { server.stop() }
        #expect(try PlaylistRun(server).finish().end == .stream(.ended))
        let media = server.paths.filter { $0.hasSuffix(".ts") }.map { String($0.dropFirst().dropLast(3)) }
        #expect(media == ["v0", "s0", "s1", "v1", "s2", "s3", "v2", "s4", "s5"])
    }

    // MARK: Parts of files

    private static func parts(_ places: [Range<Int>]) -> String {
        let lines = places.flatMap { ["#EXT-X-BYTERANGE:\($0.count)@\($0.lowerBound)", "#EXTINF:1,", "all.ts"] }
        return PlaylistRun.recording(lines)
    }

    @Test func `A server that ignores byte ranges is asked for its file once`() throws {
        let (stream, places) = PlaylistRun.pictures(20, length: 2_000)
        let server = try PictureServer { head, _ in
            PictureServer.path(head) == "/live.m3u8" ? PlaylistRun.ok(Self.parts(places)) : PlaylistRun.ok(stream)
        }
        defer { server.stop() }
        let fetched = try PlaylistRun(server).finish()
        #expect(fetched.end == .stream(.ended) && fetched.pictures == Array(1...20))
        #expect(server.paths == ["/live.m3u8", "/all.ts"])
    }

    @Test func `Parts in another order are read from the beginning again`() throws {
        let (stream, places) = PlaylistRun.pictures(4, length: 2_000)
        let server = try PictureServer { head, _ in
            PictureServer.path(head) == "/live.m3u8"
                ? PlaylistRun.ok(Self.parts([places[0], places[2], places[1]])) : PlaylistRun.ok(stream)
        }
        defer { server.stop() }
        #expect(try PlaylistRun(server).finish().end == .stream(.ended))
        #expect(server.paths == ["/live.m3u8", "/all.ts", "/all.ts"])
    }

    @Test func `A server that closes the connection in the middle of its file is asked for the rest`() throws {
        let (stream, places) = PlaylistRun.pictures(4, length: 2_000)
        let cut = places[1].lowerBound + 700
        let server = try PictureServer { head, number in
            if PictureServer.path(head) == "/live.m3u8" { return PlaylistRun.ok(Self.parts(places)) }
            let length = "Content-Length: \(stream.count)\r\n\r\n"
            return PictureServer.Answer("HTTP/1.1 200 OK\r\n" + length, [number == 1 ? Array(stream[..<cut]) : stream])
        }
        defer { server.stop() }
        let fetched = try PlaylistRun(server).finish()
        #expect(fetched.end == .stream(.ended))
        #expect(fetched.pictures == [1, 2, 3, 4])
        let lines = server.heard.withLock { $0 }.flatMap { $0.split(whereSeparator: \.isNewline) }
        let ranges = lines.filter { $0.hasPrefix("Range: ") }.map { String($0) }
        #expect(
            ranges == ["Range: bytes=0-\(places[0].upperBound - 1)", "Range: bytes=\(cut)-\(places[1].upperBound - 1)"])
    }

    @Test func `A part that lies too far behind is refused with what is wrong`() throws {
        let server = try PictureServer { head, _ in
            PictureServer.path(head) == "/live.m3u8"
                ? PlaylistRun.ok(Self.parts([80_000_000..<80_000_100]))
                : PictureServer.Answer("HTTP/1.1 200 OK\r\nContent-Length: 90000000\r\n\r\n")
        }
        defer { server.stop() }
        #expect(try PlaylistRun(server).finish().end == .stream(.ignoresRanges))
    }

    @Test func `An initialization without end is refused`() throws {
        let block = [UInt8](repeating: 0, count: 1 << 16)
        let server = try PictureServer { head, _ in
            PictureServer.path(head) == "/live.m3u8"
                ? PlaylistRun.ok(PlaylistRun.recording(["#EXT-X-MAP:URI=\"init.mp4\"", "#EXTINF:1,", "a.m4s"]))
                : PictureServer.Answer("HTTP/1.1 200 OK\r\n\r\n", [[UInt8]](repeating: block, count: 1_000))
        }
        defer { server.stop() }
        #expect(try PlaylistRun(server).finish().end == .stream(.tooLarge))
        #expect(server.paths == ["/live.m3u8", "/init.mp4"])
    }
}
