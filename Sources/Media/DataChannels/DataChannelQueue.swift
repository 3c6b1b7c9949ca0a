import Dispatch
import SCTP
import Transport

/// What waits for the host's thread: packets, bounded in bytes, and commands.
final class DataChannelQueue: Sendable {
    enum Command: Sendable {
        case send(DataChannelLine, [UInt8], channel: UInt16?, kind: String?)
        case end(DataChannelLine, [UInt8]?, @Sendable () -> Void)
        case read(@Sendable (DataChannelCounters) -> Void)
    }

    struct Work {
        var packets: [(line: DataChannelLine, bytes: [UInt8])] = []
        var commands: [Command] = []
        var isStopped = false

        var isEmpty: Bool { packets.isEmpty && commands.isEmpty }
    }

    private struct State {
        var work = Work()
        var byteCount = 0
        var byteCounts: [SCTPLine: Int] = [:]
        var dropped: UInt64 = 0
        var hasThread = false
    }

    private let state = Locked(State())
    private let somethingToDo = DispatchSemaphore(value: 0)
    private let limits: DataChannelLimits
    /// Starts the thread; false if the system cannot. Called with the first work.
    private let start: @Sendable (DataChannelQueue) -> Bool

    init(limits: DataChannelLimits, start: @escaping @Sendable (DataChannelQueue) -> Bool) {
        self.limits = limits
        self.start = start
    }

    /// Adds a packet, or counts it if there is no room.
    func add(_ packet: [UInt8], of line: DataChannelLine) {
        let limits = limits
        change { state in
            let own = state.byteCounts[line.line, default: 0] + packet.count
            guard own <= limits.waitingBytes, state.byteCount + packet.count <= limits.totalWaitingBytes else {
                state.dropped &+= 1
                return
            }
            state.byteCounts[line.line] = own
            state.byteCount += packet.count
            state.work.packets.append((line, packet))
        }
    }

    /// Adds a command.
    /// - Returns: false if nobody runs it, because the host has been stopped or has no thread.
    @discardableResult
    func post(_ command: Command) -> Bool {
        change { $0.work.commands.append(command) }
    }

    /// Ends the thread after what has been added so far.
    func stop() {
        state.withLock { $0.work.isStopped = true }
        somethingToDo.signal()
    }

    @discardableResult
    private func change(_ body: @escaping @Sendable (inout State) -> Void) -> Bool {
        let (isFirst, needsThread, isStopped) = state.withLock { state -> (Bool, Bool, Bool) in
            guard !state.work.isStopped else { return (false, false, true) }
            let isFirst = state.work.isEmpty
            body(&state)
            defer { state.hasThread = true }
            return (isFirst && !state.work.isEmpty, !state.hasThread, false)
        }
        if isStopped { return false }
        if needsThread, !start(self) {
            state.withLock { state in
                state.work = Work()
                state.work.isStopped = true
            }
            return false
        }
        if isFirst { somethingToDo.signal() }
        return true
    }

    /// Waits for work, at most for `pause`, and takes all of it.
    func take(within pause: Duration?) -> Work {
        let deadline = pause.map { DispatchTime.now() + .milliseconds(Int($0 / .milliseconds(1))) } ?? .distantFuture
        _ = somethingToDo.wait(timeout: deadline)
        return state.withLock { state in
            let work = state.work
            state.work = Work()
            state.work.isStopped = work.isStopped
            state.byteCount = 0
            state.byteCounts.removeAll(keepingCapacity: true)
            return work
        }
    }

    /// Packets that found no room.
    var dropped: UInt64 { state.withLock { $0.dropped } }
}
