import DatagramPort
import SDP
import Synchronization
import Transport

/// A view that runs on a ``ViewerLoop``; its methods may be called from any thread.
public struct RunningView: Sendable {
    private static let counter = Atomic<UInt64>(0)

    let identifier: UInt64
    private let thread: ShardThread<ViewerLoopHandler>
    /// What offer and answer agree on.
    public let negotiated: NegotiatedSession
    /// What it had received when it ended; nil while it runs.
    let last = Locked<ViewingStatistics?>(nil)

    init(thread: ShardThread<ViewerLoopHandler>, negotiated: NegotiatedSession) {
        self.thread = thread
        self.negotiated = negotiated
        identifier = Self.counter.wrappingAdd(1, ordering: .relaxed).newValue
    }

    /// What has been received so far, or until the view ended.
    public func statistics() async -> ViewingStatistics {
        let (identifier, last) = (self.identifier, self.last)
        return await withCheckedContinuation { continuation in
            let posted = thread.post { loop, now in
                var result: ViewingStatistics?
                loop.with(identifier, at: now) { result = $0.statistics() }
                continuation.resume(returning: result ?? last.withLock { $0 } ?? ViewingStatistics())
            }
            if !posted { continuation.resume(returning: last.withLock { $0 } ?? ViewingStatistics()) }
        }
    }

    /// Sends `packets` to the camera, one every 20 ms from now on: Opus at 48 kHz.
    public func talk(_ packets: [[UInt8]]) {
        let identifier = identifier
        thread.post { loop, now in loop.with(identifier, at: now) { $0.startTalking(packets, at: now) } }
    }

    /// Sends RTCP BYE and ends the view.
    public func stop() {
        let identifier = identifier
        thread.post { loop, now in loop.with(identifier, at: now) { $0.stop(at: now) } }
    }
}
