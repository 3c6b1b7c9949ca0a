import NIOCore

/// Lets one request at a time into the parser, and stops reading from the connection until its response has been written.
///
/// A parser that is handed a buffer full of pipelined requests makes objects of all of them at once, a hundred times
/// the size of the bytes. So this handler, below the parser and above TLS, holds the bytes and passes them on line by
/// line: a request ends only at the end of a line, or after the length that its head states. What it holds is bounded
/// by what one read brings, because it requests no further read while it holds something.
final class RequestPacer: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// How a request's body ends.
    enum Framing: Equatable {
        case length(Int)
        case chunked
    }

    private enum Phase {
        /// A head is being read, or waited for.
        case head
        case body(Framing)
        /// A whole request has been passed on, and its response is not written yet.
        case answering
        /// The connection is no longer HTTP. Everything is passed on as it comes.
        case upgraded
        /// The connection is being closed; what still arrives is ignored.
        case discarding
    }

    /// How many bytes it may hold. More arrive only from a client that keeps sending and then closes its side, because
    /// the library reads a socket that has ended to its end.
    static let maximumHeld = 64 * 1024
    /// How many bytes are read and dropped of a connection that is being closed.
    static let maximumDiscarded = 1 << 20

    private var phase = Phase.head
    private var held = ByteBuffer()
    private var discarded = 0
    private var requestCount: UInt64 = 0
    private var isHandingOn = false
    private var isPaused = false
    private var isReadWanted = false
    private var hasInputEnded = false
    private var context: ChannelHandlerContext?
    /// Whether the current head has not got beyond its first line.
    private(set) var isInFirstLine = true

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    // MARK: What the gate reports

    /// The head that was passed on last announces a body.
    func expectBody(_ framing: Framing) {
        if case .head = phase { phase = .body(framing) }
    }

    /// The request has ended.
    func endRequest() {
        if case .discarding = phase { return }
        phase = .answering
    }

    /// The response has been written; the next request may come.
    func beginNextRequest() {
        guard case .answering = phase else { return }
        phase = .head
        requestCount &+= 1
        isInFirstLine = true
        guard let context, !isHandingOn else { return }
        if handOn(context) { context.fireChannelReadComplete() }
        readIfWanted(context)
    }

    /// Passes on and reads nothing until ``resume()``: the request that has begun has to wait.
    func pause() {
        isPaused = true
    }

    /// Continues the request.
    func resume() {
        isPaused = false
        guard let context, !isHandingOn else { return }
        if handOn(context) { context.fireChannelReadComplete() }
        readIfWanted(context)
    }

    /// Passes on everything that comes from now on, to the handler that follows now.
    func upgrade() {
        phase = .upgraded
        guard let context else { return }
        if handOn(context) { context.fireChannelReadComplete() }
        readIfWanted(context)
    }

    /// Stops passing anything on.
    func discard() {
        phase = .discarding
        discarded = held.readableBytes
        held = ByteBuffer()
        if let context, !isHandingOn { readIfWanted(context) }
    }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        if case .discarding = phase {
            discarded += bytes.readableBytes
            if discarded > Self.maximumDiscarded { context.close(promise: nil) }
            return
        }
        if held.readableBytes == 0 { held = bytes } else { held.writeBuffer(&bytes) }
        _ = handOn(context)
        if held.readableBytes > Self.maximumHeld { context.close(promise: nil) }
    }

    func read(context: ChannelHandlerContext) {
        if mayRead { context.read() } else { isReadWanted = true }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event as? ChannelEvent == .inputClosed else { return context.fireUserInboundEventTriggered(event) }
        if case .discarding = phase { return context.close(promise: nil) }
        if held.readableBytes > 0 {
            hasInputEnded = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    private var mayRead: Bool {
        switch phase {
        case .head, .body: held.readableBytes == 0 && !isPaused
        case .answering: false
        case .upgraded, .discarding: true
        }
    }

    private func readIfWanted(_ context: ChannelHandlerContext) {
        guard isReadWanted, mayRead else { return }
        isReadWanted = false
        context.read()
    }

    /// Passes on what is held, as far as the request reaches.
    /// - Returns: whether anything was passed on.
    private func handOn(_ context: ChannelHandlerContext) -> Bool {
        guard !isHandingOn else { return false }
        isHandingOn = true
        defer { isHandingOn = false }
        var hasHandedOn = false
        while let slice = nextSlice() {
            hasHandedOn = true
            let request = requestCount
            let isWholeLine = slice.readableBytesView.last == 0x0A
            context.fireChannelRead(wrapInboundOut(slice))
            // After the parser has seen the line, because its errors are about it.
            if isWholeLine, request == requestCount { isInFirstLine = false }
        }
        if held.readableBytes == 0, hasInputEnded {
            hasInputEnded = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        return hasHandedOn
    }

    private func nextSlice() -> ByteBuffer? {
        let available = held.readableBytes
        guard available > 0, !isPaused else { return nil }
        switch phase {
        case .head, .body(.chunked):
            return held.readSlice(length: lineLength ?? available)
        case .body(.length(let remaining)):
            let count = min(remaining, available)
            phase = .body(.length(remaining - count))
            // A parser that has seen the whole body reports it; if it does not, it has to see what follows.
            return held.readSlice(length: count > 0 ? count : available)
        case .upgraded:
            return held.readSlice(length: available)
        case .answering, .discarding:
            return nil
        }
    }

    /// The bytes up to and including the first line feed.
    private var lineLength: Int? {
        let view = held.readableBytesView
        guard let end = view.firstIndex(of: 0x0A) else { return nil }
        return end - view.startIndex + 1
    }
}
