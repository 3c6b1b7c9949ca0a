import ICE
import NetworkSimulator
import PeerConnection
import PeerFakes
import Testing
import Transport

@testable import MediaRelay

/// A camera, a relay, its viewers and publishers, and the network between them, in virtual time.
struct RelayWorld {
    static let start = Instant(nanoseconds: 5_000_000_000)
    /// The identifier of the playout delay for viewers that have agreed on it.
    static let playoutDelayExtension: UInt8 = 5

    let simulation: Simulation
    let host: RelayHost
    let camera: SimulatedCamera
    private let seed: UInt64

    init(
        conditions: LinkConditions = LinkConditions(latency: .milliseconds(10)), seed: UInt64 = 1,
        limits: RelayLimits = RelayLimits(), shards: Int = 1, _ change: (inout SimulatedCamera.Shape) -> Void = { _ in }
    ) throws {
        let address = try #require(TransportAddress("203.0.113.5", port: 8189))
        self.seed = seed
        host = try RelayHost(address: address, limits: limits, seed: seed, now: Self.start, shards: shards)
        var shape = SimulatedCamera.Shape()
        change(&shape)
        camera = SimulatedCamera(host: host, start: Self.start, shape: shape)
        simulation = Simulation(
            network: SimulatedNetwork(seed: seed, conditions: conditions), endpoints: [camera, host],
            start: Self.start)
    }

    var now: Instant { simulation.now }
    /// For tests of one shard.
    var shard: RelayShard { host.shard }
    var shards: [RelayShard] { host.shards }
    /// The shard that always gets what the camera sends.
    var home: RelayShard { shards[ShardMark.home(of: camera.video.camera, of: shards.count)] }
    /// What all shards have done.
    var counters: RelayCounters { shards.reduce(into: RelayCounters()) { $0 += $1.readCounters() } }
    /// The sessions of all shards.
    var viewers: [Viewer] { shards.flatMap { Array($0.viewers.values) } }

    /// Lets a viewer join now; it is connected some round trips later.
    ///
    /// - Parameters:
    ///   - host: the number of the viewer's address, where that is another than the viewer's own.
    ///   - principal: whose session it is.
    ///   - shard: where its session lives; viewers take turns otherwise.
    ///   - published: the publisher's camera that it watches; nil for the world's own camera.
    func addViewer(
        _ number: Int = 1, atHost host: Int? = nil, principal: String = "", onShard shard: Int? = nil,
        watching published: PublishedCamera? = nil, _ change: (inout SimulatedViewer.Shape) -> Void = { _ in }
    ) throws -> SimulatedViewer {
        var shape = SimulatedViewer.Shape()
        change(&shape)
        let shard = shard ?? number % shards.count
        let (pair, seed) = try makePair(number, atHost: host, onShard: shard)
        let viewer = try SimulatedViewer(
            pair.offerer, name: "viewer \(number)", ssrc: UInt32(number) << 8, seed: seed, shape: shape, now: now)
        viewer.connect(to: listeners)
        let transportSequence: UInt8? = shape.hasTransportSequence ? 3 : nil
        var egress = [
            EgressConfiguration(
                track: published?.video ?? camera.video, isVideo: true, ssrc: viewer.videoSSRC, payloadType: 96,
                retransmission: shape.hasRetransmissionStream ? (viewer.retransmissionSSRC, 97) : nil,
                transportSequenceExtension: transportSequence, canonicalName: "door")
        ]
        if shape.hasSound {
            egress.append(
                EgressConfiguration(
                    track: published?.audio ?? camera.audio, isVideo: false, ssrc: viewer.audioSSRC, payloadType: 111,
                    retransmission: nil, transportSequenceExtension: transportSequence, canonicalName: "door"))
        }
        if shape.hasPlayoutDelay {
            for index in egress.indices { egress[index].playoutDelayExtension = Self.playoutDelayExtension }
        }
        var configuration = ViewerConfiguration(
            sessionID: viewer.name, peer: pair.answerer, egress: egress, talkbackPayloadTypes: [111],
            offerReceived: now, answerReady: now)
        configuration.principal = principal
        self.host.now = now
        let notices = viewer.notices
        shards[shard].add(
            configuration, as: self.host.makeHandle(shard: shard), status: viewer.status,
            notify: { notices.add($0) }, at: now)
        simulation.endpoints.append(viewer)
        return viewer
    }

    /// Both sides of the connection of a new session, and a seed for the peer.
    func makePair(_ number: Int, atHost host: Int? = nil, onShard shard: Int) throws -> (pair: PeerPair, seed: UInt64) {
        var random = RandomSource.seeded(seed &* 1_000 &+ UInt64(number))
        let theirs = ICECredentials(using: &random)
        let ours = ShardMark.credentials(for: shard, of: shards.count, using: &random)
        let address = try #require(TransportAddress("198.51.100.\(host ?? number)", port: 40_000))
        var pair = try PeerPair(from: address, theirs, to: self.host.addresses[0], ours)
        pair.offerer.remoteCandidates = candidates
        pair.answerer.addresses = addresses
        return (pair, random.next())
    }

    /// The relay's own side of a viewer.
    func relayed(_ viewer: SimulatedViewer) throws -> Viewer {
        try #require(self.viewer(named: viewer.name))
    }

    /// The relay's own side of a publisher.
    func relayed(_ publisher: SimulatedPublisher) throws -> Publisher {
        try #require(shards.lazy.compactMap { $0.publisher(named: publisher.name) }.first)
    }

    /// The viewer of this name, on whichever shard.
    func viewer(named name: String) -> Viewer? { shards.lazy.compactMap { $0.viewer(named: name) }.first }

    /// The session of this name, on whichever shard.
    func session(named name: String) -> Session? { shards.lazy.compactMap { $0.session(named: name) }.first }

    /// The shard of a peer's session.
    func shard(of peer: RelayedPeer) throws -> RelayShard {
        shards[try #require(session(named: peer.name)).handle.shard]
    }

    /// The session that what comes from an address leads to.
    func holder(of address: TransportAddress) -> Session? {
        guard shards.count > 1 else { return shard.byAddress[address] }
        let door = address.route == .direct ? host.door(of: address) : ShardLinks.relayedDoor
        return shards[door].holders[address].flatMap { shards[$0].byAddress[address] }
    }

    func run(_ duration: Duration) {
        simulation.run(for: duration)
        #expect(simulation.stall == nil)
    }

    /// Runs until the peer is connected; whether it is.
    func connect(_ peer: RelayedPeer) -> Bool {
        simulation.run(for: .seconds(10)) {
            peer.isConnected && session(named: peer.name)?.isConnected == true
        }
    }

    /// The runs of media for a viewer so far.
    func runs(for viewer: SimulatedViewer) -> [Outbox.Run] {
        host.outbox.runs.filter { $0.transmit.destination == viewer.addresses[0] }
    }
}

extension SimulatedViewer {
    /// Whether each picture follows the one before without a gap.
    func hasEveryPicture(from first: Int) -> Bool {
        numbers.first == first && zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 }
    }

    /// The longest gap between two pictures that came one after the other.
    var missingPictures: Int {
        zip(numbers, numbers.dropFirst()).reduce(0) { $0 + $1.1 - $1.0 - 1 }
    }
}
