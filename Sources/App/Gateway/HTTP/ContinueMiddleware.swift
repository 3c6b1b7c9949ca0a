import HTTPTypes
import Hummingbird
import NIOCore

/// Asks a client that waits with its body (`Expect: 100-continue`) to send it, as soon as somebody begins to read it. A
/// request that is refused by its head alone gets its final status, and no body is sent (RFC 9110, section 10.1.1).
struct ContinueMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: GatewayRequestContext,
        next: (Request, GatewayRequestContext) async throws -> Response
    ) async throws -> Response {
        guard request.headers[.expect] != nil else { return try await next(request, context) }
        var request = request
        request.body = RequestBody(asyncSequence: InvitedBody(body: request.body, channel: context.channel))
        return try await next(request, context)
    }
}

/// A body that is requested when it is first read.
private struct InvitedBody: AsyncSequence, Sendable {
    let body: RequestBody
    let channel: any Channel

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: RequestBody.AsyncIterator
        /// Present until the body has been requested.
        var channel: (any Channel)?

        mutating func next() async throws -> ByteBuffer? {
            if let channel {
                self.channel = nil
                try await channel.triggerUserOutboundEvent(ContinueRequest()).get()
            }
            return try await base.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: body.makeAsyncIterator(), channel: channel)
    }
}
