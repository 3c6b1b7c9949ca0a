import NIOCore
import NIOWebSocket

/// Messages of a WebSocket from frames, and frames from messages (RFC 6455), on the connection's event loop.
///
/// It is between the frames below and the parts of HTTP above, which see nothing of the WebSocket but its end. It reads from
/// the socket only while no message waits to be taken, so a client that sends faster than its messages are handled is slowed
/// down.
final class WebSocketHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = Never
    typealias OutboundIn = IOData
    typealias OutboundOut = WebSocketFrame

    /// How long the client may take to close its side after the gateway's close frame.
    static let closingTime = TimeAmount.seconds(1)

    private let limits: WebSocketLimits
    private let eventLoop: any EventLoop
    private var context: ChannelHandlerContext?
    private var messages: [WebSocketConnection.Message] = []
    private var waiter: EventLoopPromise<WebSocketConnection.Message?>?
    /// The message whose frames are arriving.
    private var partial: (opcode: WebSocketOpcode, bytes: ByteBuffer)?
    private var hasEnded = false
    private var hasSentClose = false
    private var isSendingPong = false
    private var nextPong: ByteBuffer?
    /// How many pings went out since something arrived.
    private var unanswered = 0
    private var pinging: Scheduled<Void>?
    private var closing: Scheduled<Void>?

    init(limits: WebSocketLimits, eventLoop: any EventLoop) {
        self.limits = limits
        self.eventLoop = eventLoop
    }

    // MARK: For the connection

    func next() -> EventLoopFuture<WebSocketConnection.Message?> {
        if !messages.isEmpty {
            let first = messages.removeFirst()
            if messages.isEmpty { context?.read() }
            return eventLoop.makeSucceededFuture(first)
        }
        guard !hasEnded, waiter == nil else { return eventLoop.makeSucceededFuture(nil) }
        let promise = eventLoop.makePromise(of: WebSocketConnection.Message?.self)
        waiter = promise
        return promise.futureResult
    }

    func send(_ message: WebSocketConnection.Message) -> EventLoopFuture<Void> {
        guard !hasSentClose, !hasEnded else { return eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
        let written = eventLoop.makePromise(of: Void.self)
        switch message {
        case .text(let text): write(.text, ByteBuffer(string: text), written)
        case .binary(let bytes): write(.binary, bytes, written)
        }
        return written.futureResult
    }

    func close(_ closure: WebSocketConnection.Closure) {
        guard let context, !hasSentClose else { return }
        sendClose(closure)
        end()
        closing = eventLoop.assumeIsolated().scheduleTask(in: Self.closingTime) { context.close(promise: nil) }
    }

    // MARK: In the pipeline

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        schedulePing()
        context.read()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        self.context = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unanswered = 0
        guard !hasEnded || hasSentClose else { return }
        receive(unwrapInboundIn(data), context)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if messages.isEmpty { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A client that sends nothing more has left without closing.
        if event as? ChannelEvent == .inputClosed { return context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? NIOWebSocketError else { return context.fireErrorCaught(error) }
        switch error {
        case .invalidFrameLength: close(.init(.messageTooLarge, "the message is too long"))
        case .fragmentedControlFrame, .multiByteControlFrameLength: close(.init(.protocolError))
        }
    }

    /// What HTTP above writes goes nowhere.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        promise?.succeed()
    }

    /// HTTP above asks for more whenever it likes.
    func read(context: ChannelHandlerContext) {}

    // MARK: Frames

    private func receive(_ frame: WebSocketFrame, _ context: ChannelHandlerContext) {
        if frame.opcode == .connectionClose { return receiveClose(frame, context) }
        guard !hasSentClose else { return }
        guard frame.maskKey != nil, frame.reservedBits.isEmpty else {
            return close(.init(.protocolError, "frames of a client are masked, and no extension is agreed on"))
        }
        switch frame.opcode {
        case .ping: pong(frame.unmaskedData)
        case .pong: break
        case .text, .binary:
            guard partial == nil else { return close(.init(.protocolError, "a message begins inside another one")) }
            partial = (frame.opcode, ByteBuffer())
            append(frame)
        case .continuation:
            guard partial != nil else { return close(.init(.protocolError, "a message has no beginning")) }
            append(frame)
        default: close(.init(.protocolError, "the kind of a frame is not known"))
        }
    }

    private func append(_ frame: WebSocketFrame) {
        guard let (opcode, begun) = partial else { return }
        partial = nil
        var bytes = begun
        var added = frame.unmaskedData
        guard bytes.readableBytes + added.readableBytes <= limits.longestMessage else {
            return close(.init(.messageTooLarge, "a message may have \(limits.longestMessage) bytes"))
        }
        bytes.writeBuffer(&added)
        guard frame.fin else {
            partial = (opcode, bytes)
            return
        }
        guard opcode == .text else { return deliver(.binary(bytes)) }
        guard let text = String(validating: bytes.readableBytesView, as: UTF8.self) else {
            return close(.init(.dataInconsistentWithMessage, "a text is not UTF-8"))
        }
        deliver(.text(text))
    }

    private func deliver(_ message: WebSocketConnection.Message) {
        if let waiter {
            self.waiter = nil
            waiter.succeed(message)
        } else {
            messages.append(message)
        }
    }

    private func receiveClose(_ frame: WebSocketFrame, _ context: ChannelHandlerContext) {
        if !hasSentClose { sendClose(.init(.normalClosure)) }
        end()
        // The server closes first (RFC 6455, section 7.1.1).
        context.close(promise: nil)
    }

    private func sendClose(_ closure: WebSocketConnection.Closure) {
        hasSentClose = true
        var bytes = ByteBuffer()
        bytes.write(webSocketErrorCode: closure.code)
        var reason = closure.reason.prefix(123)
        while reason.utf8.count > 123 { reason.removeLast() }
        bytes.writeSubstring(reason)
        write(.connectionClose, bytes, nil)
    }

    /// Answers a ping. While an answer has not gone out, only the newest question is kept (RFC 6455, section 5.5.3).
    private func pong(_ bytes: ByteBuffer) {
        guard !isSendingPong else {
            nextPong = bytes
            return
        }
        isSendingPong = true
        let written = eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess { [weak self] in
            guard let self else { return }
            isSendingPong = false
            guard let next = nextPong, !hasSentClose else { return }
            nextPong = nil
            pong(next)
        }
        write(.pong, bytes, written)
    }

    private func ping() {
        guard let context, !hasSentClose else { return }
        guard unanswered < limits.unansweredPings else { return context.close(promise: nil) }
        unanswered += 1
        write(.ping, ByteBuffer(), nil)
        schedulePing()
    }

    private func schedulePing() {
        pinging = eventLoop.assumeIsolated().scheduleTask(in: limits.pingInterval) { [weak self] in self?.ping() }
    }

    private func write(_ opcode: WebSocketOpcode, _ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?) {
        guard let context else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: opcode, data: bytes)), promise: promise)
    }

    /// No more messages arrive.
    private func end() {
        hasEnded = true
        messages = []
        partial = nil
        pinging?.cancel()
        pinging = nil
        closing?.cancel()
        closing = nil
        let waiting = waiter
        waiter = nil
        waiting?.succeed(nil)
    }
}
