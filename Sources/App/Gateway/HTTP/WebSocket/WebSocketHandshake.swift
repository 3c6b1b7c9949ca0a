import COpenSSL
import Foundation
import HTTPTypes
import HomeTypes
import Hummingbird
import NIOCore

/// The opening handshake of a WebSocket (RFC 6455, section 4.2).
///
/// It is an ordinary request for all that comes before the route: origin, token, rights, limits and metrics. Only its
/// response makes the connection a WebSocket, so nobody who was refused gets that far. Any request of a connection may ask
/// for it, not only the first, because clients with a pool of connections reuse them.
enum WebSocketHandshake {
    /// The protocol of the gateway's own WebSockets.
    static let ownProtocol = "gatehouse"
    /// Before a token among the offered protocols: scripts in browsers can set no header of a WebSocket.
    private static let tokenPrefix = "gatehouse.bearer."

    /// The token among the protocols that a client offers; nil if there is none. It is never chosen as the protocol, so it is
    /// not sent back.
    ///
    /// A handshake is a GET. The body of another request would not be held until its sender's rights are checked again.
    static func token(in request: Request) -> String? {
        guard request.method == .get, isRequested(request) else { return nil }
        return tokens(request.headers[values: .secWebSocketProtocol])
            .first { $0.hasPrefix(tokenPrefix) }.map { String($0.dropFirst(tokenPrefix.count)) }
    }

    /// Whether a request asks for a WebSocket.
    static func isRequested(_ request: Request) -> Bool {
        tokens(request.headers[values: .upgrade]).contains { $0.lowercased() == "websocket" }
    }

    /// The response that makes the request's connection a WebSocket.
    /// - Parameters:
    ///   - protocols: the application protocols of the route, the preferred one first. The first that the client offers is
    ///     chosen; a client that offers none gets none.
    ///   - limits: what the client may send, and how long it may be silent.
    ///   - serve: what happens on the connection. It is closed when this returns or throws.
    /// - Throws: `HTTPFailure` if the request is not a proper handshake.
    static func response(
        to request: Request, _ context: GatewayRequestContext, protocols: [String] = [],
        limits: WebSocketLimits = WebSocketLimits(),
        serve: @escaping @Sendable (WebSocketConnection) async throws -> Void
    ) async throws -> Response {
        let key = try self.key(of: request)
        let connection = WebSocketConnection(context.channel.eventLoop, limits: limits)
        // Without a handler that can do this, the connection cannot be upgraded.
        try await context.channel.triggerUserOutboundEvent(WebSocketRequest(connection: connection)).get()
        var headers: HTTPFields = [.upgrade: "websocket", .connection: "Upgrade", .secWebSocketAccept: accept(key)]
        let offered = tokens(request.headers[values: .secWebSocketProtocol])
        if let chosen = protocols.first(where: offered.contains) { headers[.secWebSocketProtocol] = chosen }
        return Response(
            status: .switchingProtocols, headers: headers,
            body: ResponseBody { writer in
                await connection.run(serve)
                try await writer.finish(nil)
            })
    }

    /// The answer to the client's key (RFC 6455, section 4.2.2, item 5.4).
    static func accept(_ key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        // It cannot fail: the algorithm is built in, and the digest has its length.
        EVP_Digest(text, text.count, &digest, nil, EVP_sha1(), nil)
        return Data(digest).base64EncodedString()
    }

    /// The parts of a header that lists tokens, separated by commas (RFC 9110, section 5.6.1).
    static func tokens(_ values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }
    }

    private static func key(of request: Request) throws(HTTPFailure) -> String {
        guard isRequested(request) else {
            throw HTTPFailure(
                error: .invalidArgument("this address is a WebSocket; send Upgrade: websocket"),
                status: .upgradeRequired, headers: [.upgrade: "websocket"])
        }
        guard request.method == .get,
            tokens(request.headers[values: .connection]).contains(where: { $0.lowercased() == "upgrade" })
        else { throw refusal("a WebSocket begins with GET and the header Connection: Upgrade") }
        guard (request.headers[.contentLength] ?? "0") == "0", request.headers[.transferEncoding] == nil else {
            throw refusal("a request for a WebSocket has no body")
        }
        guard request.headers[.secWebSocketVersion] == "13" else {
            throw HTTPFailure(
                error: .invalidArgument("Sec-WebSocket-Version must be 13"), status: .upgradeRequired,
                headers: [.secWebSocketVersion: "13"])
        }
        let keys = request.headers[values: .secWebSocketKey]
        guard keys.count == 1, Data(base64Encoded: keys[0])?.count == 16 else {
            throw refusal("Sec-WebSocket-Key must be 16 bytes in base64")
        }
        return keys[0]
    }

    private static func refusal(_ message: String) -> HTTPFailure {
        HTTPFailure(error: .invalidArgument(message), status: .badRequest)
    }
}

/// Asks the connection to become a WebSocket when the response says so.
struct WebSocketRequest: Sendable {
    let connection: WebSocketConnection
}

/// What a client of a WebSocket may do.
struct WebSocketLimits: Sendable, Equatable {
    /// The longest message, in bytes; the connection of a client that sends a longer one is closed (1009).
    var longestMessage = 64 * 1024
    /// How often the client is asked whether it is there.
    var pingInterval = TimeAmount.seconds(20)
    /// After how many unanswered questions it is treated as gone.
    var unansweredPings = 2
}
