import DatagramPort
import Glibc
import Logging
import NIOCore
import Transport

/// Decides which connections a listener takes, before anything is made for them, and pauses it when it has run out of
/// descriptors. It stands on the listener's own channel.
///
/// A connection counts from here on until it has closed, so also while its TLS handshake runs.
final class ConnectionAdmissionHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    /// How long nothing is accepted when there are no descriptors.
    static let exhaustedPause = TimeAmount.seconds(1)
    /// How long nothing is accepted when every place belongs to somebody who has signed in.
    static let fullPause = TimeAmount.milliseconds(100)
    /// How many strangers' connections are closed at a time when there are no descriptors.
    static let shedCount = 16

    private let connections: ConnectionLedger
    private let logger: Logger
    private var resumption: Scheduled<Void>?

    init(connections: ConnectionLedger, logger: Logger) {
        self.connections = connections
        self.logger = logger
    }

    /// Whose a connection is; the unspecified address for one that has none.
    static func peer(_ address: SocketAddress?) -> TransportAddress {
        address?.ipAddress.flatMap { TransportAddress($0, port: 0) } ?? TransportAddress(ipv4: 0, port: 0)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let connection = self.unwrapInboundIn(data)
        let isAdmitted = self.connections.enter(
            connection, from: Self.peer(connection.remoteAddress), close: { connection.close(promise: nil) })
        guard isAdmitted else {
            connection.close(promise: nil)
            if self.connections.isFull { self.pause(context, for: Self.fullPause) }
            return
        }
        connection.closeFuture.whenComplete { [connections = self.connections] _ in connections.leave(connection) }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode) else {
            return context.fireErrorCaught(error)
        }
        let closed = self.connections.shed(Self.shedCount)
        self.logger.warning(
            "no connection can be accepted for a moment", metadata: ["reason": "\(error)", "closed": "\(closed)"])
        self.pause(context, for: Self.exhaustedPause)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.resumption?.cancel()
        self.resumption = nil
    }

    private func pause(_ context: ChannelHandlerContext, for time: TimeAmount) {
        guard self.resumption == nil else { return }
        // The library's own pause leaves the socket in the selector, which then wakes the event loop again and again and
        // keeps a core busy. Only this takes it out.
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        self.resumption = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            self.resumption = nil
            guard context.channel.isActive else { return }
            try? context.channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}
