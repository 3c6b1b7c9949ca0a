import DatagramPort
import HTTPTypes
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import Gateway

/// What one host can take from a listener, in virtual time.
@Suite struct ConnectionTests {
    func channel(_ handler: any ChannelHandler, from address: String = "192.0.2.1") throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        let remote = try SocketAddress(ipAddress: address, port: 40_000)
        channel.remoteAddress = remote
        try channel.pipeline.syncOperations.addHandler(handler)
        channel.connect(to: remote, promise: nil)
        channel.embeddedEventLoop.run()
        return channel
    }

    func head(_ method: HTTPRequest.Method = .post) -> HTTPRequestPart {
        .head(HTTPRequest(method: method, scheme: "http", authority: "h", path: "/v1/devices"))
    }

    @Test func aRequestThatDoesNotEndIsClosed() throws {
        let channel = try self.channel(RequestDeadlineHandler())
        try channel.writeInbound(head())
        for _ in 0..<29 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(bytes: [0])))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test(arguments: [true, false])
    func `a client that does not take the end of its answer in time loses its connection`(isTaken: Bool) throws {
        let channel = try self.channel(StalledClientHandler())
        let ending = EndingAnswer(on: channel)
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        ending.begin()
        channel.embeddedEventLoop.advanceTime(by: EndingAnswer.limit - .nanoseconds(1))
        #expect(channel.isActive)
        if isTaken { ending.end() }
        channel.embeddedEventLoop.advanceTime(by: .nanoseconds(1))
        #expect(channel.isActive == isTaken)
    }

    @Test func aBodyThatKeepsComingIsReadToItsEnd() throws {
        let channel = try self.channel(RequestDeadlineHandler())
        try channel.writeInbound(head())
        let part = ByteBuffer(repeating: 0, count: RequestDeadlineHandler.progress / 2)
        for _ in 0..<12 {
            try channel.writeInbound(HTTPRequestPart.body(part))
            channel.embeddedEventLoop.advanceTime(by: .seconds(14))
        }
        #expect(channel.isActive)
        try channel.writeInbound(HTTPRequestPart.end(nil))
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        _ = try channel.finish()
    }

    @Test func aResponseMayTakeAnyTimeAndTheConnectionServesMoreRequests() throws {
        let channel = try self.channel(RequestDeadlineHandler())
        for _ in 0..<3 {
            try channel.writeInbound(head(.get))
            try channel.writeInbound(HTTPRequestPart.end(nil))
            channel.embeddedEventLoop.advanceTime(by: .hours(1))
            #expect(channel.isActive)
        }
        _ = try channel.finish()
    }

    @Test func aConnectionIsCountedFromItsBeginningToItsEnd() throws {
        let ledger = ConnectionLedger(limits: .init(total: 2, perHost: 2, perPrincipal: 1))
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let listener = EmbeddedChannel(
            handler: ConnectionAdmissionHandler(ConnectionGuard(connections: ledger), logger: logger))
        func accept(_ address: String) throws -> EmbeddedChannel {
            let connection = EmbeddedChannel()
            let remote = try SocketAddress(ipAddress: address, port: 40_000)
            connection.remoteAddress = remote
            connection.connect(to: remote, promise: nil)
            listener.pipeline.syncOperations.fireChannelRead(NIOAny(connection as any Channel))
            listener.pipeline.fireChannelReadComplete()
            connection.embeddedEventLoop.run()
            return connection
        }
        let first = try accept("192.0.2.1")
        let second = try accept("192.0.2.2")
        #expect(ledger.counts.connections == 2)
        ledger.vouch(for: second, principal: "owner")
        // The stranger's connection is closed, and then none is.
        let third = try accept("192.0.2.3")
        first.embeddedEventLoop.run()
        #expect(!first.isActive && second.isActive && third.isActive)
        ledger.vouch(for: third, principal: "guest")
        #expect(ledger.isFull)
        let fourth = try accept("192.0.2.4")
        #expect(!fourth.isActive)
        #expect(ledger.counts.gaveWay == 1 && ledger.counts.refused == 1)
        for channel in [second, third] { _ = try channel.finish() }
        #expect(ledger.counts.connections == 0)
        _ = try listener.finish()
    }

    @Test func aClientThatAcceptsNothingIsClosedAndASlowOneIsNot() throws {
        for isSlow in [false, true] {
            let channel = try self.channel(StalledClientHandler())
            // Without a flush they wait in the channel, as they do when the socket accepts nothing.
            for _ in 0..<100 { channel.write(ByteBuffer(repeating: 0, count: 1000), promise: nil) }
            for _ in 0..<7 {
                channel.embeddedEventLoop.advanceTime(by: .seconds(5))
                if isSlow {
                    channel.flush()
                    while try channel.readOutbound(as: IOData.self) != nil {}
                    channel.write(ByteBuffer(repeating: 0, count: 1), promise: nil)
                }
            }
            #expect(channel.isActive == isSlow)
            _ = try? channel.finish(acceptAlreadyClosed: true)
        }
    }
}
