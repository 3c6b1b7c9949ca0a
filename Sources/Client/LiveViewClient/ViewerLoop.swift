import DatagramPort
import HomeTypes
import SDP
import Synchronization
import Transport

/// One thread on which any number of views run, each on its own socket, as viewers on different machines would.
public final class ViewerLoop: Sendable {
    private let thread: ShardThread<ViewerLoopHandler>

    /// Starts the thread.
    public init() throws {
        // The loop's own socket is never used; each view has its own.
        let port = try UDPPort(.loopback())
        thread = try ShardThread(name: "viewers", port: port) { context in ViewerLoopHandler(context) }
    }

    /// Starts a view with the answer to its offer. `handler` is called on the loop's thread.
    /// - Returns: the view, to control it.
    /// - Throws: what is wrong with the answer; `failedPrecondition` after ``stop()``.
    public func start(
        _ offered: OfferedView, answerSdp: String, assemblesFrames: Bool,
        handler: @escaping @Sendable (ViewingEvent) -> Void
    ) throws -> RunningView {
        let negotiated = try offered.accept(answerSdp: answerSdp)
        let view = RunningView(thread: thread, negotiated: negotiated)
        let (identifier, last) = (view.identifier, view.last)
        let isPosted = thread.post { loop, now in
            loop.add(
                identifier, offered: offered, negotiated: negotiated, assemblesFrames: assemblesFrames,
                last: last, handler: handler, at: now)
        }
        guard isPosted else {
            throw HomeError.failedPrecondition("this loop of live views has been stopped; make another one")
        }
        return view
    }

    /// The processor time that the thread has used.
    public var processorTime: Duration { thread.counters.processorTime }

    /// Ends all views, each with a goodbye and the event `ended`, and the thread.
    public func stop() {
        thread.stop()
        thread.join()
    }
}

/// The state of the loop's thread.
final class ViewerLoopHandler: ShardHandler {
    private let context: ShardContext
    private var views: [UInt64: ViewingSession] = [:]
    private var watches: [UInt64: [ShardContext.Watch]] = [:]
    private var deadlines = DeadlineQueue<UInt64>()
    /// Where the counts of each view are kept after its end.
    private var lasts: [UInt64: Locked<ViewingStatistics?>] = [:]
    private var buffers: DatagramBuffers?

    init(_ context: ShardContext) {
        self.context = context
    }

    func add(
        _ identifier: UInt64, offered: OfferedView, negotiated: NegotiatedSession, assemblesFrames: Bool,
        last: Locked<ViewingStatistics?>, handler: @escaping @Sendable (ViewingEvent) -> Void, at now: Instant
    ) {
        do {
            if buffers == nil { buffers = try .forRuns() }
            offered.port.receiveRuns()
            let session = try ViewingSession(
                offered: offered, negotiated: negotiated, assemblesFrames: assemblesFrames, handler: handler, at: now)
            views[identifier] = session
            lasts[identifier] = last
            watches[identifier] = try offered.port.descriptors.map { family, descriptor in
                try context.watch(descriptor, for: .readable) { [weak self, weak session] _ in
                    guard let self, let session else { return }
                    self.receive(session, identifier, family)
                }
            }
            service(identifier, session, at: now)
        } catch {
            remove(identifier)
            handler(.ended(reason: "the view could not be started: \(error)"))
        }
    }

    func remove(_ identifier: UInt64) {
        for watch in watches.removeValue(forKey: identifier) ?? [] { context.unwatch(watch) }
        views[identifier] = nil
        deadlines.remove(identifier)
        lasts[identifier] = nil
    }

    /// Calls a closure with a view if the view still runs.
    func with(_ identifier: UInt64, at now: Instant, _ body: (ViewingSession) -> Void) {
        guard let session = views[identifier] else { return }
        body(session)
        service(identifier, session, at: now)
    }

    private func receive(_ session: ViewingSession, _ identifier: UInt64, _ family: TransportAddress.Family) {
        guard let buffers else { return }
        let now = MonotonicClock.now
        // Bounded, so that a flood on one socket does not starve the other sockets.
        for _ in 0..<8 {
            guard let batch = session.port.receive(family, into: buffers) else { break }
            for datagram in batch { session.handle(datagram, scratch: context.sendBuffer, at: now) }
            if !batch.isFull { break }
        }
        service(identifier, session, at: now)
    }

    private func service(_ identifier: UInt64, _ session: ViewingSession, at now: Instant) {
        session.service(scratch: context.sendBuffer, at: now)
        if session.hasEnded {
            let statistics = session.statistics()
            lasts[identifier]?.withLock { $0 = statistics }
            remove(identifier)
        } else if let deadline = session.nextDeadline {
            deadlines.schedule(identifier, at: deadline)
        }
    }

    func handleDatagrams(_ datagrams: DatagramBatch, at now: Instant) {}

    func handleDeadline(at now: Instant) {
        // All deadlines are collected first: a view whose deadline stays in the past must not keep this loop running.
        var due: [UInt64] = []
        while let identifier = deadlines.popDue(at: now) { due.append(identifier) }
        for identifier in due {
            guard let session = views[identifier] else { continue }
            // A deadline that has moved to a later time is only scheduled again.
            if let deadline = session.nextDeadline, deadline <= now { session.handleDeadline(at: now) }
            service(identifier, session, at: now)
        }
    }

    var nextDeadline: Instant? { deadlines.next }

    /// Ends every view as its own `stop` does.
    func handleStop(at now: Instant) {
        for identifier in Array(views.keys) { with(identifier, at: now) { $0.stop(at: now) } }
    }
}
