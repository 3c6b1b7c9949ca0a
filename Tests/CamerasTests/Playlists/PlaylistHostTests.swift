import HTTPMedia
import RTSP
import Testing
import Transport

@testable import Cameras

/// Playlists that name other hosts. The camera is at 127.0.0.1; `127.1` is the same address by another name.
@Suite(.timeLimit(.minutes(10))) struct PlaylistHostTests {
    private static let credentials = RTSPCredentials(user: "admin", password: "pass-word")
    private static let unauthorized = PictureServer.Answer(
        "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"cam\"\r\nContent-Length: 0\r\n\r\n")

    /// The port that a request was sent to.
    private static func port(_ head: String) -> String {
        let line = head.split(whereSeparator: \.isNewline).first { $0.hasPrefix("Host: ") }
        return String(line?.split(separator: ":").last ?? "")
    }

    @Test func `Segments, keys and playlists of another host are fetched without the camera's password`() throws {
        // NIST SP 800-38A, F.2.1, as in SegmentCipherTests.
        let key: [UInt8] = [
            0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c,
        ]
        let encrypted: [UInt8] = [
            0x76, 0x49, 0xab, 0xac, 0x81, 0x19, 0xb2, 0x46, 0xce, 0xe9, 0x8e, 0x9b, 0x12, 0xe9, 0x19, 0x7d,
            0x50, 0x86, 0xcb, 0x9b, 0x50, 0x72, 0x19, 0xee, 0x95, 0xdb, 0x11, 0x3a, 0x91, 0x76, 0x78, 0xb2,
            0x55, 0xe2, 0x1d, 0x71, 0x00, 0xb9, 0x88, 0xff, 0xec, 0x32, 0xfe, 0xea, 0xfa, 0xf2, 0x35, 0x38,
        ]
        let (stream, _) = PlaylistRun.pictures(2)
        let server = try PictureServer { head, _ in
            let isAtHome = head.contains("\r\nHost: 127.0.0.1:")
            if isAtHome, !head.contains("Authorization: Basic ") { return Self.unauthorized }
            let port = Self.port(head)
            switch PictureServer.path(head) {
            case "/live.m3u8":
                return PlaylistRun.ok("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nhttp://127.1:\(port)/cdn/media.m3u8\n")
            case "/cdn/media.m3u8":
                return PlaylistRun.ok(
                    PlaylistRun.recording([
                        "#EXTINF:1,", "one.ts", "#EXTINF:1,", "http://admin:other@127.1:\(port)/two.ts",
                        "#EXT-X-KEY:METHOD=AES-128,URI=\"http://127.0.1:\(port)/key\",IV=0x000102030405060708090a0b0c0d0e0f",
                        "#EXTINF:1,", "/three.ts",
                    ]))
            case "/key": return PlaylistRun.ok(key)
            case "/three.ts": return PlaylistRun.ok(encrypted)
            default: return PlaylistRun.ok(stream)
            }
        }
        defer { server.stop() }
        let fetched = try PlaylistRun(server, credentials: Self.credentials).finish()
        #expect(fetched.end == .stream(.ended) && fetched.tracks.count == 1 && fetched.pictures.count == 4)
        #expect(
            server.paths == [
                "/live.m3u8", "/live.m3u8", "/cdn/media.m3u8", "/cdn/one.ts", "/two.ts", "/key", "/three.ts",
            ])
        let elsewhere = server.heard.withLock { $0.filter { !$0.contains("\r\nHost: 127.0.0.1:") } }
        #expect(elsewhere.count == 5)
        #expect(elsewhere.allSatisfy { !$0.contains("Authorization") && !$0.contains("other") })
    }

    /// A reference that must not be requested, why, and what names it.
    static let attacks: [(String, StreamFailure.Refusal, String)] = {
        let references: [(String, StreamFailure.Refusal)] = [
            ("file:///etc/passwd", .notHTTP), ("http://169.254.169.254/latest", .network),
            ("//169.254.169.254/latest", .network), ("http://0xa9fea9fe/latest", .network),
            ("http://2852039166/latest", .network), ("http://u:pass-word@239.1.2.3/x", .network),
            ("http://255.255.255.255/x", .network), ("http://127.1:22/x", .port), ("gopher://127.1:70/x", .notHTTP),
        ]
        return ["segment", "key", "map", "playlist", "sound", "redirection"].flatMap { kind in
            references.map { ($0.0, $0.1, kind) }
        }
    }()

    @Test(arguments: PlaylistHostTests.attacks)
    func `Nothing in a playlist leads where it must not`(
        reference: String, expected: StreamFailure.Refusal, kind: String
    ) throws {
        let server = try PictureServer { head, _ in
            guard PictureServer.path(head) == "/live.m3u8" else { return PlaylistRun.ok("#EXTM3U\n") }
            switch kind {
            case "segment": return PlaylistRun.ok(PlaylistRun.recording(["#EXTINF:1,", reference]))
            case "key":
                let tag = "#EXT-X-KEY:METHOD=AES-128,URI=\"\(reference)\""
                return PlaylistRun.ok(PlaylistRun.recording([tag, "#EXTINF:1,", "a.ts"]))
            case "map":
                return PlaylistRun.ok(
                    PlaylistRun.recording(["#EXT-X-MAP:URI=\"\(reference)\"", "#EXTINF:1,", "a.ts"]))
            case "playlist": return PlaylistRun.ok("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n\(reference)\n")
            case "sound":
                return PlaylistRun.ok(
                    "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",URI=\"\(reference)\"\n"
                        + "#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO=\"a\"\nvideo.m3u8\n")
            default: return PictureServer.Answer("HTTP/1.1 302 Moved\r\nLocation: \(reference)\r\n\r\n")
            }
        }
        defer { server.stop() }
        let fetched = try PlaylistRun(server).finish()
        let failure = try #require(fetched.end)
        if kind == "redirection", expected == .notHTTP {
            #expect(failure == .pictures(.redirected(to: reference)))
        } else if case .stream(.leadsElsewhere(address: _, let refusal)) = failure {
            #expect(refusal == expected)
        } else {
            Issue.record("\(failure.words)")
        }
        #expect(!failure.words.contains("pass-word"))
        #expect(Set(server.paths).isSubset(of: ["/live.m3u8", "/video.m3u8"]))
    }

    @Test(arguments: ["localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0"])
    func `A host name of this machine is refused to everybody else, whatever it looks like`(host: String) throws {
        let server = try PictureServer { _, _ in PlaylistRun.ok("secret") }
        defer { server.stop() }
        let run = try PlaylistRun(server)
        for reach in [[], .privateNetworks, [.privateNetworks, .linkLocal, .thisMachine]] as [AddressReach] {
            let address = HTTPAddress(host: host, port: server.port, path: "/x")
            let failure = run.failure(of: RequestPlace(address, reach: reach, isAtHome: false))
            #expect(failure == .stream(.leadsElsewhere(address: "http://\(host):\(server.port)/x", .network)))
        }
        #expect(server.paths.isEmpty)
        let address = HTTPAddress(host: "127.1", port: server.port, path: "/x")
        #expect(run.failure(of: RequestPlace(address, reach: .loopback, isAtHome: false)) == nil)
    }

    @Test(arguments: [
        "http://10.0.0.1/x", "http://192.168.1.1:8080/x", "//172.16.0.1/x", "http://169.254.169.254/x",
        "http://[fd00::1]/x",
    ])
    func `A redirection from the segment's host back to the home is refused`(location: String) throws {
        let server = try PictureServer { _, _ in
            PictureServer.Answer("HTTP/1.1 302 Moved\r\nLocation: \(location)\r\n\r\n")
        }
        defer { server.stop() }
        let address = HTTPAddress(host: "127.1", port: server.port, path: "/x")
        // A public server is not within reach of a test. This one is on the loopback interface, and may lead nowhere else.
        let failure = try PlaylistRun(server).failure(of: RequestPlace(address, reach: .loopback, isAtHome: false))
        guard case .stream(.leadsElsewhere(address: _, .network))? = failure else {
            Issue.record("\(failure?.words ?? "it was followed")")
            return
        }
        #expect(server.paths == ["/x"])
    }

    @Test func `Who comes back to the camera from another host is not shown the password`() throws {
        let server = try PictureServer { head, _ in
            let port = Self.port(head)
            let isAtHome = head.contains("\r\nHost: 127.0.0.1:")
            if isAtHome, !head.contains("Authorization: Basic ") { return Self.unauthorized }
            guard PictureServer.path(head) == "/live.m3u8" else {
                return PictureServer.Answer(
                    "HTTP/1.1 302 Moved\r\nLocation: http://127.0.0.1:\(port)/cgi-bin/reboot\r\n\r\n")
            }
            return PlaylistRun.ok(PlaylistRun.recording(["#EXTINF:1,", "http://127.1:\(port)/a.ts"]))
        }
        defer { server.stop() }
        let end = try PlaylistRun(server, credentials: Self.credentials).finish().end
        #expect(
            end == .stream(.refusedElsewhere(address: "http://127.0.0.1:\(server.port)/cgi-bin/reboot", status: 401)))
        let asked = server.heard.withLock { $0.filter { $0.contains("reboot") } }
        #expect(asked.count == 1 && asked.allSatisfy { !$0.contains("Authorization") })
    }

    @Test func `Another port that a playlist names and that asks for a password is said with its address`() throws {
        let other = try PictureServer { _, _ in Self.unauthorized }
        defer { other.stop() }
        let port = other.port
        let server = try PictureServer { head, _ in
            guard head.contains("Authorization: Basic ") else { return Self.unauthorized }
            return PlaylistRun.ok(PlaylistRun.recording(["#EXTINF:1,", "http://127.0.0.1:\(port)/a.ts?secret"]))
        }
        defer { server.stop() }
        let end = try PlaylistRun(server, credentials: Self.credentials).finish().end
        #expect(end == .stream(.refusedElsewhere(address: "http://127.0.0.1:\(port)/a.ts", status: 401)))
        let heard = other.heard.withLock { $0 }
        #expect(!heard.isEmpty && heard.allSatisfy { !$0.contains("Authorization") })
    }

    @Test func `A playlist of a thousand hosts reaches a few of them`() throws {
        let (stream, _) = PlaylistRun.pictures(1)
        let server = try PictureServer { head, _ in
            guard PictureServer.path(head) == "/live.m3u8" else { return PlaylistRun.ok(stream) }
            let port = Self.port(head)
            // The same address in a thousand spellings.
            let hosts = (1...1_000).map { "127.0.0.\(String(repeating: "0", count: $0))1" }
            let lines = hosts.flatMap { ["#EXTINF:1,", "http://\($0):\(port)/a.ts"] }
            return PlaylistRun.ok(PlaylistRun.recording(lines))
        }
        defer { server.stop() }
        let end = try PlaylistRun(server).finish().end
        guard case .stream(.leadsElsewhere(address: _, .manyHosts))? = end else {
            Issue.record("\(end?.words ?? "it goes on")")
            return
        }
        #expect(server.paths.count == 1 + HostAllowance.maximum)
    }

    @Test func `Redirections from host to host end`() throws {
        let server = try PictureServer { head, number in
            let host = "127.0.0.\(String(repeating: "0", count: number))1"
            return PictureServer.Answer(
                "HTTP/1.1 302 Moved\r\nLocation: http://\(host):\(Self.port(head))/x?secret\r\n\r\n")
        }
        defer { server.stop() }
        let end = try PlaylistRun(server).finish().end
        #expect(end == .redirectionCircle)
        #expect(server.paths.count == 4)
    }

    @Test func `The status of another host is said with its address`() throws {
        let server = try PictureServer { head, _ in
            guard PictureServer.path(head) == "/live.m3u8" else {
                return PictureServer.Answer("HTTP/1.1 403 No\r\n\r\n")
            }
            return PlaylistRun.ok(
                PlaylistRun.recording(["#EXTINF:1,", "http://127.1:\(Self.port(head))/a.ts?secret"]))
        }
        defer { server.stop() }
        let end = try PlaylistRun(server).finish().end
        #expect(end == .stream(.refusedElsewhere(address: "http://127.1:\(server.port)/a.ts", status: 403)))
        #expect(end?.kind == .refusedElsewhere)
    }
}
