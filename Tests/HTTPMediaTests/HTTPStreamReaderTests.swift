import Testing

@testable import HTTPMedia

/// What reading an answer gives, cut into pieces of `size` bytes.
private func read(_ text: String, size: Int = 1000) throws -> (reader: HTTPStreamReader, body: String) {
    var reader = HTTPStreamReader()
    var body: [UInt8] = []
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
        try bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { piece in
            try reader.append(piece) { body += $0 }
        }
    }
    return (reader, String(decoding: body, as: UTF8.self))
}

@Suite struct HTTPStreamReaderTests {
    @Test(arguments: [1, 2, 3, 7, 1000])
    func `the content is the same however the bytes are cut`(size: Int) throws {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n"
        let (reader, body) = try read(chunked, size: size)
        #expect(body == "hello, world")
        #expect(reader.isComplete)
        let counted = try read("HTTP/1.0 200 OK\nContent-Length: 5\n\nhello, world", size: size)
        #expect(counted.body == "hello")
        #expect(counted.reader.isComplete)
    }

    @Test func `content without a length ends with the connection`() throws {
        var (reader, body) = try read(
            "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=x\r\n\r\nabc")
        #expect(body == "abc")
        #expect(!reader.isComplete)
        let isDone = reader.finish()
        #expect(isDone)
        #expect(reader.head?.contentType == "multipart/x-mixed-replace")
    }

    @Test func `a connection that ends inside a chunk completes nothing`() throws {
        var (reader, _) = try read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel")
        let isDone = reader.finish()
        #expect(!isDone)
    }

    @Test func `the final answer follows an interim one`() throws {
        let (reader, body) = try read(
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 401 No\r\nWWW-Authenticate: Basic\r\n\r\nx")
        #expect(reader.head?.status == 401)
        #expect(reader.head?.values(of: "www-authenticate") == ["Basic"])
        #expect(body == "x")
    }

    @Test func `interim answers without end are refused`() {
        let error = #expect(throws: HTTPStreamError.self) {
            try read(String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 10_000))
        }
        #expect(error == .tooLarge(what: "a head", limit: HTTPStreamReader.maximumHead))
    }

    @Test(arguments: [
        "RTSP/1.0 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n123456789\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab",
    ])
    func `an answer that breaks the rules is refused`(text: String) {
        #expect(throws: HTTPStreamError.self) { try read(text) }
    }

    @Test func `a head without end is refused before it fills memory`() {
        let error = #expect(throws: HTTPStreamError.self) {
            try read("HTTP/1.1 200 OK\r\n" + String(repeating: "X-Line: x\r\n", count: 10_000))
        }
        #expect(error == .tooLarge(what: "a head", limit: HTTPStreamReader.maximumHead))
    }

    @Test func `control characters in a header reach nobody`() throws {
        let (reader, _) = try read("HTTP/1.1 200 OK\r\nLocation: a\u{1B}[2Jb\r\n\r\n")
        #expect(reader.head?.value(of: "location") == "a [2Jb")
    }
}
