import DatagramPort
import RTP
import Transport

/// What taps hand over on the relay's thread, until their consumer's thread reads it: one short lock for each batch,
/// and one wake-up for everything that comes before the consumer looks. It is bounded in time and bytes.
///
/// The arrays are kept, so a steady stream allocates nothing.
public final class TapQueue: Sendable {
    /// How much may wait.
    public struct Limits: Sendable, Equatable {
        /// The longest time between the arrivals of the oldest and the newest batch that wait.
        public var duration: Duration
        /// The same while something waits that came out of a ring when its tap was added: it may be old, and comes all
        /// at once. Counted from when the tap was added.
        public var startDuration: Duration
        /// The most memory that the batches may hold. A batch that goes to several taps in turn counts once, and one
        /// that comes to an empty queue is taken whatever its size.
        public var bytes: Int
        /// What happens beyond these limits.
        public var overflow: Overflow

        /// Describes the limits.
        public init(duration: Duration, startDuration: Duration = .zero, bytes: Int = 64 << 20, overflow: Overflow) {
            self.duration = duration
            self.startDuration = max(startDuration, duration)
            self.bytes = bytes
            self.overflow = overflow
        }
    }

    /// What a queue does that holds as much as it may.
    public enum Overflow: Sendable, Equatable {
        /// It drops all that waits and goes on with the newest batch, for a consumer that must not be late.
        case skip
        /// It drops what comes until the consumer has looked: one gap costs a consumer less than many.
        case refuse
    }

    /// What a tap has brought.
    public enum Event: Sendable {
        /// The first batch follows.
        case begins(TapBeginning)
        case batch(TappedBatch)
        /// Batches of this tap have been dropped here. A tap that resumes at a key frame brings nothing more before
        /// one, and says so again from time to time.
        case gap
        /// The source has restarted.
        case restarted
        /// The track has gone.
        case ended

        /// When a batch arrived; nil for everything else.
        public var arrival: Instant? {
            if case .batch(let tapped) = self { tapped.batch.arrival } else { nil }
        }
    }

    /// An event and its tap.
    public struct Entry: Sendable {
        public let tap: QueueTap
        public let event: Event
    }

    /// What was dropped because the consumer did not read it in time.
    public struct Drops: Sendable, Equatable {
        public var packets: UInt64
        /// The bytes of their payloads.
        public var bytes: UInt64

        public init(packets: UInt64 = 0, bytes: UInt64 = 0) {
            self.packets = packets
            self.bytes = bytes
        }

        fileprivate mutating func count(_ tapped: TappedBatch) {
            packets += UInt64(tapped.batch.packets.count)
            bytes += UInt64(tapped.batch.payloadByteCount)
        }
    }

    fileprivate struct State {
        var entries: [Entry] = []
        /// When the oldest waiting batch arrived, or when its tap was added if that is later.
        var oldest: Instant?
        /// Whether the oldest waiting batch came out of a ring.
        var startsInRing = false
        var byteCount = 0
        var newest: PacketBatch?
        /// Something has been refused since the consumer last looked.
        var isFull = false
        var isClosed = false
        var hasWoken = false
        /// How often the consumer has looked.
        var looks: UInt64 = 0
        var drops = Drops()
        var wake: (@Sendable () -> Void)?
    }

    private let limits: Limits
    private let state = Locked(State())
    /// A tap that waits for a key frame says so this often.
    fileprivate static let repetition = Duration.seconds(2)

    /// Makes a queue.
    /// - Parameter wake: called when something has come and the consumer has not been woken since it last looked. It
    ///   must not wait.
    public init(limits: Limits, wake: (@Sendable () -> Void)? = nil) {
        self.limits = limits
        state.withLock { $0.wake = wake }
    }

    /// Sets how to wake the consumer, before anything comes.
    public func setWake(_ wake: @escaping @Sendable () -> Void) {
        state.withLock { $0.wake = wake }
    }

    /// Makes a tap that hands over to this queue.
    /// - Parameters:
    ///   - id: a name of the consumer's choice.
    ///   - resumesAtKeyFrame: whether nothing may follow dropped batches but a key frame. For video whose consumer
    ///     cannot leave the rest out itself.
    ///   - now: the present. What arrived before comes out of the ring.
    public func makeTap(id: UInt64 = 0, resumesAtKeyFrame: Bool = false, at now: Instant = MonotonicClock.now)
        -> QueueTap
    {
        QueueTap(id: id, queue: self, resumesAtKeyFrame: resumesAtKeyFrame, since: now)
    }

    /// Moves everything into `entries`, whose storage the queue uses from now on. Answers false once the queue has been
    /// closed.
    public func take(into entries: inout [Entry]) -> Bool {
        entries.removeAll(keepingCapacity: true)
        return state.withLock { state in
            swap(&state.entries, &entries)
            state.recordEmpty()
            state.isFull = false
            state.hasWoken = false
            state.looks += 1
            return !state.isClosed
        }
    }

    /// Drops what waits, takes nothing more, and wakes the consumer.
    public func close() {
        let wake = state.withLock { state in
            state.entries = []
            state.recordEmpty()
            state.isClosed = true
            return state.wake
        }
        wake?()
    }

    /// What has been dropped so far.
    public var drops: Drops { state.withLock { $0.drops } }

    fileprivate func deliver(_ event: Event, from tap: QueueTap) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isClosed else { return nil }
            if case .batch(let tapped) = event {
                state.add(tapped, from: tap, limits)
            } else {
                // What follows a restart begins with a key frame anyway.
                if case .restarted = event { tap.awaitsKeyFrame = false }
                state.entries.append(Entry(tap: tap, event: event))
            }
            guard !state.entries.isEmpty, !state.hasWoken else { return nil }
            state.hasWoken = true
            return state.wake
        }
        wake?()
    }
}

extension TapQueue.State {
    fileprivate mutating func recordEmpty() {
        oldest = nil
        startsInRing = false
        byteCount = 0
        newest = nil
    }

    /// Keeps a batch, or counts it as dropped.
    fileprivate mutating func add(_ tapped: TappedBatch, from tap: QueueTap, _ limits: TapQueue.Limits) {
        let batch = tapped.batch
        let start = tap.awaitsKeyFrame ? Self.keyFrame(in: tapped) : tapped.firstPacket
        if start != nil, !hasRoom(for: batch, limits) {
            switch limits.overflow {
            case .skip: dropAll()
            case .refuse: isFull = true
            }
        }
        // What is dropped here may have been the tap's own.
        guard let start = tap.awaitsKeyFrame ? Self.keyFrame(in: tapped) : start, !isFull else {
            drops.count(tapped)
            tap.awaitsKeyFrame = tap.resumesAtKeyFrame
            if tap.gapReported.map({ batch.arrival - $0 >= TapQueue.repetition }) ?? true {
                reportGap(of: tap, at: batch.arrival)
            }
            return
        }
        if oldest == nil {
            startsInRing = batch.arrival < tap.since
            oldest = max(batch.arrival, tap.since)
        }
        byteCount += newest === batch ? 0 : batch.footprint
        newest = batch
        tap.awaitsKeyFrame = false
        tap.gapReported = nil
        var resumed = tapped
        resumed.firstPacket = start
        entries.append(TapQueue.Entry(tap: tap, event: .batch(resumed)))
    }

    private func hasRoom(for batch: PacketBatch, _ limits: TapQueue.Limits) -> Bool {
        guard !isFull else { return false }
        guard let oldest else { return true }
        let isTooLate = batch.arrival - oldest > (startsInRing ? limits.startDuration : limits.duration)
        let isTooLarge = byteCount + (newest === batch ? 0 : batch.footprint) > limits.bytes
        return !isTooLate && !isTooLarge
    }

    /// Drops all batches, and leaves a gap in their place for each of the taps.
    private mutating func dropAll() {
        var kept = 0
        for index in entries.indices {
            let entry = entries[index]
            if case .batch(let tapped) = entry.event {
                drops.count(tapped)
                guard entry.tap.gapLook != looks else { continue }
                entry.tap.gapLook = looks
                entry.tap.awaitsKeyFrame = entry.tap.resumesAtKeyFrame
                entries[kept] = TapQueue.Entry(tap: entry.tap, event: .gap)
            } else {
                entries[kept] = entry
            }
            kept += 1
        }
        entries.removeLast(entries.count - kept)
        recordEmpty()
    }

    /// Says that batches of a tap have been dropped, once before the consumer looks.
    private mutating func reportGap(of tap: QueueTap, at now: Instant) {
        tap.gapReported = now
        guard tap.gapLook != looks else { return }
        tap.gapLook = looks
        entries.append(TapQueue.Entry(tap: tap, event: .gap))
    }

    private static func keyFrame(in tapped: TappedBatch) -> Int? {
        tapped.batch.packets.dropFirst(tapped.firstPacket).firstIndex { $0.flags.contains([.keyFrame, .startsFrame]) }
    }
}

/// A tap that hands over to a ``TapQueue``.
public final class QueueTap: TrackTap, @unchecked Sendable {
    // Proof for @unchecked: the variables are touched only by `TapQueue` while it holds its lock, and a tap belongs to
    // one queue as long as it lives.

    /// The name that the queue's consumer gave it.
    public let id: UInt64
    private let queue: TapQueue
    fileprivate let resumesAtKeyFrame: Bool
    /// When it was made: what arrived before comes out of a ring.
    fileprivate let since: Instant
    /// Whether everything before the next key frame is dropped.
    fileprivate var awaitsKeyFrame = false
    /// Before which look of the consumer a gap was last reported.
    fileprivate var gapLook: UInt64 = .max
    /// When the gap that still lasts was last reported.
    fileprivate var gapReported: Instant?

    fileprivate init(id: UInt64, queue: TapQueue, resumesAtKeyFrame: Bool, since: Instant) {
        self.id = id
        self.queue = queue
        self.resumesAtKeyFrame = resumesAtKeyFrame
        self.since = since
    }

    public func tapBegins(_ beginning: TapBeginning) { queue.deliver(.begins(beginning), from: self) }
    public func receive(_ batch: TappedBatch) { queue.deliver(.batch(batch), from: self) }
    public func trackRestarted() { queue.deliver(.restarted, from: self) }
    public func trackEnded() { queue.deliver(.ended, from: self) }
}
