import DatagramPort
import NIOCore
import Transport

/// Counts a connection from the moment that it is accepted, so also while its TLS handshake runs, and closes it at once
/// when it is one too many.
final class ConnectionLimitHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connections: ConnectionLedger
    private var isCounted = false

    init(connections: ConnectionLedger) {
        self.connections = connections
    }

    /// Whose a connection is; the unspecified address for one that has none.
    static func peer(_ address: SocketAddress?) -> TransportAddress {
        address?.ipAddress.flatMap { TransportAddress($0, port: 0) } ?? TransportAddress(ipv4: 0, port: 0)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        self.isCounted = self.connections.enter(
            channel, from: Self.peer(context.remoteAddress), close: { channel.close(promise: nil) })
        if !self.isCounted, channel.isActive { context.close(promise: nil) }
    }

    func channelActive(context: ChannelHandlerContext) {
        // A channel that is still being set up cannot be closed before.
        if !self.isCounted { return context.close(promise: nil) }
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.leave(context)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.leave(context)
    }

    private func leave(_ context: ChannelHandlerContext) {
        guard self.isCounted else { return }
        self.isCounted = false
        self.connections.leave(context.channel)
    }
}
