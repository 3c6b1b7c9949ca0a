import HTTPTypes
import HummingbirdCore
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import Gateway

/// What one host can take of a listener, in virtual time.
@Suite struct ConnectionTests {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

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
        try channel.writeInbound(self.head())
        for _ in 0..<29 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            try channel.writeInbound(HTTPRequestPart.body(ByteBuffer(bytes: [0])))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func aBodyThatComesOnIsTakenToItsEnd() throws {
        let channel = try self.channel(RequestDeadlineHandler())
        try channel.writeInbound(self.head())
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

    @Test func anAnswerMayTakeAsLongAsItWantsAndTheConnectionServesMoreRequests() throws {
        let channel = try self.channel(RequestDeadlineHandler())
        for _ in 0..<3 {
            try channel.writeInbound(self.head(.get))
            try channel.writeInbound(HTTPRequestPart.end(nil))
            channel.embeddedEventLoop.advanceTime(by: .hours(1))
            #expect(channel.isActive)
        }
        _ = try channel.finish()
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.2"), ("::ffff:192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8:0:1::1"),
    ])
    func aHostHasItsShareAndLeavesTheOthersTheirs(host: String, other: String) throws {
        let connections = ConnectionsByHost(logger: self.logger)
        let held = try (0..<ConnectionsByHost.maximum).map { _ in
            try self.channel(ConnectionLimitHandler(connections: connections), from: host)
        }
        #expect(held.allSatisfy { $0.isActive })
        let refused = try self.channel(ConnectionLimitHandler(connections: connections), from: host)
        #expect(!refused.isActive)
        let foreign = try self.channel(ConnectionLimitHandler(connections: connections), from: other)
        #expect(foreign.isActive)
        // One that ends makes room for one, once.
        _ = try held[0].finish()
        let next = try self.channel(ConnectionLimitHandler(connections: connections), from: host)
        #expect(next.isActive)
        let last = try self.channel(ConnectionLimitHandler(connections: connections), from: host)
        #expect(!last.isActive)
        for channel in held.dropFirst() + [foreign, next] { _ = try channel.finish() }
    }

    @Test func anAddressOfTheSameNetworkIsTheSameHostInIPv6() throws {
        let one = try ConnectionsByHost.host(of: SocketAddress(ipAddress: "2001:db8::1", port: 1))
        let two = try ConnectionsByHost.host(of: SocketAddress(ipAddress: "2001:db8::ffff:2", port: 2))
        #expect(one != nil && one == two)
        for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            let host = try ConnectionsByHost.host(of: SocketAddress(ipAddress: address, port: 1))
            #expect(host == nil, "\(address)")
        }
    }

    @Test func refusalsAreLoggedOnceAMinute() throws {
        let lines = NIOLockedValueBox<[String]>([])
        let redactor = Redactor(secrets: [], showsAddresses: true)
        let connections = ConnectionsByHost(
            logger: Logger(label: "test") {
                GatewayLogHandler(label: $0, format: .text, redactor: redactor) { line in
                    lines.withLockedValue { $0.append(line) }
                }
            })
        let host = try #require(try ConnectionsByHost.host(of: SocketAddress(ipAddress: "192.0.2.1", port: 1)))
        let start = NIODeadline.uptimeNanoseconds(1)
        for _ in 0..<ConnectionsByHost.maximum { #expect(connections.enter(host, at: start)) }
        for second in 0..<61 { #expect(!connections.enter(host, at: start + .seconds(Int64(second)))) }
        let written = lines.withLockedValue { $0 }
        #expect(written.count == 2)
        #expect(written.last?.contains("refused=61") == true)
    }

    @Test func bothStandInEachConnection() {
        let handlers = GatewayService.channelConfiguration(ConnectionsByHost(logger: self.logger))
            .additionalChannelHandlers()
        #expect(handlers.contains { $0 is RequestDeadlineHandler })
        #expect(handlers.contains { $0 is ConnectionLimitHandler })
    }
}
