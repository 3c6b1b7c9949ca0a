import CLinuxUDP
import Glibc
import Synchronization
public import Transport

/// A separate thread for the sessions of one shard. It waits for datagrams, for posted closures, for the handler's
/// deadline and for other descriptors, and calls the handler for each.
///
/// ```swift
/// let shard = try ShardThread(name: "media", port: port) { context in MediaShard(context) }
/// shard.post { handler, now in handler.add(session, at: now) }
/// ```
///
/// Without ``stop()`` the thread ends when the last reference to this object is gone.
public final class ShardThread<Handler: ShardHandler>: Sendable {
    /// Work for the handler, on its thread.
    public typealias Message = @Sendable (_ handler: Handler, _ now: Instant) -> Void

    private let core: ShardCore<Message>
    /// The thread, until it has been joined.
    private let thread: Locked<pthread_t?>

    /// Starts the thread and makes its handler there.
    ///
    /// - Parameter name: The thread's name in tools, at most 15 bytes.
    public convenience init(
        name: String, port: UDPPort, makeHandler: @escaping @Sendable (ShardContext) -> Handler
    ) throws(SystemCallError) {
        try self.init(name: name, port: port, address: ShardAddress(), makeHandler: makeHandler)
    }

    /// Starts the thread of an address that is known already, and makes its handler there.
    ///
    /// - Parameters:
    ///   - name: The thread's name in tools, at most 15 bytes.
    ///   - address: Where the thread's messages are posted. An address serves one thread.
    public init(
        name: String, port: UDPPort, address: ShardAddress<Handler>,
        makeHandler: @escaping @Sendable (ShardContext) -> Handler
    ) throws(SystemCallError) {
        let core = try ShardCore<Message>(port: port, mailbox: address.mailbox)
        let thread = try startThread {
            linux_thread_prepare(name)
            core.identity.store(UInt(pthread_self()), ordering: .relaxed)
            guard let buffers = core.buffers.withLock({ $0.take() }) else { return }
            let context = ShardContext(port: core.port, epoll: core.epoll, now: MonotonicClock.now)
            var loop = ShardLoop(core: core, context: context, handler: makeHandler(context), buffers: buffers)
            loop.run()
            context.removeWatches()
            core.identity.store(0, ordering: .relaxed)
            core.meters.finalProcessorTime.store(ProcessorClock.thread, ordering: .relaxed)
        }
        self.core = core
        self.thread = Locked(thread)
    }

    deinit {
        stop()
        thread.withLock { thread in
            if let thread { _ = pthread_detach(thread) }
        }
    }

    /// Runs `message` on the thread, after those that were posted before it.
    ///
    /// It is cheap: a lock, and a system call only when no other message waits.
    ///
    /// - Returns: False when the thread has been stopped; the message is dropped then.
    @discardableResult
    public func post(_ message: @escaping Message) -> Bool {
        core.mailbox.post(message)
    }

    /// Asks the thread to end after the messages that have been posted so far. It does not wait.
    public func stop() {
        core.isStopping.store(true, ordering: .releasing)
        core.mailbox.wake()
    }

    /// Waits until the thread has ended, which requires a ``stop()``. It must not be called on the thread itself, where
    /// it does nothing.
    public func join() {
        // This is checked before the lock, which another caller holds while it waits for this thread.
        guard !isCurrent else { return }
        thread.withLock { thread in
            guard let running = thread else { return }
            pthread_join(running, nil)
            thread = nil
        }
    }

    /// Whether the caller runs on this thread.
    public var isCurrent: Bool {
        core.identity.load(ordering: .relaxed) == UInt(pthread_self())
    }

    /// What the thread has done. Reading resets ``ShardCounters/longestTurn``.
    public var counters: ShardCounters {
        var counters = ShardCounters()
        counters.turns = core.meters.turns.load(ordering: .relaxed)
        counters.batches = core.meters.batches.load(ordering: .relaxed)
        counters.messages = core.meters.messages.load(ordering: .relaxed)
        counters.deadlines = core.meters.deadlines.load(ordering: .relaxed)
        counters.overdueDeadlines = core.meters.overdueDeadlines.load(ordering: .relaxed)
        counters.longestTurn = .nanoseconds(core.meters.longestTurn.exchange(0, ordering: .relaxed))
        counters.processorTime = .nanoseconds(processorTime)
        counters.waitingMessages = core.mailbox.count
        return counters
    }

    private var processorTime: Int64 {
        let final = core.meters.finalProcessorTime.load(ordering: .relaxed)
        guard final == 0 else { return final }
        // While another caller joins, the clock is not worth the wait.
        return thread.withLockIfAvailable { thread in
            var clock = clockid_t()
            guard let thread, pthread_getcpuclockid(thread, &clock) == 0 else { return 0 }
            return nanoseconds(of: clock)
        } ?? 0
    }
}

/// The state that the thread and its owner share.
final class ShardCore<Message: Sendable>: Sendable {
    let port: UDPPort
    let mailbox: ShardMailbox<Message>
    let epoll: Int32
    let meters = ShardMeters()
    let isStopping = Atomic(false)
    let identity = Atomic<UInt>(0)
    /// Made with the core, so that the creator gets the error when memory is short. The thread then takes it.
    let buffers: Locked<DatagramBuffers?>

    init(port: UDPPort, mailbox: ShardMailbox<Message>) throws(SystemCallError) {
        let buffers = try DatagramBuffers()
        let epoll = try SystemCallError.check(linux_epoll_create(), "epoll_create1", "cannot start a media thread")
        // Edge-triggered: each write to the mailbox wakes the thread once, and the counter need not be read.
        var watched = [(mailbox.descriptor, UInt32(LINUX_EVENT_READABLE | LINUX_EVENT_EDGE), ShardToken.mailbox)]
        if let socket = port.ipv4 {
            watched.append((socket.descriptor, UInt32(LINUX_EVENT_READABLE), ShardToken.ipv4))
        }
        if let socket = port.ipv6 {
            watched.append((socket.descriptor, UInt32(LINUX_EVENT_READABLE), ShardToken.ipv6))
        }
        do throws(SystemCallError) {
            for (descriptor, bits, token) in watched {
                _ = try SystemCallError.check(
                    linux_epoll_add(epoll, descriptor, bits, token), "epoll_ctl",
                    "cannot watch UDP port \(port.localPort)")
            }
        } catch {
            linux_close(epoll)
            throw error
        }
        self.buffers = Locked(buffers)
        self.port = port
        self.mailbox = mailbox
        self.epoll = epoll
    }

    deinit {
        linux_close(epoll)
    }
}

/// Runs `body` on a new thread.
private func startThread(_ body: @escaping @Sendable () -> Void) throws(SystemCallError) -> pthread_t {
    final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
    let retained = Unmanaged.passRetained(Body(body))
    var thread = pthread_t()
    let error = pthread_create(
        &thread, nil,
        { argument in
            // Only the new thread takes over the reference from above.
            if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
            return nil
        }, retained.toOpaque())
    guard error == 0 else {
        retained.release()
        throw SystemCallError(call: "pthread_create", purpose: "cannot start a media thread", errorNumber: error)
    }
    return thread
}
