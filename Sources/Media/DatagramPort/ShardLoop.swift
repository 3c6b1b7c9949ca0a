import CLinuxUDP
import Glibc
import Synchronization
import Transport

/// The turns of a ``ShardThread``: wait, datagrams, descriptors, messages, deadline.
struct ShardLoop<Handler: ShardHandler> {
    typealias Message = ShardThread<Handler>.Message

    /// Batches taken from one socket before something else has its turn: a flood must not starve the timers.
    private static var maximumBatchesPerTurn: Int { 16 }
    /// How long the thread pauses when a handler leaves its deadline in the past.
    private static var overduePause: Int64 { 1_000_000 }

    let core: ShardCore<Message>
    let context: ShardContext
    let handler: Handler
    let buffers: DatagramBuffers

    func run() {
        var events = [linux_event](repeating: linux_event(), count: 64)
        var messages: [Message] = []
        var pauses = false
        while !core.isStopping.load(ordering: .acquiring) {
            let timeout = timeout(pausing: pauses)
            let count = events.withUnsafeMutableBufferPointer {
                linux_epoll_wait(core.epoll, $0.baseAddress, Int32($0.count), timeout)
            }
            let start = refreshClock()
            for index in 0..<max(0, Int(count)) { dispatch(events[index]) }
            core.mailbox.take(into: &messages)
            if !messages.isEmpty {
                run(messages)
                messages.removeAll(keepingCapacity: true)
            }
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

    /// Nanoseconds until the deadline; -1 when there is none.
    private func timeout(pausing: Bool) -> Int64 {
        guard let deadline = handler.nextDeadline else { return -1 }
        let left = (deadline - MonotonicClock.now).wholeNanoseconds
        return max(left, pausing ? Self.overduePause : 0)
    }

    private func dispatch(_ event: linux_event) {
        switch event.token {
        case ShardToken.mailbox: break
        case ShardToken.ipv4: receive(.ipv4)
        case ShardToken.ipv6: receive(.ipv6)
        default:
            refreshClock()
            context.dispatch(event)
        }
    }

    private func receive(_ family: TransportAddress.Family) {
        guard let socket = core.port.socket(for: family) else { return }
        for _ in 0..<Self.maximumBatchesPerTurn {
            switch buffers.receive(from: socket, meters: core.port.meters) {
            case .empty: return
            case .nothingUsable: continue
            case .datagrams(let batch):
                ShardMeters.add(1, to: core.meters.batches)
                handler.handleDatagrams(batch, at: refreshClock())
            }
        }
    }

    private func run(_ messages: [Message]) {
        for message in messages { message(handler, refreshClock()) }
        ShardMeters.add(messages.count, to: core.meters.messages)
    }

    /// Answers whether the handler left its deadline in the past.
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
