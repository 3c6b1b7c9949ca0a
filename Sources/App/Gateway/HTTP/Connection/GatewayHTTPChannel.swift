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
/// The library's own pipeline parses all requests of a read at once. This one has the same parts, and between them
/// those that limit what a client costs: see ``RequestPacer``, ``RequestGate``, and ``StalledClientHandler``, which is
/// below TLS. The ``ConnectionAdmissionHandler`` decides which connections there are.
struct GatewayHTTPChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    /// Connections without a request for this long are closed.
    static let idleTimeout = Duration.seconds(60)
    /// Headers larger than this are refused.
    static let maximumHeaderBytes = 16 * 1024
    /// The most bytes that one read of the socket returns.
    static let maximumRead = 16 * 1024

    let responder: HTTPChannelHandler.Responder
    /// The turns of strangers' requests, shared by all listeners.
    let turns: RequestTurns
    /// The connections that are starting.
    let starts: ConnectionStarts

    /// What a listener needs.
    static func server(_ shared: ConnectionGuard) -> HTTPServerBuilder {
        HTTPServerBuilder { GatewayHTTPChannel(responder: $0, turns: shared.turns, starts: shared.starts) }
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            try Self.setOptions(of: channel)
            try Self.addHandlers(to: channel, turns: turns)
            try channel.pipeline.syncOperations.addHandlers([
                HTTP1ToHTTPServerCodec(secure: false), RequestDeadlineHandler(),
                HTTPConnectionStateHandler(idleTimeout: Self.idleTimeout, logger: logger),
            ])
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
        }
    }

    func handle(value: Value, logger: Logger) async {
        starts.end(value.channel)
        await handleHTTP(asyncChannel: value, logger: logger)
    }

    /// The part of the pipeline that handles bytes and HTTP/1.1, in order from the socket up.
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
        // Otherwise the kernel's buffer could hold what the client does not read, and no byte of it would wait in this
        // process.
        try options.setOption(
            .tcpOption(.init(rawValue: TCP_USER_TIMEOUT)),
            value: SocketOptionValue(StalledClientHandler.limit.nanoseconds / 1_000_000))
    }
}
