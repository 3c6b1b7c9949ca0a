import DatagramPort
import Glibc
import Logging
import NIOCore
import Transport

/// Decides which connections a listener accepts, before anything is made for them, and pauses the listener when it has
/// run out of descriptors. It is on the listener's own channel.
///
/// It accepts connections as fast as they come, because connections that wait in the kernel share one queue: a
/// stranger's flood before the owner. Connections that the server above has no time for yet wait here, and the hosts
/// take turns.
///
/// A connection is counted from here until it has closed, including while it waits and during its TLS handshake.
final class ConnectionAdmissionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never
    typealias OutboundOut = Never

    /// How long nothing is accepted when there are no descriptors: until those that are now being closed are free.
    static let exhaustedPause = TimeAmount.milliseconds(50)
    /// How often the log reports that.
    static let exhaustedInterval = Duration.seconds(60)
    /// How long nothing is accepted when every place belongs to a client that has signed in.
    static let fullPause = TimeAmount.milliseconds(100)
    /// How many connections without a sign-in are closed at a time when there are no descriptors.
    static let shedCount = 16
    /// How many connections are accepted before the event loop does other work.
    static let acceptedAtOnce: UInt = 16

    private let connections: ConnectionLedger
    private let starts: ConnectionStarts
    private let logger: Logger
    private var resumption: Scheduled<Void>?
    private var waiting = HostQueue<any Channel>()
    /// Whether the server above accepts connections.
    private var isWanted = true
    private var isHandingOnLater = false
    /// How many were handed over and have not started.
    private var starting = 0
    private var reportedExhaustion: Instant?
    private var filter = FloodFilter()
    private var hearing: Scheduled<Void>?

    init(_ shared: ConnectionGuard, logger: Logger) {
        self.connections = shared.connections
        self.starts = shared.starts
        self.logger = logger
    }

    /// The host of a connection; the unspecified address if it has none.
    static func peer(_ address: SocketAddress?) -> TransportAddress {
        address?.ipAddress.flatMap { TransportAddress($0, port: 0) } ?? TransportAddress(ipv4: 0, port: 0)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let connection = unwrapInboundIn(data)
        let peer = Self.peer(connection.remoteAddress)
        let isAdmitted = self.connections.enter(
            connection, from: peer, close: { connection.close(promise: nil) })
        guard isAdmitted else {
            connection.close(promise: nil)
            if self.connections.isFull { pause(context, for: Self.fullPause) }
            if filter.recordRefusal(of: peer, at: MonotonicClock.now) { applyFilter(context) }
            return
        }
        connection.closeFuture.whenComplete { [connections = self.connections] _ in connections.leave(connection) }
        waiting.append(connection, of: ConnectionLedger.host(of: peer))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        handOn(context)
        acceptMore(context)
    }

    func read(context: ChannelHandlerContext) {
        isWanted = true
        if !waiting.isEmpty { handOnLater(context) }
        acceptMore(context)
    }

    /// Hands over as many as the server above accepts; the others wait here.
    private func acceptMore(_ context: ChannelHandlerContext) {
        if resumption == nil { context.read() }
    }

    private func handOn(_ context: ChannelHandlerContext) {
        guard isWanted, !waiting.isEmpty, starting < ConnectionStarts.atOnce else { return }
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        while starting < ConnectionStarts.atOnce, let connection = waiting.popFirst() {
            // A connection that was closed meanwhile to make room.
            guard connections.contains(connection) else { continue }
            starting += 1
            self.starts.begin(connection) { [eventLoop = context.eventLoop] in
                eventLoop.execute { bound.value.handler.oneHasStarted(bound.value.context) }
            }
            connection.closeFuture.whenComplete { [starts = self.starts] _ in starts.end(connection) }
            context.fireChannelRead(wrapInboundOut(connection))
        }
        isWanted = false
        context.fireChannelReadComplete()
        handOnLater(context)
    }

    private func oneHasStarted(_ context: ChannelHandlerContext) {
        starting -= 1
        if context.channel.isActive { handOn(context) }
    }

    /// Asks the server above whether it accepts more. It answers with a read, at once or later.
    private func handOnLater(_ context: ChannelHandlerContext) {
        guard !isHandingOnLater else { return }
        isHandingOnLater = true
        context.eventLoop.assumeIsolated().execute {
            self.isHandingOnLater = false
            guard context.channel.isActive else { return }
            if self.isWanted { self.handOn(context) } else { context.pipeline.syncOperations.read() }
        }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        try? context.channel.syncOptions?.setOption(.maxMessagesPerRead, value: Self.acceptedAtOnce)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError, [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(error.errnoCode) else {
            return context.fireErrorCaught(error)
        }
        let closed = connections.shed(Self.shedCount)
        let now = MonotonicClock.now
        if reportedExhaustion.map({ now - $0 >= Self.exhaustedInterval }) ?? true {
            reportedExhaustion = now
            logger.warning(
                "no file descriptors are left; unauthenticated connections are being closed",
                metadata: ["reason": "\(error)", "closed": "\(closed)"])
        }
        pause(context, for: Self.exhaustedPause)
    }

    /// Makes the kernel drop packets of hosts that are refused all the time, for a moment.
    private func applyFilter(_ context: ChannelHandlerContext) {
        try? context.channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            _ = self.filter.apply(to: $0)
        }
        guard hearing == nil, let deadline = filter.nextDeadline else { return }
        let delay: Duration = max(deadline - MonotonicClock.now, .milliseconds(1))
        hearing = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) {
            self.hearing = nil
            guard context.channel.isActive else { return }
            _ = self.filter.expire(at: MonotonicClock.now)
            self.applyFilter(context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        resumption?.cancel()
        resumption = nil
        hearing?.cancel()
        hearing = nil
    }

    private func pause(_ context: ChannelHandlerContext, for time: TimeAmount) {
        guard resumption == nil else { return }
        // The library's own pause leaves the socket in the selector, which then wakes the event loop again and again
        // and keeps a core busy. Only this removes it.
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        resumption = context.eventLoop.assumeIsolated().scheduleTask(in: time) {
            self.resumption = nil
            guard context.channel.isActive else { return }
            try? context.channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }
}
