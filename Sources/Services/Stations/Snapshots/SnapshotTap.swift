import MediaRelay
import RTP
import Transport

/// Reads what a track's ring holds since the newest key frame, or the first picture to arrive if it holds none.
final class SnapshotTap: TrackTap {
    private struct State {
        var batches: [TappedBatch] = []
        var hasPicture = false
        var isEnded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    /// What has arrived, once it contains a whole picture.
    var batches: [TappedBatch]? { state.withLock { $0.hasPicture ? $0.batches : nil } }

    /// Waits until a whole picture has arrived, the track has ended, or ``finish()`` is called.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.hasPicture || state.isEnded { return true }
                state.waiter = continuation
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Ends the wait. What is being handed over still arrives until the tap is removed: half of the ring would end with
    /// an old picture.
    func finish() {
        let waiter = state.withLock { state in
            state.isEnded = true
            return state.waiter.take()
        }
        waiter?.resume()
    }

    func receive(_ batch: TappedBatch) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.batches.append(batch)
            // A marker ends a picture.
            if batch.batch.packets.dropFirst(batch.firstPacket).contains(where: { $0.flags.contains(.marker) }) {
                state.hasPicture = true
            }
            return state.hasPicture ? state.waiter.take() : nil
        }
        waiter?.resume()
    }

    func trackRestarted() {
        state.withLock { state in
            if !state.hasPicture { state.batches = [] }
        }
    }

    func trackEnded() { finish() }
}
