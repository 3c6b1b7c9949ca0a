import NIOCore

/// Closes a connection whose client accepts no bytes while bytes wait for it: event streams, pictures and pages alike.
/// It is below TLS, where it can be seen what the socket accepts.
final class StalledClientHandler: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// How long a client may accept nothing.
    static let limit = TimeAmount.seconds(30)
    /// How often to check while bytes wait.
    static let interval = TimeAmount.seconds(5)

    private var written = 0
    private var accepted = 0
    private var since = NIODeadline.distantPast
    private var look: Scheduled<Void>?

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        written &+= unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
        if look == nil {
            since = context.eventLoop.now
            schedule(context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        look?.cancel()
        look = nil
    }

    private func schedule(_ context: ChannelHandlerContext) {
        look = context.eventLoop.assumeIsolated().scheduleTask(in: Self.interval) { self.check(context) }
    }

    private func check(_ context: ChannelHandlerContext) {
        look = nil
        guard context.channel.isActive,
            let waiting = try? context.channel.syncOptions?.getOption(.bufferedWritableBytes), waiting > 0
        else { return }
        let accepted = written &- waiting
        let now = context.eventLoop.now
        if accepted != self.accepted {
            self.accepted = accepted
            since = now
        } else if now - since >= Self.limit {
            return context.close(promise: nil)
        }
        schedule(context)
    }
}
