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
struct HandOver {
    private struct Entry: BitwiseCopyable {
        var offset: Int
        var count: Int
        var path: DatagramPath
        var next: Int?
    }

    private var bytes: [UInt8] = []
    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }
    /// How many datagrams there are.
    var count: Int { entries.count }
    /// The bytes of all datagrams.
    var byteCount: Int { bytes.count }

    /// Copies a datagram.
    /// - Parameter next: The shard that it is for, if the one that it goes to only has to agree.
    mutating func append(_ datagram: UnsafeRawBufferPointer, _ path: DatagramPath, next: Int?) {
        entries.append(Entry(offset: bytes.count, count: datagram.count, path: path, next: next))
        bytes.append(contentsOf: datagram)
    }

    /// Appends as many datagrams of `other` as fit into `room` bytes, and answers how many did.
    mutating func append(_ other: HandOver, room: Int) -> Int {
        let end = other.entries.firstIndex { $0.offset + $0.count > room } ?? other.entries.endIndex
        for var entry in other.entries[..<end] {
            let range = entry.offset..<entry.offset + entry.count
            entry.offset = bytes.count
            entries.append(entry)
            bytes.append(contentsOf: other.bytes[range])
        }
        return end
    }

    /// Passes each datagram to `body`, which may change it, and forgets all of them.
    mutating func drain(_ body: (UnsafeMutableRawBufferPointer, DatagramPath, _ next: Int?) -> Void) {
        bytes.withUnsafeMutableBytes { memory in
            for entry in entries {
                let range = entry.offset..<entry.offset + entry.count
                body(UnsafeMutableRawBufferPointer(rebasing: memory[range]), entry.path, entry.next)
            }
        }
        removeAll()
    }

    /// Forgets the datagrams and keeps their memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
    }
}

/// The datagrams that other shards have received for one shard. One short lock for all that a shard hands over in one go,
/// and one wake-up until the shard has taken them.
final class HandOverQueue: Sendable {
    private struct State {
        var handOvers: [HandOver]
        var byteCount = 0
    }

    /// A shard that has stopped must not fill the memory. The kernel's buffer for a socket is of the same order.
    static let maximumBytes = 2 << 20

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
            let isFirst = state.byteCount == 0
            let room = Self.maximumBytes - state.byteCount
            let before = state.handOvers[source].byteCount
            var dropped = 0
            if before == 0, handOver.byteCount <= room {
                swap(&state.handOvers[source], &handOver)
            } else {
                dropped = handOver.count - state.handOvers[source].append(handOver, room: room)
            }
            state.byteCount += state.handOvers[source].byteCount - before
            return (dropped, isFirst && state.byteCount > 0)
        }
    }

    /// Exchanges what waits with `handOvers`, one for each source, which should be empty.
    func take(into handOvers: inout [HandOver]) {
        state.withLock { state in
            guard state.byteCount > 0 else { return }
            swap(&state.handOvers, &handOvers)
            state.byteCount = 0
        }
    }
}
