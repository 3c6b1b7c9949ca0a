import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOWebSocket
import Testing

@testable import Gateway

/// A connection that becomes a WebSocket, in virtual time.
@Suite struct WebSocketTests {
    typealias Connection = RequestPipelineTests.Connection

    static let handshake =
        "GET /live HTTP/1.1\r\nHost: door\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

    /// A connection whose request has been answered with 101.
    private func upgraded(
        limits: WebSocketLimits = WebSocketLimits()
    ) throws -> (connection: Connection, socket: WebSocketConnection, handler: WebSocketHandler) {
        let connection = try Connection()
        try connection.receive(Self.handshake)
        let socket = WebSocketConnection(connection.channel.eventLoop, limits: limits)
        connection.channel.triggerUserOutboundEvent(WebSocketRequest(connection: socket), promise: nil)
        let head = HTTPResponseHead(
            version: .http1_1, status: .switchingProtocols,
            headers: ["upgrade": "websocket", "connection": "Upgrade"])
        connection.channel.write(HTTPServerResponsePart.head(head), promise: nil)
        connection.channel.flush()
        connection.channel.embeddedEventLoop.run()
        #expect(try connection.sent().hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        let handler = try connection.channel.pipeline.syncOperations.handler(type: WebSocketHandler.self)
        return (connection, socket, handler)
    }

    /// A frame of a client, with a mask of zeros unless it has none.
    private func frame(
        _ opcode: UInt8, _ payload: [UInt8] = [], isLast: Bool = true, isMasked: Bool = true
    ) -> ByteBuffer {
        var bytes = ByteBuffer(bytes: [(isLast ? 0x80 : 0) | opcode])
        let mask: UInt8 = isMasked ? 0x80 : 0
        if payload.count < 126 {
            bytes.writeBytes([mask | UInt8(payload.count)])
        } else {
            bytes.writeBytes([mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)])
        }
        if isMasked { bytes.writeBytes([0, 0, 0, 0]) }
        bytes.writeBytes(payload)
        return bytes
    }

    private func deliver(_ bytes: ByteBuffer, to connection: Connection) throws {
        try connection.channel.writeInbound(bytes)
        connection.channel.embeddedEventLoop.run()
    }

    private func sentBytes(_ connection: Connection) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let part = try connection.channel.readOutbound(as: IOData.self) {
            if case .byteBuffer(let buffer) = part { bytes += Array(buffer.readableBytesView) }
        }
        return bytes
    }

    private func next(_ handler: WebSocketHandler, _ connection: Connection) throws -> WebSocketConnection.Message? {
        let future = handler.next()
        connection.channel.embeddedEventLoop.run()
        return try future.wait()
    }

    /// RFC 6455, section 1.3.
    @Test func `the answer to a key is the one of the standard`() {
        #expect(WebSocketHandshake.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test func `lists in headers are read as lists`() {
        #expect(WebSocketHandshake.tokens(["keep-alive, Upgrade", "x"]) == ["keep-alive", "Upgrade", "x"])
        #expect(WebSocketHandshake.tokens([" , ,"]) == [])
    }

    @Test func `a message in pieces comes as one, with control frames between them`() throws {
        let (connection, _, handler) = try upgraded()
        try deliver(frame(1, Array("one ".utf8), isLast: false), to: connection)
        try deliver(frame(9, [7]), to: connection)
        #expect(try sentBytes(connection) == [0x8A, 1, 7])
        try deliver(frame(0, Array("mess".utf8), isLast: false), to: connection)
        try deliver(frame(0, Array("age".utf8)), to: connection)
        try deliver(frame(2, [1, 2, 3]), to: connection)
        #expect(try next(handler, connection) == .text("one message"))
        #expect(try next(handler, connection) == .binary(ByteBuffer(bytes: [1, 2, 3])))
    }

    @Test func `what is sent is not masked`() throws {
        let (connection, _, handler) = try upgraded()
        let written = handler.send(.text("hi"))
        connection.channel.embeddedEventLoop.run()
        try written.wait()
        #expect(try sentBytes(connection) == [0x81, 2] + Array("hi".utf8))
    }

    @Test(arguments: [
        (opcode: UInt8(1), payload: Array("x".utf8), isMasked: false, code: UInt16(1002)),
        (opcode: 0, payload: [], isMasked: true, code: 1002),
        (opcode: 1, payload: [0xFF, 0xFE], isMasked: true, code: 1007),
        (opcode: 1, payload: [UInt8](repeating: 0x61, count: 2_000), isMasked: true, code: 1009),
        (opcode: 3, payload: [], isMasked: true, code: 1002),
    ])
    func `a client that breaks the rules is told and cut off`(
        opcode: UInt8, payload: [UInt8], isMasked: Bool, code: UInt16
    ) throws {
        let (connection, _, handler) = try upgraded(limits: WebSocketLimits(longestMessage: 1_000))
        try deliver(frame(opcode, payload, isMasked: isMasked), to: connection)
        let sent = try sentBytes(connection)
        #expect(sent.first == 0x88 && sent.count >= 4 && UInt16(sent[2]) << 8 | UInt16(sent[3]) == code)
        #expect(try next(handler, connection) == nil)
        connection.channel.embeddedEventLoop.advanceTime(by: WebSocketHandler.closingTime)
        #expect(!connection.channel.isActive)
    }

    @Test func `pieces may not add up to more than a message may have`() throws {
        let (connection, _, _) = try upgraded(limits: WebSocketLimits(longestMessage: 1_000))
        for number in 0..<11 {
            try deliver(
                frame(number == 0 ? 1 : 0, [UInt8](repeating: 0x61, count: 100), isLast: false), to: connection)
        }
        #expect(try sentBytes(connection).dropFirst(2).prefix(2) == [0x03, 0xF1])
    }

    @Test func `a close of the client is answered`() throws {
        let (connection, _, handler) = try upgraded()
        try deliver(frame(8, [0x03, 0xE8]), to: connection)
        #expect(try sentBytes(connection).prefix(4) == [0x88, 2, 0x03, 0xE8])
        #expect(try next(handler, connection) == nil)
        #expect(!connection.channel.isActive)
    }

    @Test func `a client that answers no ping is gone`() throws {
        let (connection, _, _) = try upgraded()
        let interval = WebSocketLimits().pingInterval
        for _ in 0..<2 {
            connection.channel.embeddedEventLoop.advanceTime(by: interval)
            #expect(try sentBytes(connection) == [0x89, 0])
        }
        connection.channel.embeddedEventLoop.advanceTime(by: interval)
        #expect(!connection.channel.isActive)
    }

    @Test func `a client that answers pings stays`() throws {
        let (connection, _, _) = try upgraded()
        for _ in 0..<10 {
            connection.channel.embeddedEventLoop.advanceTime(by: WebSocketLimits().pingInterval)
            try deliver(frame(10), to: connection)
        }
        #expect(connection.channel.isActive)
    }

    @Test func `nothing is read while a message waits`() throws {
        let (connection, _, handler) = try upgraded()
        try deliver(frame(1, Array("a".utf8)), to: connection)
        let reads = connection.reads.count
        connection.channel.read()
        connection.channel.pipeline.fireChannelReadComplete()
        #expect(connection.reads.count == reads)
        #expect(try next(handler, connection) == .text("a"))
        #expect(connection.reads.count == reads + 1)
    }

    @Test func `bytes that came with the request are frames`() throws {
        let connection = try Connection()
        var bytes = ByteBuffer(string: Self.handshake)
        bytes.writeImmutableBuffer(frame(1, Array("early".utf8)))
        try connection.channel.writeInbound(bytes)
        let socket = WebSocketConnection(connection.channel.eventLoop, limits: WebSocketLimits())
        connection.channel.triggerUserOutboundEvent(WebSocketRequest(connection: socket), promise: nil)
        connection.channel.writeAndFlush(
            HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .switchingProtocols)), promise: nil)
        connection.channel.embeddedEventLoop.run()
        let handler = try connection.channel.pipeline.syncOperations.handler(type: WebSocketHandler.self)
        #expect(try next(handler, connection) == .text("early"))
    }

    @Test func `without a route that wants it, nothing is upgraded`() throws {
        let connection = try Connection()
        try connection.receive(Self.handshake)
        connection.channel.writeAndFlush(
            HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .switchingProtocols)), promise: nil)
        connection.channel.embeddedEventLoop.run()
        #expect(!connection.channel.isActive)
    }
}
