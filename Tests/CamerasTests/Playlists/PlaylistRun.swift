import DatagramPort
import HTTPMedia
import PacketFakes
import RTSP
import StreamFormats
import Testing
import Transport

@testable import Cameras

/// Fetches the playlist `/live.m3u8` of a server on the loopback interface.
struct PlaylistRun {
    let fetcher: PlaylistFetcher
    let owner: SourceControl
    let home: HTTPAddress
    private let credentials: RTSPCredentials?

    init(_ server: PictureServer, credentials: RTSPCredentials? = nil) throws {
        owner = try #require(SourceControl())
        fetcher = try #require(PlaylistFetcher(owner: owner))
        home = HTTPAddress(host: "127.0.0.1", port: server.port, path: "/live.m3u8")
        self.credentials = credentials
    }

    var client: CameraHTTPClient {
        var client = CameraHTTPClient(
            home: home, credentials: credentials, connectTimeout: .seconds(5),
            findings: SourceFindings(profile: CameraProfile(), profileChanged: nil), control: fetcher.control)
        client.followsToOtherHosts = true
        return client
    }

    /// Fetches until the playlist has ended, or something has failed.
    func finish() -> PlaylistFetcher.Fetched {
        fetcher.run(client, at: home, random: .system)
        return fetcher.fetched.withLock { $0 }
    }

    /// The outcome of a single request.
    func failure(of place: RequestPlace) -> CameraFailure? {
        var (client, random) = (client, RandomSource.system)
        let deadline = MonotonicClock.now + .seconds(120)
        guard case .failed(let reason) = client.request(place, until: deadline, random: &random, connecting: {})
        else { return nil }
        return reason
    }

    static func ok(_ text: String) -> PictureServer.Answer { ok(Array(text.utf8)) }

    static func ok(_ content: [UInt8]) -> PictureServer.Answer {
        PictureServer.Answer("HTTP/1.1 200 OK\r\nContent-Length: \(content.count)\r\n\r\n", [content])
    }

    /// A finished playlist with these lines.
    static func recording(_ lines: [String]) -> String {
        (["#EXTM3U", "#EXT-X-TARGETDURATION:1"] + lines + ["#EXT-X-ENDLIST", ""]).joined(separator: "\n")
    }

    /// A transport stream of pictures that end with their number, and where in it each of them is.
    static func pictures(_ count: Int, length: Int = 400) -> (bytes: [UInt8], places: [Range<Int>]) {
        var stream = TransportStreamBytes([.init(identifier: 256, type: 0x1B)])
        var places: [Range<Int>] = []
        for index in 0..<count {
            let begin = places.last?.upperBound ?? 0
            let picture = [0, 0, 0, 1, 0x65, 0x88] + [UInt8](repeating: UInt8(index + 1), count: length)
            stream.unit(picture, of: 256, presentation: Int64(index) * 9000)
            places.append(begin..<stream.bytes.count)
        }
        return (stream.bytes, places)
    }
}

extension PlaylistFetcher.Fetched {
    /// The numbers of the pictures that have been fetched.
    var pictures: [Int] {
        var copy = self
        var found: [Int] = []
        var now = Instant.zero + .seconds(1)
        for _ in 0..<10_000 {
            if let entry = copy.paced.next(at: now) {
                found.append(Int(entry.unit.bytes.last ?? 0))
            } else if let due = copy.paced.nextDue {
                now = due
            } else {
                break
            }
        }
        return found
    }
}

extension PictureServer {
    /// The path that a head requests.
    static func path(_ head: String) -> String { String(head.split(separator: " ").dropFirst().first ?? "") }

    /// The paths of all requests.
    var paths: [String] { heard.withLock { $0.map(Self.path) } }
}
