import ICE
import NetworkSimulator
import PeerConnection
import PeerFakes
import Testing
import Transport

@testable import MediaRelay

/// Publishers and their viewers.
extension RelayWorld {
    /// Lets a publisher come now, with a camera of its own; it is connected some round trips later.
    ///
    /// - Parameters:
    ///   - number: the number of its address, which no viewer may have.
    ///   - shard: where its session lives.
    func addPublisher(
        _ number: Int = 50, principal: String = "", onShard shard: Int = 0
    ) throws -> SimulatedPublisher {
        let (pair, seed) = try makePair(number, onShard: shard)
        let publisher = try SimulatedPublisher(pair.offerer, name: "publisher \(number)", seed: seed, now: now)
        publisher.connect(to: listeners)
        let (handle, links, notices) = (host.makeHandle(shard: shard), host.relay.links, publisher.notices)
        host.now = now
        publisher.packets.camera = PublishedCamera("phone-\(number)", of: host) {
            links.post(to: shard) { shard, now in
                guard let publisher = shard.publishers[handle] else { return }
                publisher.ingest.requestKeyFrame(track: 0)
                shard.service(publisher, at: now)
            }
        }
        var configuration = PublisherConfiguration(
            sessionID: publisher.name, peer: pair.answerer, tracks: PublishedTrack.simulated(), reducedSizeRTCP: true)
        configuration.principal = principal
        shards[shard].add(
            configuration, as: handle, status: publisher.status, sink: publisher.packets,
            notify: { notices.add($0) }, at: now)
        simulation.endpoints.append(publisher)
        return publisher
    }

    /// Lets a viewer of a publisher's camera join on each shard, and waits until all are connected.
    func addViewers(of publisher: SimulatedPublisher) throws -> [SimulatedViewer] {
        let camera = try #require(publisher.packets.camera)
        let viewers = try shards.indices.map { try addViewer($0 + 1, onShard: $0, watching: camera) }
        for viewer in viewers { #expect(connect(viewer)) }
        return viewers
    }

    /// The peer names its address to the relay.
    func nameCandidate(of peer: RelayedPeer) throws {
        let found = try #require(session(named: peer.name))
        host.now = now
        try shard(of: peer).addRemoteCandidates([.host(peer.addresses[0])], to: found, at: now)
    }

    /// Restarts a peer's ICE, as signalling does it on both sides.
    func restartICE(_ peer: RelayedPeer) throws {
        let found = try #require(session(named: peer.name))
        // Each moment has credentials of its own.
        var random = RandomSource.seeded(UInt64(truncatingIfNeeded: now.nanoseconds))
        let theirs = ICECredentials(using: &random)
        let ours = ShardMark.credentials(for: found.handle.shard, of: shards.count, using: &random)
        host.now = now
        try shard(of: peer).restartICE(found, local: ours, remote: theirs, addresses: addresses, at: now)
        peer.connection.restartICE(
            local: theirs, remote: ours, addresses: ICEAddresses(hosts: [peer.addresses[0]]), at: now)
        for candidate in candidates { peer.connection.addRemoteCandidate(candidate) }
    }
}

extension SimulatedViewer {
    /// Whether it has seen every picture since its first one, up to what the publisher has sent in the last 100 ms.
    func hasSeenEverything(of publisher: SimulatedPublisher) -> Bool {
        missingPictures == 0 && brokenFrames == 0 && hasSeen(publisher.sent - 10)
    }

    /// The same for the sound: whether it has heard every packet since its first one.
    func hasHeardEverything(of publisher: SimulatedPublisher) -> Bool {
        let numbers = sounds.map(\.number)
        guard let first = numbers.first, let last = numbers.last else { return false }
        return numbers == Array(first...last) && last >= Int(publisher.soundIndex) - 5
    }

    /// Whether it has seen a picture of this number or a later one.
    func hasSeen(_ number: Int) -> Bool { numbers.contains { $0 >= number } }
}
