import HTTPTypes
import HomeHub
import Hummingbird
import NIOCore
import ServiceLifecycle

extension GatewayAPI {
    func addEventRoutes(to router: Router<GatewayRequestContext>) {
        router.get("/v1/events") { request, context in
            // A client that comes back by itself sends the header; it is newer than the address.
            let cursor = request.headers[Self.lastEventID] ?? request.uri.queryParameters["after"].map(String.init)
            // A watcher that is cut off reads too slowly, so what is being written for it may never be taken, and the
            // connection would stay for as long as it takes a byte now and then.
            let authorization = try self.authorization(context)
            let events = try await hub.changes(
                principal: authorization.principal, access: authorization.access, after: cursor,
                onCutOff: { [channel = context.channel] in channel.close(promise: nil) })
            // What ended the streams of a token that has just lost rights did not know of this one.
            try tokens.requireStill(authorization)
            return Response(
                status: .ok,
                headers: [
                    .contentType: "text/event-stream", .cacheControl: "no-store",
                    // For reverse proxies that would buffer the stream.
                    Self.accelBuffering: "no",
                ],
                body: ResponseBody { writer in
                    try await writer.write(ByteBuffer(string: ServerSentEvents.opening))
                    // It ends when the client disconnects, when the gateway ends, or when the client reads too slowly.
                    for await batch in events.batches.cancelOnGracefulShutdown() {
                        for block in ServerSentEvents.blocks(batch) { try await writer.write(block) }
                    }
                    try await writer.finish(nil)
                })
        }
    }

    private static let lastEventID = HTTPField.Name("Last-Event-ID") ?? .from
    private static let accelBuffering = HTTPField.Name("X-Accel-Buffering") ?? .from
}
