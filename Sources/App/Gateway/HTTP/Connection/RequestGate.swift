import Foundation
import HomeTypes
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Asks the connection to report to the client that its body is wanted (`100 Continue`).
struct ContinueRequest: Sendable {}

/// A request that broke off while its body was being read. The client has its answer already, or is gone.
struct RequestBrokenOff: Error {}

/// Refuses what is not a proper request, and closes connections in a way that lets the client read why.
///
/// It is above the parser. With the pacer below it, it decides when the next request may come: when this one has ended
/// and the socket has accepted its response.
final class RequestGate: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// One request and its response.
    private struct Exchange {
        let isHTTP10: Bool
        let expectsContinue: Bool
        /// Whether only the headers are wanted.
        let isHead: Bool
        var closesAfterwards: Bool
        var wasHandedOn = false
        var isReadingRequest = true
        var hasBodyBegun = false
        var hasResponseBegun = false

        init(_ head: HTTPRequestHead) {
            self.isHTTP10 = head.version.minor == 0
            self.isHead = head.method == .HEAD
            self.expectsContinue = !self.isHTTP10 && head.headers.contains(name: "expect")
            // What follows a request to upgrade or to tunnel is not parsed.
            self.closesAfterwards =
                !head.isKeepAlive || head.method == .CONNECT || head.headers.contains(name: "upgrade")
        }
    }

    private enum State {
        case open
        /// The connection is a WebSocket.
        case upgraded
        /// A refusal is being sent.
        case refusing
        /// Everything has been sent; the client has a moment to read it.
        case lingering
    }

    /// How long a client that is refused may take to read the response before the connection closes.
    static let lingerTime = TimeAmount.seconds(1)

    private let pacer: RequestPacer
    private let turn: RequestTurn
    private var isSignedIn = false
    private var state = State.open
    private var exchange: Exchange?
    /// What the connection becomes if the response says so.
    private var upgrade: WebSocketConnection?
    private var lingering: Scheduled<Void>?
    private var closePromises: [EventLoopPromise<Void>] = []

    init(pacer: RequestPacer, turns: RequestTurns) {
        self.pacer = pacer
        self.turn = RequestTurn(turns)
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .open = state else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            exchange = Exchange(head)
            if let refusal = RequestRules.refusal(of: head) { return refuse(refusal, context) }
            if head.headers.contains(name: "transfer-encoding") {
                pacer.expectBody(.chunked)
            } else if let length = head.headers.first(name: "content-length").flatMap({ Int($0) }), length > 0 {
                pacer.expectBody(.length(length))
            }
            takeTurn(context)
        case .body:
            exchange?.hasBodyBegun = true
        case .end:
            exchange?.isReadingRequest = false
            pacer.endRequest()
        }
        if turn.isAwaited { return turn.keep(unwrapInboundIn(data)) }
        exchange?.wasHandedOn = true
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed, turn.isAwaited {
            turn.hasInputEnded = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Requests of strangers wait for each other; nothing more of a waiting request is read.
    private func takeTurn(_ context: ChannelHandlerContext) {
        if isSignedIn { return }
        let bound = NIOLoopBound((gate: self, context: context), eventLoop: context.eventLoop)
        let isTaken = turn.take(context) { bound.value.gate.turnHasCome(bound.value.context) }
        if !isTaken { pacer.pause() }
    }

    private func turnHasCome(_ context: ChannelHandlerContext) {
        guard let parts = turn.begin(context.eventLoop) else { return }
        exchange?.wasHandedOn = true
        for part in parts { context.fireChannelRead(wrapInboundOut(part)) }
        context.fireChannelReadComplete()
        if turn.hasInputEnded {
            turn.hasInputEnded = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        pacer.resume()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        guard case .open = state else { return }
        refuse(RequestRules.refusal(error, inFirstLine: pacer.isInFirstLine), context)
    }

    private func refuse(_ refusal: RequestRefusal, _ context: ChannelHandlerContext) {
        let wasHandedOn = exchange.map { $0.isReadingRequest && $0.wasHandedOn } ?? false
        pacer.discard()
        turn.giveBack()
        if exchange?.hasResponseBegun == true {
            exchange?.closesAfterwards = true
        } else {
            state = .refusing
            write(refusal, context)
        }
        // A reader that waits for the rest of a body must not mistake the part that arrived for the whole.
        if wasHandedOn { context.fireErrorCaught(RequestBrokenOff()) }
    }

    private func write(_ refusal: RequestRefusal, _ context: ChannelHandlerContext) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = (try? encoder.encode(HomeErrorResponse(refusal.error))) ?? Data()
        var head = HTTPResponseHead(version: .http1_1, status: refusal.status)
        head.headers = [
            "content-type": "application/json", "content-length": "\(body.count)", "cache-control": "no-store",
            "x-content-type-options": "nosniff", "connection": "close",
        ]
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { _ in self.linger(context) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }

    // MARK: Responses

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .upgraded = state {
            // The end of the response, which the client sees as the end of the WebSocket.
            promise?.succeed()
            return
        }
        guard case .open = state else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.status == .switchingProtocols:
            become(head, promise, context)
        case .head(var head):
            upgrade = nil
            complete(&head)
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body where exchange?.isHead == true:
            promise?.succeed()
        case .body:
            context.write(data, promise: promise)
        case .end:
            let written = promise ?? context.eventLoop.makePromise(of: Void.self)
            written.futureResult.assumeIsolated().whenSuccess { self.responseWasWritten(context) }
            guard exchange?.isHead == true else { return context.write(data, promise: written) }
            // The encoder marks the end of a body of unknown length, also after headers that no body follows. So it does not
            // learn of the end here (RFC 9112, section 6.3).
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer()))), promise: written)
        }
    }

    private func complete(_ head: inout HTTPResponseHead) {
        guard head.status.code >= 200, let exchange else { return }
        self.exchange?.hasResponseBegun = true
        turn.giveBack()
        if exchange.isHTTP10 {
            head.version = .http1_0
            // Only the end of the connection would mark the end of the body.
            if !head.headers.contains(name: "content-length") { self.exchange?.closesAfterwards = true }
        }
        // Whether the rest of the body comes, and where the next request begins, is unknown then.
        if exchange.isReadingRequest { self.exchange?.closesAfterwards = true }
        if self.exchange?.closesAfterwards == true {
            head.headers.replaceOrAdd(name: "connection", value: "close")
        } else if exchange.isHTTP10 {
            head.headers.replaceOrAdd(name: "connection", value: "keep-alive")
        }
    }

    /// Sends the head that makes the connection a WebSocket, and puts its handlers between the socket and HTTP.
    private func become(_ head: HTTPResponseHead, _ promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext)
    {
        guard let upgrade, exchange?.isReadingRequest == false else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return context.close(promise: nil)
        }
        self.upgrade = nil
        turn.giveBack()
        context.write(wrapOutboundOut(.head(head)), promise: promise)
        do {
            try context.pipeline.syncOperations.addHandlers(
                [
                    ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: upgrade.limits.longestMessage)),
                    WebSocketFrameEncoder(), upgrade.open(),
                ], position: .after(pacer))
            state = .upgraded
            pacer.upgrade()
        } catch {
            context.close(promise: nil)
        }
    }

    private func responseWasWritten(_ context: ChannelHandlerContext) {
        guard case .open = state, let exchange else { return }
        self.exchange = nil
        if exchange.closesAfterwards || exchange.isReadingRequest {
            linger(context)
        } else {
            pacer.beginNextRequest()
        }
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        if event is SignedIn {
            isSignedIn = true
            if !turn.isAwaited { turn.giveBack() }
            promise?.succeed()
            return
        }
        if let request = event as? WebSocketRequest {
            upgrade = request.connection
            promise?.succeed()
            return
        }
        guard event is ContinueRequest else { return context.triggerUserOutboundEvent(event, promise: promise) }
        promise?.succeed()
        guard case .open = state, let exchange, exchange.expectsContinue, exchange.isReadingRequest,
            !exchange.hasResponseBegun, !exchange.hasBodyBegun
        else { return }
        let head = HTTPResponseHead(version: .http1_1, status: .continue)
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
    }

    // MARK: The end

    /// Signals that nothing more comes, and closes a moment later. A connection that is closed while bytes of the
    /// client are unread is reset, and the client may never see the response.
    private func linger(_ context: ChannelHandlerContext) {
        if case .lingering = state { return }
        guard context.channel.isActive else { return }
        state = .lingering
        pacer.discard()
        lingering = context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingerTime) {
            self.lingering = nil
            context.close(promise: nil)
        }
        context.close(mode: .output, promise: nil)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard lingering != nil else { return context.close(mode: mode, promise: promise) }
        if let promise { closePromises.append(promise) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end()
    }

    private func end() {
        turn.giveBack()
        lingering?.cancel()
        lingering = nil
        let promises = closePromises
        closePromises = []
        for promise in promises { promise.succeed() }
    }
}
