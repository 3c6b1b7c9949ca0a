import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import Gateway

/// The pipeline from bytes to requests, in virtual time, with responses that the test writes when it wants.
@Suite struct RequestPipelineTests {
    /// A connection with the gateway's handlers, and on top one that notes what an application would see.
    final class Connection {
        let channel = EmbeddedChannel()
        let application = Application()
        let reads = ReadCounter()

        init(from address: String = "192.0.2.1", turns: RequestTurns = RequestTurns()) throws {
            let remote = try SocketAddress(ipAddress: address, port: 40_000)
            self.channel.remoteAddress = remote
            try self.channel.pipeline.syncOperations.addHandler(self.reads)
            try GatewayHTTPChannel.addHandlers(to: self.channel, turns: turns)
            try self.channel.pipeline.syncOperations.addHandler(self.application)
            self.channel.connect(to: remote, promise: nil)
            self.channel.embeddedEventLoop.run()
        }

        func receive(_ text: String) throws {
            try channel.writeInbound(ByteBuffer(string: text))
            channel.embeddedEventLoop.run()
        }

        func respond(_ status: HTTPResponseStatus = .ok, body: String = "x", flush: Bool = true) {
            let head = HTTPResponseHead(
                version: .http1_1, status: status, headers: ["content-length": "\(body.utf8.count)"])
            channel.write(HTTPServerResponsePart.head(head), promise: nil)
            channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: body))), promise: nil)
            channel.write(HTTPServerResponsePart.end(nil), promise: nil)
            if flush { channel.flush() }
            channel.embeddedEventLoop.run()
        }

        /// What the client has been sent since the last call.
        func sent() throws -> String {
            var text = ""
            while let part = try channel.readOutbound(as: IOData.self) {
                if case .byteBuffer(let bytes) = part { text += String(buffer: bytes) }
            }
            return text
        }

        var hasClosedByNow: Bool {
            channel.embeddedEventLoop.advanceTime(by: RequestGate.lingerTime)
            return !channel.isActive
        }

        deinit { _ = try? channel.finish(acceptAlreadyClosed: true) }
    }

    final class Application: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart

        var heads: [HTTPRequestHead] = []
        var body = ""
        var ends = 0
        var errors: [any Error] = []

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): heads.append(head)
            case .body(let bytes): body += String(buffer: bytes)
            case .end: ends += 1
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { errors.append(error) }
    }

    /// Counts the reads that reach the socket.
    final class ReadCounter: ChannelOutboundHandler {
        typealias OutboundIn = IOData
        var count = 0

        func read(context: ChannelHandlerContext) {
            count += 1
            context.read()
        }
    }

    static let get = "GET / HTTP/1.1\r\nHost: door\r\n\r\n"

    @Test func `an answer to HEAD ends with its headers, and the next request comes`() throws {
        let connection = try Connection()
        let kinds: [HTTPHeaders] = [["content-length": "9"], [:]]
        for headers in kinds {
            try connection.receive("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n")
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
            connection.channel.write(HTTPServerResponsePart.head(head), promise: nil)
            connection.channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: "x"))), promise: nil)
            connection.channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
            connection.channel.embeddedEventLoop.run()
            let parts = try connection.sent().components(separatedBy: "\r\n\r\n")
            #expect(parts.count == 2 && parts.last?.isEmpty == true, "\(parts)")
        }
        try connection.receive("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        connection.respond(body: "next")
        let sent = try connection.sent()
        #expect(sent.hasSuffix("next"))
        #expect(connection.application.heads.count == 3)
    }

    @Test func theNextRequestIsParsedWhenTheResponseHasBeenAccepted() throws {
        let connection = try Connection()
        try connection.receive(String(repeating: Self.get, count: 500))
        #expect(connection.application.heads.count == 1)
        let reads = connection.reads.count
        connection.channel.read()
        connection.respond(flush: false)
        #expect(connection.application.heads.count == 1)
        #expect(connection.reads.count == reads)
        connection.channel.flush()
        connection.channel.embeddedEventLoop.run()
        #expect(connection.application.heads.count == 2)
        for number in 2...500 {
            #expect(connection.application.heads.count == number)
            connection.respond()
        }
        #expect(connection.application.ends == 500)
        // The socket is read again now that nothing waits.
        #expect(connection.reads.count > reads)
        #expect(connection.channel.isActive)
    }

    @Test func nothingIsReadWhileAResponseIsPending() throws {
        let connection = try Connection()
        try connection.receive(Self.get)
        let reads = connection.reads.count
        for _ in 0..<5 { connection.channel.read() }
        #expect(connection.reads.count == reads)
        connection.respond()
        #expect(connection.reads.count == reads + 1)
    }

    @Test func bodiesOfBothFramingsEndInTheRightPlace() throws {
        let requests = [
            "POST / HTTP/1.1\r\nHost: d\r\nContent-Length: 7\r\n\r\nab\ncd\nf",
            "POST / HTTP/1.1\r\nHost: d\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab\n\r\n4;x=y\r\ncd\nf\r\n0\r\nT: v\r\n\r\n",
        ]
        for request in requests {
            // Whole, and a byte at a time.
            for size in [request.utf8.count * 2, 1] {
                let connection = try Connection()
                let all = Array((request + request).utf8)
                for start in stride(from: 0, to: all.count, by: size) {
                    try connection.receive(String(decoding: all[start..<min(start + size, all.count)], as: UTF8.self))
                }
                #expect(connection.application.ends == 1)
                #expect(connection.application.body == "ab\ncd\nf")
                connection.respond()
                #expect(connection.application.ends == 2)
                #expect(connection.application.body == "ab\ncd\nfab\ncd\nf")
                connection.respond()
                #expect(connection.application.errors.isEmpty && connection.channel.isActive)
            }
        }
    }

    @Test func aClientThatSendsOnAndOnWithoutReadingIsClosed() throws {
        let connection = try Connection()
        try connection.receive(Self.get)
        let burst = String(repeating: Self.get, count: 16 * 1024 / Self.get.utf8.count)
        for _ in 0..<5 where connection.channel.isActive { try connection.receive(burst) }
        #expect(!connection.channel.isActive)
        #expect(connection.application.heads.count == 1)
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", 400, "Host is missing"),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "2 Host headers"),
        ("GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", 400, "2 Host headers"),
        ("GET / HTTP/1.1\r\nHost: \r\n\r\n", 400, "Host is not"),
        ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400, "Host is not"),
        ("GET / HTTP/1.1\r\nHost: a@b/c\r\n\r\n", 400, "Host is not"),
        ("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400, "2 Host headers"),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "size of a chunk"),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400, "size of a chunk"),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n", 400, "chunk"),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc", 400, ""),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", 400, "Content-Length"),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400, ""),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n", 400, ""),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501, "chunked"),
        ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "HTTP/1.0"),
        ("PUT / HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\nContent-Length: 3\r\n\r\n", 417, "100-continue"),
        ("GET /\(String(repeating: "a", count: 9_000)) HTTP/1.1\r\nHost: a\r\n\r\n", 414, "8192"),
        ("GET /\(String(repeating: "a", count: 20_000))", 414, "8192"),
        ("GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 20_000))", 431, "16384"),
        ("GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "X: y\r\n", count: 101))\r\n", 431, "too many"),
        ("GET / HTTP/9.9\r\nHost: a\r\n\r\n", 505, "HTTP/1.1"), ("SHOUT / HTTP/1.1\r\nHost: a\r\n\r\n", 400, ""),
        ("\u{16}\u{3}\u{1}\u{2}\u{0}\n", 400, ""), ("GET / HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n", 400, ""),
        ("GET / HTTP/1.1\r\nHost: a\r\n folded: y\r\n\r\n", 400, ""),
    ])
    func anImproperRequestIsRefusedAndTheConnectionCloses(bytes: String, status: Int, message: String) throws {
        let connection = try Connection()
        // A client that is refused keeps sending.
        try connection.receive(bytes + Self.get)
        let answer = try connection.sent()
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
        #expect(answer.contains("connection: close"))
        #expect(message.isEmpty || answer.contains(message), "\(answer)")
        #expect(answer.contains(#"{"error":{"code":3"#), "\(answer)")
        #expect(answer.split(separator: "\r\n").count { $0.hasPrefix("HTTP/1.1 ") } == 1, "one answer: \(answer)")
        #expect(connection.application.ends == 0)
        #expect(connection.hasClosedByNow)
    }

    @Test func theBeginningOfABrokenBodyIsNotMistakenForTheWhole() throws {
        let connection = try Connection()
        try connection.receive("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n")
        #expect(connection.application.body == "abc" && connection.application.ends == 0)
        #expect(connection.application.errors.contains { $0 is RequestBrokenOff })
        // What the application answers then is not sent as a second answer.
        _ = try connection.sent()
        connection.respond(.internalServerError)
        #expect(try connection.sent() == "")
    }

    @Test func aHalfRequestBeforeTheEndOfTheInputIsRefused() throws {
        let connection = try Connection()
        try connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc")
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(try connection.sent().hasPrefix("HTTP/1.1 400 "))
        #expect(connection.application.errors.contains { $0 is RequestBrokenOff })
    }

    @Test func aPipelineThatEndsIsAnsweredToItsEnd() throws {
        let connection = try Connection()
        try connection.receive(Self.get + Self.get)
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        connection.respond()
        connection.respond()
        #expect(connection.application.ends == 2 && connection.application.errors.isEmpty)
    }

    @Test func aBodyIsRequestedWhenItIsNeeded() throws {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 3\r\n\r\n"
        let connection = try Connection()
        try connection.receive(head)
        #expect(try connection.sent() == "")
        connection.channel.triggerUserOutboundEvent(ContinueRequest(), promise: nil)
        #expect(try connection.sent() == "HTTP/1.1 100 Continue\r\n\r\n")
        try connection.receive("abc")
        connection.respond()
        #expect(try connection.sent().hasPrefix("HTTP/1.1 200 OK"))
        #expect(connection.application.body == "abc")
        // The connection serves more, and asks no client that does not wait.
        try connection.receive("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n")
        connection.channel.triggerUserOutboundEvent(ContinueRequest(), promise: nil)
        #expect(try connection.sent() == "")
    }

    @Test func aRefusalBeforeTheBodyClosesTheConnection() throws {
        let connection = try Connection()
        try connection.receive("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 30\r\n\r\n")
        connection.respond(.payloadTooLarge)
        let answer = try connection.sent()
        #expect(answer.hasPrefix("HTTP/1.1 413 ") && answer.contains("connection: close"))
        // The intended body is not a request.
        try connection.receive(Self.get)
        #expect(connection.application.heads.count == 1)
        #expect(connection.hasClosedByNow)
    }

    @Test func olderClientsGetWhatTheyUnderstand() throws {
        let connection = try Connection()
        try connection.receive("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        connection.respond()
        let kept = try connection.sent()
        #expect(kept.hasPrefix("HTTP/1.0 200 ") && kept.contains("connection: keep-alive"))
        try connection.receive("GET / HTTP/1.0\r\n\r\n")
        // A body without a length ends with the connection.
        let head = HTTPResponseHead(version: .http1_1, status: .ok)
        connection.channel.write(HTTPServerResponsePart.head(head), promise: nil)
        connection.channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: "y"))), promise: nil)
        connection.channel.writeAndFlush(HTTPServerResponsePart.end(nil), promise: nil)
        let last = try connection.sent()
        #expect(last.contains("connection: close") && !last.contains("chunked") && last.hasSuffix("\r\n\r\ny"))
        #expect(connection.hasClosedByNow)
    }

    @Test func whatWouldTurnIntoAnotherProtocolClosesAfterTheAnswer() throws {
        for request in ["GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"] {
            let connection = try Connection()
            try connection.receive(request)
            connection.respond()
            #expect(try connection.sent().contains("connection: close"))
            #expect(connection.hasClosedByNow)
        }
    }
}
