import Transport

/// How a datagram came in.
struct DatagramPath: BitwiseCopyable {
    /// The sender's address.
    var source: TransportAddress
    /// The local address that it came to.
    var local: TransportAddress
    /// The shard whose socket received it: the door of its source.
    var door: Int
    /// The shard that held the source when the datagram came in; nil if none did.
    var holder: Int?
}

/// Datagrams on their way from one shard to another, in the order in which they came. They are copied into memory that
/// is used again, so a steady stream allocates nothing.
///
/// A datagram costs more than its bytes (``cost(of:)``), and the bounds count all of it: a stream of tiny ones would
/// otherwise take a hundred times as much memory as they say.
struct HandOver {
    private struct Entry: BitwiseCopyable {
        var offset: Int
        var count: Int
        var path: DatagramPath
        var next: Int?
    }

    /// As much memory stays whatever is in use.
    static let keptBytes = 256 << 10
    /// How often in a row it is emptied with little in it until memory beyond that is given back.
    static let calmTurns = 64

    private var bytes: [UInt8] = []
    private var entries: [Entry] = []
    /// The first datagram that has not been passed on by ``drain(atMost:_:)``.
    private var first = 0
    private var calm = 0

    var isEmpty: Bool { first == entries.count }
    /// How many datagrams there are.
    var count: Int { entries.count - first }
    /// The memory that all datagrams take, in bytes.
    var cost: Int { bytes.count + entries.count * MemoryLayout<Entry>.stride }
    /// The memory that is held for them, in bytes.
    var footprint: Int { bytes.capacity + entries.capacity * MemoryLayout<Entry>.stride }

    /// The memory that a datagram of so many bytes takes.
    static func cost(of byteCount: Int) -> Int { byteCount + MemoryLayout<Entry>.stride }

    /// Copies a datagram.
    /// - Parameter next: The shard that it is for, if the one that it goes to only has to agree.
    mutating func append(_ datagram: UnsafeRawBufferPointer, _ path: DatagramPath, next: Int?) {
        entries.append(Entry(offset: bytes.count, count: datagram.count, path: path, next: next))
        bytes.append(contentsOf: datagram)
    }

    /// Appends as many datagrams of `other`, of which none has been passed on, as fit into `room` bytes of memory.
    /// Answers how many did.
    mutating func append(_ other: HandOver, room: Int) -> Int {
        let stride = MemoryLayout<Entry>.stride
        let end =
            other.entries.indices.first { index in
                let entry = other.entries[index]
                return entry.offset + entry.count + (index + 1) * stride > room
            } ?? other.entries.endIndex
        for var entry in other.entries[..<end] {
            let range = entry.offset..<entry.offset + entry.count
            entry.offset = bytes.count
            entries.append(entry)
            bytes.append(contentsOf: other.bytes[range])
        }
        return end
    }

    /// Passes the first datagrams to `body`, which may change them, and forgets them.
    /// - Parameter limit: how many there are at most.
    /// - Returns: how many there were.
    @discardableResult
    mutating func drain(
        atMost limit: Int = .max, _ body: (UnsafeMutableRawBufferPointer, DatagramPath, _ next: Int?) -> Void
    ) -> Int {
        let range = first..<first + min(limit, count)
        bytes.withUnsafeMutableBytes { memory in
            for entry in entries[range] {
                let place = entry.offset..<entry.offset + entry.count
                body(UnsafeMutableRawBufferPointer(rebasing: memory[place]), entry.path, entry.next)
            }
        }
        first = range.upperBound
        if isEmpty { removeAll() }
        return range.count
    }

    /// Forgets the datagrams and keeps their memory, but not for ever what a flood has left behind.
    mutating func removeAll() {
        let isRoomy = footprint > Self.keptBytes && cost < footprint / 8
        calm = isRoomy ? calm + 1 : 0
        let keeps = calm < Self.calmTurns
        bytes.removeAll(keepingCapacity: keeps)
        entries.removeAll(keepingCapacity: keeps)
        first = 0
        if !keeps { calm = 0 }
    }
}

/// The datagrams that other shards have received for one shard. One short lock for all that a shard hands over in one go,
/// and one wake-up until the shard has taken them.
final class HandOverQueue: Sendable {
    private struct State {
        var handOvers: [HandOver]
        /// The memory that all of them take.
        var cost = 0
    }

    /// A shard that has stopped must not fill the memory. The kernel's buffer for a socket is of the same order.
    static let maximumBytes = 2 << 20
    /// How many datagrams a shard takes in one turn: as many as from a socket that is full. The rest waits for the next
    /// turn, so that a flood does not hold up the shard's sessions.
    static let datagramsPerTurn = 512

    private let state: Locked<State>

    /// - Parameter sources: How many shards may hand over to this one.
    init(sources: Int) {
        state = Locked(State(handOvers: Array(repeating: HandOver(), count: sources)))
    }

    /// Takes the datagrams of `handOver`, which is empty afterwards.
    /// - Returns: How many found no room, and whether the shard has to be woken.
    func add(_ handOver: inout HandOver, from source: Int) -> (dropped: Int, isFirst: Bool) {
        defer { handOver.removeAll() }
        return state.withLock { state in
            let isFirst = state.cost == 0
            let room = Self.maximumBytes - state.cost
            let before = state.handOvers[source].cost
            var dropped = 0
            if before == 0, handOver.cost <= room {
                swap(&state.handOvers[source], &handOver)
            } else {
                dropped = handOver.count - state.handOvers[source].append(handOver, room: room)
            }
            state.cost += state.handOvers[source].cost - before
            return (dropped, isFirst && state.cost > 0)
        }
    }

    /// Exchanges what waits with `handOvers`, one for each source, which should be empty.
    func take(into handOvers: inout [HandOver]) {
        state.withLock { state in
            guard state.cost > 0 else { return }
            swap(&state.handOvers, &handOvers)
            state.cost = 0
        }
    }
}
