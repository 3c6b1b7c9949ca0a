import Testing
import Transport

@testable import HTTPMedia

@Suite struct HTTPResponseReaderTests {
    /// Reads an answer in pieces of this many bytes, and then ends the connection.
    func read(_ text: String, piece: Int = 7) throws(HTTPStreamError) -> HTTPResponse {
        var reader = HTTPResponseReader()
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            if let response = try reader.append(rest.prefix(piece)) { return response }
            rest = rest.dropFirst(piece)
        }
        return try reader.finish()
    }

    @Test(arguments: [1, 2, 7, 1000]) func everyFramingIsRead(piece: Int) throws {
        let body = Array("<a>hello</a>".utf8)
        let answers = [
            "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n<a>hello</a>",
            "HTTP/1.1 200 OK\nContent-Length: 12\n\n<a>hello</a>",
            "HTTP/1.1 200\r\n\r\n<a>hello</a>",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n<a>hello</a>",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\n<a>he\r\n7\r\nllo</a>\r\n0\r\n\r\n",
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nC\n<a>hello</a>\n0\n",
            // The length of what a proxy has unpacked, for example. However the bytes are split, it does not count.
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 99999999\r\n\r\nC\n<a>hello</a>\n0\n",
        ]
        for answer in answers {
            let response = try read(answer, piece: piece)
            #expect(response.status == 200, "\(answer)")
            #expect(response.body == body, "\(answer)")
        }
    }

    @Test func challengesAreKept() throws {
        let response = try read(
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Digest realm=\"a\", nonce=\"b\"\r\n"
                + "www-authenticate: Basic realm=\"a\"\r\nContent-Length: 0\r\n\r\n")
        #expect(response.challenges == ["Digest realm=\"a\", nonce=\"b\"", "Basic realm=\"a\""])
    }

    @Test func hostileAnswersEndInErrors() {
        let answers = [
            "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "RTSP/1.0 200 OK\r\n\r\n",
            "HTTP/1.1 20x OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFFFF\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n",
            "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 20_000),
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1" + String(repeating: " ", count: 5000),
            String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 1000),
        ]
        for answer in answers {
            #expect(throws: HTTPStreamError.self, "\(answer.prefix(60))") { try read(answer, piece: 1000) }
        }
    }

    @Test func mutatedAnswersNeverTrap() {
        var random = RandomSource.seeded(11)
        let corpus = [
            "HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\"a\"\r\nContent-Length: 12\r\n\r\n<a>hello</a>",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\n<a>he\r\n7\r\nllo</a>\r\n0\r\n\r\n",
        ]
        for round in 0..<4000 {
            var bytes = Array(corpus[round % 2].utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                if Bool.random(using: &random) {
                    bytes[position] = UInt8.random(in: .min ... .max, using: &random)
                } else {
                    bytes.remove(at: position)
                }
            }
            _ = try? read(String(decoding: bytes, as: UTF8.self), piece: 1 + round % 30)
        }
    }
}
