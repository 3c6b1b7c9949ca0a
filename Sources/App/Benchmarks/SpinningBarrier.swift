import Glibc
import Synchronization

/// Lets threads wait for each other for a moment.
///
/// A waiting thread looks repeatedly before it gives up its processor. A frame for ten viewers takes some 100 µs, and waking a
/// sleeping thread takes half of that. The shards of a gateway do not have this cost, because they do not wait for each other.
final class SpinningBarrier: Sendable {
    /// How often a thread looks before it lets others run: some 50 µs. With more threads than processors, the thread that is late
    /// also needs a turn.
    private static let looksBeforeYielding = 20_000

    private let threads: Int
    private let arrived = Atomic(0)
    private let round = Atomic(0)

    init(_ threads: Int) {
        self.threads = threads
    }

    /// Returns when all threads have called it.
    func wait() {
        let current = round.load(ordering: .acquiring)
        if arrived.add(1, ordering: .acquiringAndReleasing).newValue == threads {
            // No thread can arrive again before the next round begins.
            arrived.store(0, ordering: .relaxed)
            round.store(current + 1, ordering: .releasing)
            return
        }
        var looks = 0
        while round.load(ordering: .acquiring) == current {
            looks += 1
            if looks >= Self.looksBeforeYielding { sched_yield() }
        }
    }
}
