import CLinuxUDP
import Glibc
import Synchronization
import Transport

/// One turn of a ``ShardThread``: wait, messages, datagrams and descriptors, deadline.
///
/// Messages come before datagrams, because a message may explain a datagram: a session is posted before its answer is
/// sent, and so before its viewer's first check. A message that comes while datagrams are read is handled as soon as
/// the handler awaits one (``ShardHandler/awaitsMessages``).
struct ShardLoop<Handler: ShardHandler> {
    typealias Message = ShardThread<Handler>.Message

    /// The most batches from one socket before other work has its turn: a flood must not starve the timers.
    private static var maximumBatchesPerTurn: Int { 16 }
    /// How long the thread pauses when a handler leaves its deadline in the past.
    private static var overduePause: Int64 { 1_000_000 }

    let core: ShardCore<Message>
    let context: ShardContext
    let handler: Handler
    let buffers: DatagramBuffers
    /// Empty between uses; it keeps its memory.
    private var messages: [Message] = []
    private var paces = SocketPaces()

    init(core: ShardCore<Message>, context: ShardContext, handler: Handler, buffers: DatagramBuffers) {
        self.core = core
        self.context = context
        self.handler = handler
        self.buffers = buffers
    }

    mutating func run() {
        var events = [linux_event](repeating: linux_event(), count: 64)
        var pauses = false
        refreshClock()
        while !core.isStopping.load(ordering: .acquiring) {
            let timeout = timeout(pausing: pauses)
            let count = events.withUnsafeMutableBufferPointer {
                linux_epoll_wait(core.epoll, $0.baseAddress, Int32($0.count), timeout)
            }
            let start = refreshClock()
            runMessages()
            handler.handleWake(at: context.now)
            takeAwaitedMessages()
            for index in 0..<max(0, Int(count)) { dispatch(events[index]) }
            receiveWaiting()
            pauses = runDeadline()
            core.meters.countTurn(refreshClock().nanoseconds &- start.nanoseconds)
        }
        run(core.mailbox.close())
        handler.handleStop(at: refreshClock())
    }

    @discardableResult
    private func refreshClock() -> Instant {
        context.now = MonotonicClock.now
        return context.now
    }

    /// Nanoseconds until the deadline, from the time at which the last turn ended; -1 without a deadline.
    private func timeout(pausing: Bool) -> Int64 {
        var next = paces.next
        var least: Int64 = 0
        if let deadline = handler.nextDeadline, deadline < next {
            next = deadline
            if pausing { least = Self.overduePause }
        }
        guard next < .distantFuture else { return -1 }
        return max(next.nanoseconds &- context.now.nanoseconds, least)
    }

    private mutating func dispatch(_ event: linux_event) {
        switch event.token {
        case ShardToken.mailbox: break
        case ShardToken.ipv4: receive(.ipv4)
        case ShardToken.ipv6: receive(.ipv6)
        default:
            refreshClock()
            context.dispatch(event)
        }
    }

    /// Reads the sockets that are not watched, if it is time.
    private mutating func receiveWaiting() {
        if paces.ipv4.shouldRead(at: context.now) { receive(.ipv4) }
        if paces.ipv6.shouldRead(at: context.now) { receive(.ipv6) }
    }

    private mutating func receive(_ family: TransportAddress.Family) {
        guard let socket = core.port.socket(for: family) else { return }
        let canWait = read(socket)
        if paces.recordRead(of: family, canWait: canWait, at: context.now) { watch(socket, family) }
    }

    /// Reads what has come. Returns whether that was something that can wait, and all of it.
    private mutating func read(_ socket: UDPSocket) -> Bool {
        var found = ReadFindings()
        for _ in 0..<Self.maximumBatchesPerTurn {
            switch buffers.receive(from: socket, meters: core.port.meters) {
            case .empty: return found.canWait
            case .nothingUsable: continue
            case .datagrams(let batch):
                ShardMeters.add(1, to: core.meters.batches)
                handler.handleDatagrams(batch, at: refreshClock())
                found.add(canWait: handler.mayReadLater)
                takeAwaitedMessages()
                // What comes now is found by the next wait: a call that finds nothing costs as much as one that does.
                if !batch.isFull { return found.canWait }
            }
        }
        return false
    }

    /// Lets the thread wake for what comes on a socket, or no longer.
    private mutating func watch(_ socket: UDPSocket, _ family: TransportAddress.Family) {
        let isWatching = paces[family].isWatching
        let token = family == .ipv4 ? ShardToken.ipv4 : ShardToken.ipv6
        let bits = isWatching ? UInt32(LINUX_EVENT_READABLE) : 0
        let result = linux_epoll_modify(core.epoll, socket.descriptor, bits, token)
        if result != 0, isWatching { paces[family].readLater(at: context.now) }
    }

    private mutating func takeAwaitedMessages() {
        guard handler.awaitsMessages else { return }
        runMessages()
        handler.handleMessagesTaken(at: refreshClock())
    }

    private mutating func runMessages() {
        if !core.mailbox.isEmpty { takeMessages() }
    }

    private mutating func takeMessages() {
        core.mailbox.take(into: &messages)
        run(messages)
        messages.removeAll(keepingCapacity: true)
        refreshClock()
    }

    private func run(_ messages: [Message]) {
        for message in messages { message(handler, refreshClock()) }
        ShardMeters.add(messages.count, to: core.meters.messages)
    }

    /// Handles the deadline if it is due. Returns whether the handler left its deadline in the past.
    private func runDeadline() -> Bool {
        guard let deadline = handler.nextDeadline else { return false }
        let now = refreshClock()
        guard deadline <= now else { return false }
        handler.handleDeadline(at: now)
        ShardMeters.add(1, to: core.meters.deadlines)
        guard let next = handler.nextDeadline, next <= now else { return false }
        ShardMeters.add(1, to: core.meters.overdueDeadlines)
        return true
    }
}
