import ICE
import NetworkSimulator
import PeerConnection
import PeerFakes
import STUN
import Testing
import Transport

@testable import MediaRelay

/// The TCP connections that a session may have.
@Suite struct ConnectionTests {
    /// Lets a check of a session arrive over a TCP connection.
    private func check(
        of viewer: SimulatedViewer, from source: TransportAddress, in world: RelayWorld, isNominated: Bool = false
    ) throws {
        let peer = try world.relayed(viewer).configuration.peer
        var key = MessageIntegrityKey(peer.localCredentials.password)
        var bytes = [UInt8](repeating: 0, count: STUN.sufficientBufferSize)
        let count = bytes.withUnsafeMutableBytes { buffer -> Int? in
            var builder = STUNMessageBuilder(
                into: buffer, messageClass: .request,
                transactionID: STUNTransactionID(high: 9, low: UInt64(source.port)))
            let name = peer.localCredentials.usernameFragment + ":" + peer.remoteCredentials.usernameFragment
            builder.addUsername(Array(name.utf8))
            builder.addPriority(0x5AFF_FFFF)
            builder.addControlling(tieBreaker: .max)
            if isNominated { builder.addUseCandidate() }
            builder.addMessageIntegrity(&key)
            builder.addFingerprint()
            return builder.finish()
        }
        world.host.receive(
            SimulatedDatagram(
                bytes: Array(bytes.prefix(try #require(count))), source: source,
                destination: world.host.addresses[0], arrival: world.now))
    }

    private func connection(_ number: UInt16) throws -> TransportAddress {
        try #require(TransportAddress("198.51.100.1", port: 50_000 + number)).by(.tcp)
    }

    /// The connections whose end the relay has asked for, since the last call.
    private func takeClosed(_ world: RelayWorld) -> [UInt16] {
        var batch = RelayedQueue.Batch()
        world.host.relay.links.connected.take(into: &batch)
        var ports: [UInt16] = []
        batch.drain { packet, peer in if packet.isEmpty { ports.append(peer.port - 50_000) } }
        return ports
    }

    @Test func aSessionThatLooksForAPathHasAFewConnections() throws {
        let world = try RelayWorld()
        world.host.relay.links.connected.setReader {}
        let viewer = try world.addViewer()
        viewer.hasVanished = true
        for number in 0..<20 as Range<UInt16> { try check(of: viewer, from: connection(number), in: world) }
        let closed = takeClosed(world)
        #expect(closed.count == 16 && Set(closed).count == 16)
        #expect(closed == closed.sorted(), "the oldest go first")
        #expect(try world.relayed(viewer).knownAddresses.count == 4)
    }

    @Test func aSessionWithAPathKeepsOneSpareConnection() throws {
        let world = try RelayWorld()
        world.host.relay.links.connected.setReader {}
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        for number in 0..<6 as Range<UInt16> { try check(of: viewer, from: connection(number), in: world) }
        #expect(takeClosed(world) == [0, 1, 2, 3])
        #expect(try world.relayed(viewer).peer.remoteAddress == viewer.addresses[0], "the path stays")
    }

    @Test func theConnectionsOfASessionThatEndsAreClosed() throws {
        let world = try RelayWorld()
        world.host.relay.links.connected.setReader {}
        let viewer = try world.addViewer()
        viewer.hasVanished = true
        for number in 0..<3 as Range<UInt16> { try check(of: viewer, from: connection(number), in: world) }
        #expect(takeClosed(world).isEmpty)
        world.shard.end(try world.relayed(viewer), because: .removed)
        #expect(takeClosed(world).sorted() == [0, 1, 2])
    }
}
