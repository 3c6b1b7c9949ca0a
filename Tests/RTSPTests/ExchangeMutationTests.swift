import Testing
import Transport

@testable import RTSP

/// A recorded exchange with bytes changed, lost and doubled, cut anywhere: the client may fail, and never traps, grows
/// or goes on for ever.
@Suite struct ExchangeMutationTests {
    private static let exchange: [UInt8] = {
        let description = "v=0\r\ns=x\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:track1\r\n"
        let texts = [
            "RTSP/1.0 401 Unauthorized\r\nCSeq: 1\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n\r\n",
            "RTSP/1.0 200 OK\r\nCSeq: 2\r\nPublic: OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER\r\n\r\n",
            "RTSP/1.0 200 OK\r\nCSeq: 3\r\nContent-Base: rtsp://cam/live/\r\nContent-Length: \(description.utf8.count)\r\n"
                + "\r\n\(description)",
            "RTSP/1.0 200 OK\r\nCSeq: 4\r\nSession: 77;timeout=60\r\nTransport: RTP/AVP/TCP;interleaved=0-1\r\n\r\n",
            "RTSP/1.0 200 OK\r\nCSeq: 5\r\nSession: 77\r\nRTP-Info: url=rtsp://cam/live/track1;seq=1;rtptime=2\r\n\r\n",
        ]
        return texts.flatMap { Array($0.utf8) } + RTSPStreamTests.packet + RTSPStreamTests.packet
    }()

    /// Feeds bytes in pieces; answers how many events came, or nil where the client failed.
    private func run(_ bytes: [UInt8], _ random: inout RandomSource) throws -> Int? {
        var client = RTSPClient(url: try RTSPURL(parsing: "rtsp://u:p@cam/live"), random: .seeded(1))
        client.start(at: .zero)
        var events = 0
        var offset = 0
        while offset < bytes.count {
            let size = min(bytes.count - offset, Int.random(in: 1...200, using: &random))
            client.receive { buffer in
                buffer.copyBytes(from: bytes[offset..<offset + size])
                return size
            }
            offset += size
            do {
                while let event = try client.pollEvent(at: .zero) {
                    events += 1
                    if case .described = event { client.setUp(["rtsp://cam/live/track1"], at: .zero) }
                    if events > bytes.count { return events }
                }
            } catch {
                return nil
            }
            client.write { $0.count }
        }
        return events
    }

    @Test func theExchangeItselfPlays() throws {
        var random = RandomSource.seeded(5)
        // The challenge, the description, the track, the beginning and two packets.
        #expect(try run(Self.exchange, &random) == 6)
    }

    @Test func mutatedExchangesNeverTrap() throws {
        var random = RandomSource.seeded(2326)
        var failures = 0
        for _ in 0..<3000 {
            var bytes = Self.exchange
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: at)
                case 2: bytes.insert(contentsOf: bytes[at..<min(bytes.count, at + 40)], at: at)
                case 3: bytes.removeSubrange(at..<min(bytes.count, at + 30))
                default:
                    bytes[at] = [0x0D, 0x0A, 0x24, 0x22, 0x2C, 0x3B, 0x3D, 0x39].randomElement(using: &random) ?? 0
                }
                if bytes.isEmpty { break }
            }
            let events = try run(bytes, &random)
            if let events { #expect(events <= bytes.count) } else { failures += 1 }
        }
        // Both happen, or the test would show nothing.
        #expect(failures > 50 && failures < 2950)
    }

    @Test func aTunnelOpensWithCredentialsAndRefusesTheRest() throws {
        var random = RandomSource.seeded(9)
        var tunnel = RTSPTunnel(url: try RTSPURL(parsing: "rtsp://u:p@cam/live?x=1"), random: &random)
        let get = String(decoding: tunnel.get(), as: UTF8.self)
        #expect(get.hasPrefix("GET /live?x=1 HTTP/1.0\r\n"))
        #expect(!get.contains("Authorization"))
        let challenge = Array(
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\"\r\n\r\n".utf8)
        for length in 0..<challenge.count {
            #expect(try tunnel.handle(Array(challenge[..<length]), random: &random) == .incomplete)
        }
        #expect(try tunnel.handle(challenge, random: &random) == .authenticate)
        let again = String(decoding: tunnel.get(), as: UTF8.self)
        #expect(again.contains("Authorization: Digest username=\"u\""))
        let post = String(decoding: tunnel.post(), as: UTF8.self)
        #expect(post.hasPrefix("POST /live?x=1 HTTP/1.0\r\n"))
        let cookie = { (text: String) in text.split(separator: "\r\n").first { $0.hasPrefix("x-sessioncookie: ") } }
        #expect(cookie(post) == cookie(get))
        let open = Array("HTTP/1.0 200 OK\r\nServer: x\r\n\r\nRTSP".utf8)
        #expect(try tunnel.handle(open, random: &random) == .open(headLength: open.count - 4))
        #expect(throws: RTSPError.self) { try tunnel.handle(challenge, random: &random) }
        for bad in ["HTTP/1.0 404 Not Found\r\n\r\n", "RTSP/1.0 200 OK\r\n\r\n", "\r\n\r\n", "HTTP/1.0 abc\r\n\r\n"] {
            #expect(throws: RTSPError.self) { try tunnel.handle(Array(bad.utf8), random: &random) }
        }
        #expect(throws: RTSPError.self) {
            try tunnel.handle([UInt8](repeating: 0x41, count: 20_000), random: &random)
        }
    }
}
