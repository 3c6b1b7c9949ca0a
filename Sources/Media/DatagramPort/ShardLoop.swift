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

    init(core: ShardCore<Message>, context: ShardContext, handler: Handler, buffers: DatagramBuffers) {
        self.core = core
        self.context = context
        self.handler = handler
        self.buffers = buffers
    }

    mutating func run() {
        var events = [linux_event](repeating: linux_event(), count: 64)
        var pauses = false
        while !core.isStopping.load(ordering: .acquiring) {
            let timeout = timeout(pausing: pauses)
            let count = events.withUnsafeMutableBufferPointer {
                linux_epoll_wait(core.epoll, $0.baseAddress, Int32($0.count), timeout)
            }
            let start = refreshClock()
            runMessages()
            handler.handleWake(at: refreshClock())
            takeAwaitedMessages()
            for index in 0..<max(0, Int(count)) { dispatch(events[index]) }
            pauses = runDeadline()
            core.meters.countTurn(MonotonicClock.now.nanoseconds &- start.nanoseconds)
        }
        run(core.mailbox.close())
        handler.handleStop(at: refreshClock())
    }

    @discardableResult
    private func refreshClock() -> Instant {
        context.now = MonotonicClock.now
        return context.now
    }

    /// Nanoseconds until the deadline; -1 without a deadline.
    private func timeout(pausing: Bool) -> Int64 {
        guard let deadline = handler.nextDeadline else { return -1 }
        let left = (deadline - MonotonicClock.now).wholeNanoseconds
        return max(left, pausing ? Self.overduePause : 0)
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

    private mutating func receive(_ family: TransportAddress.Family) {
        guard let socket = core.port.socket(for: family) else { return }
        for _ in 0..<Self.maximumBatchesPerTurn {
            switch buffers.receive(from: socket, meters: core.port.meters) {
            case .empty: return
            case .nothingUsable: continue
            case .datagrams(let batch):
                ShardMeters.add(1, to: core.meters.batches)
                handler.handleDatagrams(batch, at: refreshClock())
                takeAwaitedMessages()
                // What comes now is found by the next wait: a call that finds nothing costs as much as one that does.
                if !batch.isFull { return }
            }
        }
    }

    private mutating func takeAwaitedMessages() {
        guard handler.awaitsMessages else { return }
        runMessages()
        handler.handleMessagesTaken(at: refreshClock())
    }

    private mutating func runMessages() {
        core.mailbox.take(into: &messages)
        guard !messages.isEmpty else { return }
        run(messages)
        messages.removeAll(keepingCapacity: true)
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
