import Foundation
import HomeTypes
import NIOCore
import NIOWebSocket
import ServiceLifecycle

/// An open WebSocket, as the code of a route sees it. Any task may use it.
final class WebSocketConnection: Sendable {
    /// A message of the application.
    enum Message: Sendable, Equatable {
        case text(String)
        case binary(ByteBuffer)
    }

    /// Why the gateway closes a connection.
    struct Closure: Error, Equatable {
        var code: WebSocketErrorCode
        /// For a person; at most 123 bytes are sent (RFC 6455, section 5.5).
        var reason: String

        init(_ code: WebSocketErrorCode, _ reason: String = "") {
            self.code = code
            self.reason = reason
        }
    }

    let limits: WebSocketLimits
    private let eventLoop: any EventLoop
    private let handler: NIOLoopBoundBox<WebSocketHandler?>

    init(_ eventLoop: any EventLoop, limits: WebSocketLimits) {
        self.eventLoop = eventLoop
        self.limits = limits
        self.handler = .makeBoxSendingValue(nil, eventLoop: eventLoop)
    }

    /// Makes the handler of the connection, on its event loop.
    func open() -> WebSocketHandler {
        let made = WebSocketHandler(limits: limits, eventLoop: eventLoop)
        handler.value = made
        return made
    }

    /// The next message; nil after the last one. Only one task may wait for it at a time.
    func next() async throws -> Message? {
        try await withTaskCancellationHandler {
            try await eventLoop.flatSubmit { [handler, eventLoop] in
                handler.value?.next() ?? eventLoop.makeSucceededFuture(nil)
            }.get()
        } onCancel: {
            close(Closure(.goingAway))
        }
    }

    /// Sends a message, and waits until the socket has accepted it: a slow client slows its sender down.
    /// - Throws: if the connection is closed.
    func send(_ message: Message) async throws {
        try await eventLoop.flatSubmit { [handler, eventLoop] in
            handler.value?.send(message) ?? eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
        }.get()
    }

    /// Closes the connection. A second call has no effect.
    func close(_ closure: Closure) {
        eventLoop.execute { [handler] in handler.value?.close(closure) }
    }

    /// Serves the connection until the client or the gateway ends it.
    func run(_ serve: @escaping @Sendable (WebSocketConnection) async throws -> Void) async {
        do {
            try await cancelWhenGracefulShutdown { try await serve(self) }
            close(Closure(.normalClosure))
        } catch let closure as Closure {
            close(closure)
        } catch let error as HomeError {
            close(Closure(.policyViolation, error.message))
        } catch is CancellationError {
            close(Closure(.goingAway, "the gateway stops"))
        } catch {
            // The client is gone, or has stopped reading. There is nobody left to inform.
            close(Closure(.unexpectedServerError))
        }
    }
}
