import MediaRelay
import RTP
import Transport

/// What a track's ring holds since the newest key frame, or the first picture to arrive if it holds none.
struct SnapshotFeed: ~Copyable {
    /// What fills the feed.
    let tap: QueueTap
    /// Ends the wait. What is being handed over still arrives until the tap is removed: half of the ring would end with
    /// an old picture.
    let finish: @Sendable () -> Void
    private let queue: TapQueue
    private let news = Signal()
    private var entries: [TapQueue.Entry] = []
    private var collected: [TappedBatch] = []
    private var hasPicture = false
    private var hasEnded = false

    init() {
        // A ring holds less, and the tap is removed after the first picture.
        queue = TapQueue(limits: .init(duration: .seconds(30), overflow: .skip))
        tap = queue.makeTap(resumesAtKeyFrame: true)
        finish = { [news] in news.finish() }
        queue.setWake { [news] in news.set() }
    }

    /// Waits until a whole picture has arrived, the track has ended, or ``finish`` is called.
    mutating func wait() async {
        while true {
            read()
            if hasPicture || hasEnded { return }
            guard await news.wait() else { return }
        }
    }

    /// What has arrived, once it contains a whole picture.
    mutating func takeBatches() -> [TappedBatch]? {
        read()
        return hasPicture ? collected : nil
    }

    private mutating func read() {
        _ = queue.take(into: &entries)
        for entry in entries {
            switch entry.event {
            case .batch(let tapped):
                collected.append(tapped)
                // A marker ends a picture.
                if tapped.batch.packets.dropFirst(tapped.firstPacket).contains(where: { $0.flags.contains(.marker) }) {
                    hasPicture = true
                }
            case .restarted, .gap:
                if !hasPicture { collected = [] }
            case .ended: hasEnded = true
            case .begins: break
            }
        }
        entries.removeAll()
    }
}

/// Lets one task wait for news from another thread.
private final class Signal: Sendable {
    private struct State {
        var isSet = false
        var isFinished = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    /// There is news.
    func set() {
        state.withLock { state in
            state.isSet = true
            return state.waiter.take()
        }?.resume()
    }

    /// Nobody needs to wait any longer.
    func finish() {
        state.withLock { state in
            state.isFinished = true
            return state.waiter.take()
        }?.resume()
    }

    /// Waits for news; false if the wait is over.
    func wait() async -> Bool {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                if state.isSet || state.isFinished { return true }
                state.waiter = continuation
                return false
            }
            if isDue { continuation.resume() }
        }
        return state.withLock { state in
            state.isSet = false
            return !state.isFinished
        }
    }
}
