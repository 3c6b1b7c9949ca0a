import NIOCore
import NIOHTTPTypes

/// Closes a connection whose request is not complete in time. Otherwise a client could keep it forever by sending one
/// byte per minute, with no more than a wrong token. The time of the response does not matter, because event streams
/// have no end.
final class RequestDeadlineHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart

    /// How long a request may take from its head to the end of its body.
    static let limit = TimeAmount.seconds(30)
    /// A body that has brought this many bytes since the last check gets the same time again: an uplink may be slow.
    static let progress = 1 << 20

    private var deadline: Scheduled<Void>?
    private var received = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: schedule(context)
        case .body(let bytes): received += bytes.readableBytes
        case .end: cancel()
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancel()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        cancel()
    }

    private func schedule(_ context: ChannelHandlerContext) {
        cancel()
        received = 0
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.limit) { self.look(context) }
    }

    private func look(_ context: ChannelHandlerContext) {
        if received >= Self.progress {
            schedule(context)
        } else {
            context.close(promise: nil)
        }
    }

    private func cancel() {
        deadline?.cancel()
        deadline = nil
    }
}
