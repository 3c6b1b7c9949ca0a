import NIOCore
import NIOHTTP1
import NIOHTTP2

/// Holds back the end of a response that comes before the end of its request, on a stream of HTTP/2.
///
/// async-http-client forgets a request when its response has ended, and ends the process when the stream then reports an
/// error while the body is still being sent (its issue 922). Any server can cause that: it answers early and resets the
/// stream, as nginx does. With the gate the response never ends first; an error meanwhile fails the request as usual.
final class EarlyResponseGate: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private var hasSentAll = false
    private var heldEnd: HTTPClientResponsePart?

    /// Puts the gate into the pipeline of a stream, next to what turns its frames into messages.
    static func install(on channel: any Channel) -> EventLoopFuture<Void> {
        do {
            let pipeline = channel.pipeline.syncOperations
            let codec = try pipeline.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
            try pipeline.addHandler(EarlyResponseGate(), position: .after(codec))
            return channel.eventLoop.makeSucceededVoidFuture()
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if case .end = part, !hasSentAll {
            heldEnd = part
        } else {
            context.fireChannelRead(wrapInboundOut(part))
        }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            hasSentAll = true
            if heldEnd != nil {
                // The writer has to be done with its write before it learns of the end.
                let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
                context.eventLoop.execute {
                    let (gate, context) = bound.value
                    gate.release(context)
                }
            }
        }
        context.write(data, promise: promise)
    }

    private func release(_ context: ChannelHandlerContext) {
        guard let end = heldEnd else { return }
        heldEnd = nil
        context.fireChannelRead(wrapInboundOut(end))
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The request fails now; an end after that would be one too many.
        heldEnd = nil
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        heldEnd = nil
        context.fireChannelInactive()
    }
}
