import RTP
import Transport

/// Where a camera hands in the batches of one track. Each shard that has viewers or taps of the track has a queue of its
/// own here, and takes it out at its next wake-up. The queues share the batches.
///
/// One short lock per batch, none per packet. The arrays are kept, so a steady stream allocates nothing.
public final class TrackInlet: Sendable {
    /// What was thrown away because a shard did not take it in time.
    public struct Drops: Sendable, Equatable {
        /// Packets.
        public var packets: UInt64 = 0
        /// The bytes of their payloads.
        public var bytes: UInt64 = 0

        static func += (left: inout Drops, right: Drops) {
            left.packets += right.packets
            left.bytes += right.bytes
        }
    }

    /// What waits for one shard.
    fileprivate struct Feed {
        /// Whether the shard wants the track.
        var isOpen = false
        var batches: [PacketBatch] = []
        /// The memory that the batches hold.
        var byteCount = 0
        /// Something has been thrown away since the shard last looked. What follows goes too: a stream with one gap costs
        /// the viewers one key frame, and one with many gaps everything.
        var isFull = false
        var hasRestarted = false
        /// Whether the shard has been notified.
        var isReady = false
    }

    private struct State {
        var feeds: [Feed]
        /// Whether it takes batches: it has not been closed, and nobody has shut it.
        var isTaking = true
        var isClosed = false
        var drops = Drops()
        var turns = Turns(.shards)
    }

    /// More than this waiting means that the shard has stopped; the camera must not fill the memory meanwhile. A viewer that is
    /// so far behind skips to the next key frame anyway (``RelayLimits/maximumLag``).
    static let maximumLag = Duration.seconds(2)
    /// Two seconds of a camera of 30 Mbit/s.
    static let maximumBytes = 8 << 20

    private let state: Locked<State>
    /// The shards' lists, by the shards' numbers.
    private let lists: [ReadyList]

    /// An inlet that feeds only the shard `home` at first.
    init(lists: [ReadyList], home: Int = 0) {
        self.lists = lists
        var feeds = [Feed](repeating: Feed(), count: lists.count)
        if feeds.indices.contains(home) { feeds[home].isOpen = true }
        state = Locked(State(feeds: feeds))
    }

    /// Hands a batch in.
    public func deliver(_ batch: PacketBatch) {
        let (ready, first) = state.withLock { state -> (UInt64, Int) in
            guard state.isTaking else { return (0, 0) }
            var ready: UInt64 = 0
            for index in state.feeds.indices where state.feeds[index].isOpen {
                guard state.feeds[index].take(batch) else {
                    state.drops += Drops(packets: UInt64(batch.packets.count), bytes: UInt64(batch.payloadByteCount))
                    continue
                }
                if state.feeds[index].becomeReady() { ready |= 1 << UInt64(index) }
            }
            return (ready, state.turns.next(of: state.feeds.count))
        }
        announce(ready, from: first)
    }

    /// Says that what comes from now on has nothing to do with what came before: the source starts its numbers again, and
    /// what the rings hold must not be shown again. What still waits here is from before, and is dropped too.
    public func recordRestart() {
        let ready = state.withLock { state -> UInt64 in
            guard !state.isClosed else { return 0 }
            var ready: UInt64 = 0
            for index in state.feeds.indices where state.feeds[index].isOpen {
                state.feeds[index].empty()
                state.feeds[index].hasRestarted = true
                if state.feeds[index].becomeReady() { ready |= 1 << UInt64(index) }
            }
            return ready
        }
        announce(ready)
    }

    /// Wakes shards, beginning with the number `first`: what they send at once leaves about in this order.
    private func announce(_ ready: UInt64, from first: Int = 0) {
        let before = ready & ((1 << UInt64(first)) - 1)
        wake(ready & ~before)
        wake(before)
    }

    private func wake(_ shards: UInt64) {
        var left = shards
        while left != 0 {
            lists[left.trailingZeroBitCount].add(self)
            left &= left - 1
        }
    }

    /// Takes all batches of `shard` out, into `batches`, whose storage the inlet uses from now on. Answers whether the
    /// source has started again before them.
    func take(for shard: Int = 0, into batches: inout [PacketBatch]) -> Bool {
        batches.removeAll(keepingCapacity: true)
        return state.withLock { state in
            swap(&state.feeds[shard].batches, &batches)
            state.feeds[shard].byteCount = 0
            state.feeds[shard].isFull = false
            state.feeds[shard].isReady = false
            defer { state.feeds[shard].hasRestarted = false }
            return state.feeds[shard].hasRestarted
        }
    }

    /// Stops accepting anything.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.isTaking = false
            for index in state.feeds.indices { state.feeds[index] = Feed() }
        }
    }

    /// Shuts the inlet, so that what is handed in goes nowhere, or opens it again. What waits when it is shut goes too. What
    /// comes after it was opened has nothing to do with what came before.
    public func setTaking(_ isTaking: Bool) {
        let hasOpened = state.withLock { state in
            guard !state.isClosed, state.isTaking != isTaking else { return false }
            state.isTaking = isTaking
            for index in state.feeds.indices where !isTaking { state.feeds[index].empty() }
            return isTaking
        }
        if hasOpened { recordRestart() }
    }

    /// What was thrown away so far.
    public var drops: Drops { state.withLock { $0.drops } }
}

extension TrackInlet.Feed {
    /// Keeps a batch. False when there is no room.
    fileprivate mutating func take(_ batch: PacketBatch) -> Bool {
        if let oldest = batches.first {
            // A batch that comes alone is taken whatever its size.
            let isTooLate = batch.arrival - oldest.arrival > TrackInlet.maximumLag
            let isTooLarge = byteCount + batch.footprint > TrackInlet.maximumBytes
            if isTooLate || isTooLarge { isFull = true }
        }
        guard !isFull else { return false }
        batches.append(batch)
        byteCount += batch.footprint
        return true
    }

    fileprivate mutating func empty() {
        batches.removeAll(keepingCapacity: true)
        byteCount = 0
        isFull = false
    }

    /// True if the shard has to be notified.
    fileprivate mutating func becomeReady() -> Bool {
        defer { isReady = true }
        return !isReady
    }
}

/// The sharing of a track between shards.
extension TrackInlet {
    /// Feeds `shard` too, from the place of `other`: what waits for `other` waits for it as well. Called on the thread
    /// of `other`, which hands over at the same moment what it has taken before.
    func open(for shard: Int, like other: Int) {
        let ready = state.withLock { state -> UInt64 in
            guard !state.isClosed, !state.feeds[shard].isOpen else { return 0 }
            var feed = state.feeds[other]
            feed.isOpen = true
            feed.isReady = !feed.batches.isEmpty || feed.hasRestarted
            let isReady = feed.isReady
            state.feeds[shard] = feed
            return isReady ? 1 << UInt64(shard) : 0
        }
        announce(ready)
    }

    /// Feeds `shard` no longer.
    func shut(for shard: Int) {
        state.withLock { $0.feeds[shard] = Feed() }
    }

    /// The shards that are fed, one bit for each.
    var openFeeds: UInt64 {
        state.withLock { state in
            state.feeds.indices.reduce(0) { $0 | (state.feeds[$1].isOpen ? 1 << UInt64($1) : 0) }
        }
    }
}

/// The inlets that hold something for one shard, in the order in which they got it.
///
/// A shard's wake-up costs what has come, however many cameras there are. Any thread adds; the shard's thread takes.
final class ReadyList: Sendable {
    private struct State {
        var inlets: [TrackInlet] = []
        var wake: (@Sendable () -> Void)?
        var isClosed = false
    }

    private let state = Locked(State())

    /// - Parameter wake: Wakes the shard. Called when an inlet is added to an empty list.
    init(wake: (@Sendable () -> Void)? = nil) {
        state.withLock { $0.wake = wake }
    }

    /// Adds an inlet that had nothing for this shard before.
    func add(_ inlet: TrackInlet) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isClosed else { return nil }
            state.inlets.append(inlet)
            return state.inlets.count == 1 ? state.wake : nil
        }
        wake?()
    }

    /// Exchanges the inlets with `inlets`, which should be empty: both arrays keep their memory.
    func take(into inlets: inout [TrackInlet]) {
        state.withLock { state in swap(&state.inlets, &inlets) }
    }

    /// The shard has ended: inlets are no longer kept for it.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.inlets = []
        }
    }
}
