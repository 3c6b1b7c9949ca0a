import Glibc
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// One HTTP/1.1 connection, from the socket up to the requests.
///
/// The library's own pipeline parses all requests of a read at once. This one has the same parts, and between them those
/// that bound what a client costs: see ``RequestPacer``, ``RequestGate``, and ``StalledClientHandler``, which stands below
/// TLS. Which connections there are at all is the ``ConnectionAdmissionHandler``'s business.
struct GatewayHTTPChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    /// Connections without a request for so long are closed.
    static let idleTimeout = Duration.seconds(60)
    /// Headers larger than this are refused.
    static let maximumHeaderBytes = 16 * 1024
    /// The most that one read of the socket takes.
    static let maximumRead = 16 * 1024

    let responder: HTTPChannelHandler.Responder
    /// The turns of strangers' requests, those of all listeners together.
    let turns: RequestTurns
    /// The connections that are being started.
    let starts: ConnectionStarts

    /// What a listener is made with.
    static func server(_ shared: ConnectionGuard) -> HTTPServerBuilder {
        HTTPServerBuilder { GatewayHTTPChannel(responder: $0, turns: shared.turns, starts: shared.starts) }
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try Self.setOptions(of: channel)
            try Self.addHandlers(to: channel, turns: self.turns)
            try channel.pipeline.syncOperations.addHandlers([
                HTTP1ToHTTPServerCodec(secure: false), RequestDeadlineHandler(),
                HTTPConnectionStateHandler(idleTimeout: Self.idleTimeout, logger: logger),
            ])
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value: Value, logger: Logger) async {
        self.starts.end(value.channel)
        await self.handleHTTP(asyncChannel: value, logger: logger)
    }

    /// The part of the pipeline that is about bytes and HTTP/1.1, in the order from the socket up.
    static func addHandlers(to channel: any Channel, turns: RequestTurns) throws {
        let pipeline = channel.pipeline.syncOperations
        // Below TLS, which has added itself already.
        try pipeline.addHandler(StalledClientHandler(), position: .first)
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = Self.maximumHeaderBytes
        limits.maxHeaderListSize = Self.maximumHeaderBytes * 2
        limits.maxHeaderFieldCount = 100
        let pacer = RequestPacer()
        try pipeline.addHandlers([
            pacer, HTTPResponseEncoder(),
            ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: limits)),
            RequestGate(pacer: pacer, turns: turns),
        ])
    }

    private static func setOptions(of channel: any Channel) throws {
        guard let options = channel.syncOptions else { return }
        try options.setOption(.maxMessagesPerRead, value: 1)
        try options.setOption(
            .recvAllocator,
            value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: Self.maximumRead))
        // The kernel's own buffer may hold what the client does not take, and then no byte of it waits in this process.
        try options.setOption(
            .tcpOption(.init(rawValue: TCP_USER_TIMEOUT)),
            value: SocketOptionValue(StalledClientHandler.limit.nanoseconds / 1_000_000))
    }
}
