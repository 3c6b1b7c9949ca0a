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

    // MARK: What the gate tells

    /// The head that was passed on last announces a body.
    func expectBody(_ framing: Framing) {
        if case .head = self.phase { self.phase = .body(framing) }
    }

    /// The request has ended.
    func endRequest() {
        if case .discarding = self.phase { return }
        self.phase = .answering
    }

    /// The response has been written; the next request may come.
    func beginNextRequest() {
        guard case .answering = self.phase else { return }
        self.phase = .head
        self.requestCount &+= 1
        self.isInFirstLine = true
        guard let context, !self.isHandingOn else { return }
        if self.handOn(context) { context.fireChannelReadComplete() }
        self.readIfWanted(context)
    }

    /// Passes on and reads nothing until ``resume()``: the request that has begun has to wait.
    func pause() {
        self.isPaused = true
    }

    /// Continues the request.
    func resume() {
        self.isPaused = false
        guard let context, !self.isHandingOn else { return }
        if self.handOn(context) { context.fireChannelReadComplete() }
        self.readIfWanted(context)
    }

    /// Stops passing anything on.
    func discard() {
        self.phase = .discarding
        self.discarded = self.held.readableBytes
        self.held = ByteBuffer()
        if let context, !self.isHandingOn { self.readIfWanted(context) }
    }

    // MARK: Reading

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = self.unwrapInboundIn(data)
        if case .discarding = self.phase {
            self.discarded += bytes.readableBytes
            if self.discarded > Self.maximumDiscarded { context.close(promise: nil) }
            return
        }
        if self.held.readableBytes == 0 { self.held = bytes } else { self.held.writeBuffer(&bytes) }
        _ = self.handOn(context)
        if self.held.readableBytes > Self.maximumHeld { context.close(promise: nil) }
    }

    func read(context: ChannelHandlerContext) {
        if self.mayRead { context.read() } else { self.isReadWanted = true }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event as? ChannelEvent == .inputClosed else { return context.fireUserInboundEventTriggered(event) }
        if case .discarding = self.phase { return context.close(promise: nil) }
        if self.held.readableBytes > 0 {
            self.hasInputEnded = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    private var mayRead: Bool {
        switch self.phase {
        case .head, .body: self.held.readableBytes == 0 && !self.isPaused
        case .answering: false
        case .discarding: true
        }
    }

    private func readIfWanted(_ context: ChannelHandlerContext) {
        guard self.isReadWanted, self.mayRead else { return }
        self.isReadWanted = false
        context.read()
    }

    /// Passes on what is held, as far as the request reaches.
    /// - Returns: whether anything was passed on.
    private func handOn(_ context: ChannelHandlerContext) -> Bool {
        guard !self.isHandingOn else { return false }
        self.isHandingOn = true
        defer { self.isHandingOn = false }
        var hasHandedOn = false
        while let slice = self.nextSlice() {
            hasHandedOn = true
            let request = self.requestCount
            let isWholeLine = slice.readableBytesView.last == 0x0A
            context.fireChannelRead(self.wrapInboundOut(slice))
            // After the parser has seen the line, because its errors are about it.
            if isWholeLine, request == self.requestCount { self.isInFirstLine = false }
        }
        if self.held.readableBytes == 0, self.hasInputEnded {
            self.hasInputEnded = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        return hasHandedOn
    }

    private func nextSlice() -> ByteBuffer? {
        let available = self.held.readableBytes
        guard available > 0, !self.isPaused else { return nil }
        switch self.phase {
        case .head, .body(.chunked):
            return self.held.readSlice(length: self.lineLength ?? available)
        case .body(.length(let remaining)):
            let count = min(remaining, available)
            self.phase = .body(.length(remaining - count))
            // A parser that has seen the whole body reports it; if it does not, it has to see what follows.
            return self.held.readSlice(length: count > 0 ? count : available)
        case .answering, .discarding:
            return nil
        }
    }

    /// The bytes up to and including the first line feed.
    private var lineLength: Int? {
        let view = self.held.readableBytesView
        guard let end = view.firstIndex(of: 0x0A) else { return nil }
        return end - view.startIndex + 1
    }
}
