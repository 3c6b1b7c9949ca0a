import PeerConnection
import Synchronization
import Transport

/// Work for a shard, on its thread.
typealias ShardMessage = @Sendable (_ shard: RelayShard, _ now: Instant) -> Void

/// What the shards of one relay know of each other: where each takes messages and datagrams.
final class ShardLinks: Sendable {
    /// The way to one shard.
    struct Link: Sendable {
        /// Posts a message, after those that were posted before it. False when the shard has ended.
        var post: @Sendable (@escaping ShardMessage) -> Bool
        /// Lets the shard take a turn.
        var wake: @Sendable () -> Void
    }

    private let links: [Link]
    /// The shards' lists of inlets, by the shards' numbers.
    let lists: [ReadyList]
    /// The shards' queues of datagrams that others have received for them.
    let handOvers: [HandOverQueue]
    /// What is on its way to a TURN server.
    let relayed = RelayedQueue(hasOneConnection: true)
    /// What is on its way to TCP connections of viewers.
    let connected = RelayedQueue()
    private let feedRequests = Atomic<UInt64>(0)
    private let outsideDrops = Atomic<UInt64>(0)
    private let outsideStrays = Atomic<UInt64>(0)

    /// Links shards, at least one.
    init(_ links: [Link]) {
        self.links = links
        lists = links.map { ReadyList(wake: $0.wake) }
        handOvers = links.map { _ in HandOverQueue(sources: links.count + Self.outsideSources) }
    }

    /// How many threads hand over what has not come by the shards' sockets.
    static let outsideSources = 2

    /// The number of the source that hands over what comes through a TURN server: the one after the shards.
    var relayedSource: Int { links.count }

    /// Whether what has come through a TURN server or over TCP may be a packet of a session. What is not is counted,
    /// and goes no further: a stream carries very many tiny frames in little time, and each would cost a place in the
    /// queue.
    func accepts(_ datagram: UnsafeRawBufferPointer) -> Bool {
        if DatagramKind.mayBePacket(datagram) { return true }
        outsideStrays.wrappingAdd(1, ordering: .relaxed)
        return false
    }

    /// Hands what has come through a TURN server to the shard whose socket stands for the server's.
    func handOver(relayed datagrams: inout HandOver) {
        handOver(&datagrams, from: relayedSource)
    }

    /// Hands what has come over TCP to the same shard.
    func handOver(connected datagrams: inout HandOver) {
        handOver(&datagrams, from: relayedSource + 1)
    }

    private func handOver(_ datagrams: inout HandOver, from source: Int) {
        let (dropped, isFirst) = handOvers[Self.relayedDoor].add(&datagrams, from: source)
        if dropped > 0 { outsideDrops.wrappingAdd(UInt64(dropped), ordering: .relaxed) }
        if isFirst { wake(Self.relayedDoor) }
    }

    /// How many datagrams from a TURN server or over TCP were dropped because the shard did not take them in time.
    var handOverDrops: UInt64 { outsideDrops.load(ordering: .relaxed) }

    /// How many datagrams from a TURN server or over TCP were not packets of any protocol.
    var strays: UInt64 { outsideStrays.load(ordering: .relaxed) }

    /// The shard that is the door of all addresses that are reached through a TURN server or over TCP.
    static let relayedDoor = 0

    /// The links of a relay with one shard, which nobody has to wake.
    static func single() -> ShardLinks {
        ShardLinks([Link(post: { _ in false }, wake: {})])
    }

    /// How many shards there are.
    var count: Int { links.count }

    /// Runs `message` on a shard. False when the shard has ended.
    @discardableResult
    func post(to shard: Int, _ message: @escaping ShardMessage) -> Bool {
        links[shard].post(message)
    }

    /// Runs `message` on every shard.
    func postToAll(_ message: @escaping ShardMessage) {
        for shard in links.indices { post(to: shard, message) }
    }

    /// Lets a shard take a turn.
    func wake(_ shard: Int) { links[shard].wake() }

    /// A number that no request for a feed has had before.
    func makeFeedRequest() -> UInt64 {
        feedRequests.wrappingAdd(1, ordering: .relaxed).newValue
    }
}
