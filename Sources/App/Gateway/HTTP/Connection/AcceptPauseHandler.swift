import DatagramPort
import Glibc
import Logging
import NIOCore

/// Pauses a listener that has run out of descriptors, or that has no place left. It stands on the listener's own channel.
///
/// Without it the library waits a second before it asks for the next connection, but leaves the socket in the selector,
/// which then wakes the event loop again and again and keeps a core busy.
final class AcceptPauseHandler: ChannelInboundHandler, RemovableChannelHandler {
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

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(data)
        if self.connections.isFull { self.pause(context, for: Self.fullPause) }
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
        // Only this takes the socket out of the selector.
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        self.resumption = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            self.resumption = nil
            guard context.channel.isActive else { return }
            try? context.channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}
