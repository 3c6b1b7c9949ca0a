import DatagramPort
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
import Transport

@testable import Gateway

/// Strangers wait for each other, and their hosts take turns.
@Suite struct RequestTurnsTests {
    typealias Connection = RequestPipelineTests.Connection

    static let request = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

    func address(_ number: Int) -> TransportAddress { TransportAddress(ipv4: 0xC000_0200 + UInt32(number), port: 0) }

    @Test func hostsTakeTurnsHoweverMuchOneBrings() {
        var queue = HostQueue<String>()
        for number in 0..<100 { queue.append("flood \(number)", of: address(1)) }
        for number in 0..<100 { queue.append("other flood \(number)", of: address(2)) }
        #expect(queue.popFirst() == "flood 0")
        queue.append("owner", of: address(3))
        let order = (0..<5).compactMap { _ in queue.popFirst() }
        // In turn, the fewest, in turn, ...
        #expect(order == ["other flood 0", "owner", "flood 1", "flood 2", "other flood 1"])
        while queue.popFirst() != nil {}
        #expect(queue.isEmpty)
    }

    /// Runs the event loops until nothing is left to do now.
    func run(_ connections: [Connection]) {
        for _ in 0..<2 { for connection in connections { connection.channel.embeddedEventLoop.run() } }
    }

    @Test func theOwnersFirstRequestDoesNotWaitForAFlood() throws {
        let turns = RequestTurns()
        let flood = try (0..<20).map { _ in try Connection(turns: turns) }
        for connection in flood { try connection.receive(Self.request + Self.request) }
        #expect(flood.count { $0.application.heads.count == 1 } == RequestTurns.atOnce)
        let owner = try Connection(from: "192.0.2.9", turns: turns)
        try owner.receive(Self.request)
        #expect(owner.application.heads.isEmpty)
        // They begin the next request of the flood each, and every second one is the owner's.
        for connection in flood.prefix(2) { connection.respond() }
        run(flood + [owner])
        #expect(owner.application.heads.count == 1 && owner.application.ends == 1)
        // From here on there is no turn to wait for.
        owner.channel.triggerUserOutboundEvent(SignedIn(), promise: nil)
        for _ in 0..<3 {
            owner.respond()
            let count = owner.application.heads.count
            try owner.receive(Self.request)
            #expect(owner.application.heads.count == count + 1)
        }
    }

    @Test func aTurnThatIsKeptTooLongOrWhoseConnectionClosedIsPassedOn() throws {
        let turns = RequestTurns()
        let first = try (0..<RequestTurns.atOnce).map { _ in try Connection(turns: turns) }
        for connection in first { try connection.receive("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n") }
        let gone = try Connection(from: "192.0.2.2", turns: turns)
        let next = try Connection(from: "192.0.2.3", turns: turns)
        let last = try Connection(from: "192.0.2.4", turns: turns)
        for connection in [gone, next, last] { try connection.receive(Self.request) }
        #expect([gone, next, last].allSatisfy { $0.application.heads.isEmpty })
        gone.channel.close(promise: nil)
        first[0].channel.embeddedEventLoop.advanceTime(by: RequestTurns.longest)
        run([gone, next, last])
        #expect(gone.application.heads.isEmpty && next.application.heads.count == 1 && last.application.heads.isEmpty)
        first[1].channel.close(promise: nil)
        run([gone, next, last])
        #expect(last.application.heads.count == 1)
    }

    @Test func aBodyAndTheEndOfTheInputWaitWithTheirRequest() throws {
        let turns = RequestTurns()
        let first = try (0..<RequestTurns.atOnce).map { _ in try Connection(turns: turns) }
        for connection in first { try connection.receive(Self.request) }
        let waiting = try Connection(from: "192.0.2.2", turns: turns)
        let reads = waiting.reads.count
        try waiting.receive("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n12345")
        try waiting.receive("6789" + Self.request)
        waiting.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        waiting.channel.read()
        #expect(waiting.application.heads.isEmpty && waiting.application.body.isEmpty)
        #expect(waiting.reads.count == reads)
        first[0].respond()
        run([waiting])
        #expect(waiting.application.heads.count == 1 && waiting.application.body == "123456789")
        #expect(waiting.application.ends == 1)
        waiting.respond()
        run([waiting])
        #expect(waiting.application.heads.count == 2)
    }

    /// Accepts a connection only when it is told to, like a busy server.
    final class BusyServer: ChannelDuplexHandler {
        typealias InboundIn = any Channel
        typealias OutboundIn = Never

        var taken: [any Channel] = []

        func channelRead(context: ChannelHandlerContext, data: NIOAny) { taken.append(unwrapInboundIn(data)) }
        func read(context: ChannelHandlerContext) {}
    }

    @Test func connectionsThatTheServerHasNoTimeForWaitByHost() throws {
        let shared = ConnectionGuard()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = BusyServer()
        let listener = EmbeddedChannel(handlers: [ConnectionAdmissionHandler(shared, logger: logger), server])
        listener.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 80), promise: nil)
        var accepted: [EmbeddedChannel] = []
        func accept(_ address: String) throws {
            let connection = EmbeddedChannel()
            connection.remoteAddress = try SocketAddress(ipAddress: address, port: 40_000)
            listener.pipeline.syncOperations.fireChannelRead(NIOAny(connection as any Channel))
            accepted.append(connection)
        }
        for _ in 0..<50 { try accept("192.0.2.1") }
        listener.pipeline.fireChannelReadComplete()
        listener.embeddedEventLoop.run()
        #expect(server.taken.count == ConnectionStarts.atOnce)
        try accept("192.0.2.9")
        listener.pipeline.fireChannelReadComplete()
        let context = try listener.pipeline.syncOperations.context(handler: server)
        context.read()
        listener.embeddedEventLoop.run()
        // The server wants more, but the connections that it has accepted have not started.
        #expect(server.taken.count == ConnectionStarts.atOnce)
        #expect(shared.connections.counts.connections == 51)
        for connection in server.taken.prefix(2) {
            shared.starts.end(connection)
            listener.embeddedEventLoop.run()
            context.read()
            listener.embeddedEventLoop.run()
        }
        #expect(server.taken.count == ConnectionStarts.atOnce + 2)
        #expect(server.taken.suffix(2).contains { $0 === accepted[50] })
        for connection in accepted { _ = try? connection.finish(acceptAlreadyClosed: true) }
        _ = try? listener.finish(acceptAlreadyClosed: true)
    }
}
