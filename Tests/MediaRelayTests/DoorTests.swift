import ICE
import NetworkSimulator
import PeerConnection
import PeerFakes
import Testing
import Transport

@testable import MediaRelay

/// The kernel gives what comes from one address to one shard, and the session may live on another.
@Suite struct DoorTests {
    @Test(arguments: [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)])
    func everythingReachesTheSessionByAnyDoor(_ shards: Int, _ doorShift: Int) throws {
        let world = try RelayWorld(shards: shards)
        world.host.doorShift = doorShift
        let viewers = try (1...6).map { try world.addViewer($0) }
        #expect(viewers.allSatisfy(world.connect))
        world.run(.seconds(2))
        for viewer in viewers { viewer.askForKeyFrame() }
        world.run(.milliseconds(500))
        for viewer in viewers {
            let statistics = try world.relayed(viewer).readStatistics()
            #expect(statistics.keyFrameRequests == 1 && statistics.refusedDatagrams == 0)
            #expect(viewer.missingPictures == 0)
        }
        let counters = world.counters
        #expect(counters.strayDatagrams == 0 && counters.contestedChecks == 0 && counters.handOverDrops == 0)
        let strangers = viewers.count { world.host.door(of: $0.addresses[0]) != (try? world.relayed($0).handle.shard) }
        #expect(strangers == 0 || counters.handedOver > 20)
        world.run(.seconds(40))
        #expect(viewers.allSatisfy { $0.isConnected })
        for viewer in viewers { try world.shard(of: viewer).end(try world.relayed(viewer), because: .removed) }
        world.host.settle()
        #expect(world.shards.allSatisfy { $0.holders.isEmpty && $0.byAddress.isEmpty })
    }

    /// Two kinds of RTCP; then RTP, DTLS and STUN.
    @Test(arguments: [
        ([0x80, 201], true), ([0x81, 205], true), ([0x80, 96], false), ([22, 254], false), ([0, 1], false),
    ])
    func onlyReportsCanWait(_ beginning: [UInt8], _ canWait: Bool) throws {
        let world = try RelayWorld()
        let source = try #require(TransportAddress("198.51.100.1", port: 40_000))
        var datagram = beginning + [UInt8](repeating: 0, count: 30)
        world.shard.mayReadLater = true
        datagram.withUnsafeMutableBytes {
            world.shard.handle($0, from: source, to: world.host.addresses[0], at: world.now)
        }
        #expect(world.shard.mayReadLater == canWait)
    }

    /// A viewer's NAT gives it another address, or the kernel another door.
    @Test func aSessionGoesOnByAnotherDoor() throws {
        let world = try RelayWorld(shards: 3)
        let viewer = try world.addViewer()
        #expect(world.connect(viewer))
        world.run(.seconds(2))
        for shift in 1...2 {
            world.host.doorShift = shift
            world.run(.seconds(8))
            let before = try world.relayed(viewer).readStatistics().keyFrameRequests
            viewer.askForKeyFrame()
            world.run(.seconds(1))
            #expect(try world.relayed(viewer).readStatistics().keyFrameRequests == before + 1)
        }
        #expect(viewer.isConnected && viewer.missingPictures == 0)
        world.shards[1].end(try world.relayed(viewer), because: .removed)
        world.host.settle()
        #expect(world.shards.allSatisfy { $0.holders.isEmpty }, "all doors forget the address")
    }

    @Test func anAnswerFindsItsShardByItsTransaction() throws {
        let world = try RelayWorld(shards: 3)
        let viewer = try world.addViewer(1, onShard: 2)
        viewer.hasVanished = true
        let relayed = try world.relayed(viewer)
        let address = try #require(TransportAddress("198.51.100.200", port: 3478))
        relayed.peer.addRemoteCandidate(RemoteCandidate(address: address, priority: 1))
        world.host.now = world.now
        world.shards[2].service(relayed, at: world.now)
        let check = try #require(world.host.outbox.waiting.first { $0.transmit.destination == address })
        #expect(check.bytes[8] == 2, "the transaction names the shard")
    }

    /// A check is under way to its session while the address's own session proves itself.
    @Test func aClaimThatCameTooLateIsObjectedTo() throws {
        let world = try RelayWorld(shards: 3)
        let victim = try world.addViewer(1, onShard: 1)
        #expect(world.connect(victim))
        let address = victim.addresses[0]
        let door = world.host.door(of: address)
        world.shards[2].claim(address, from: door, at: world.now)
        world.host.settle()
        #expect(world.holder(of: address) === (try world.relayed(victim)))
        // One that is silent has no objection.
        world.run(.seconds(20))
        victim.hasVanished = true
        world.run(.seconds(14))
        #expect(world.viewers.count == 1)
        world.shards[2].claim(address, from: door, at: world.now)
        world.host.settle()
        #expect(world.shards[door].holders[address] == 2)
        // What the one before releases now no longer belongs to it.
        world.shards[1].end(try world.relayed(victim), because: .removed)
        world.host.settle()
        #expect(world.shards[door].holders[address] == 2)
        world.shards[2].release(address, from: door)
        world.host.settle()
        #expect(world.shards[door].holders.isEmpty)
    }

    @Test func aCheckThatWasHandedOverWaitsForItsSession() throws {
        let world = try RelayWorld(shards: 2)
        let viewer = try world.addViewer(1, onShard: 1)
        let relayed = try world.relayed(viewer)
        let fragment = try #require(relayed.fragments.first)
        world.host.doorShift = world.host.door(of: viewer.addresses[0]) == 0 ? 0 : 1
        world.shards[1].byFragment[fragment] = nil
        var buffer = [UInt8](repeating: 0, count: 1_500)
        let count = buffer.withUnsafeMutableBytes {
            viewer.connection.pollTransmit(into: $0, at: world.now)?.byteCount
        }
        var check = Array(buffer[..<(try #require(count))])
        check.withUnsafeMutableBytes {
            world.shards[0].handle($0, from: viewer.addresses[0], to: world.host.addresses[0], at: world.now)
        }
        #expect(!world.shards[0].awaitsMessages)
        world.shards[0].flushHandOvers()
        world.shards[1].handleWake(at: world.now)
        #expect(world.shards[1].awaitsMessages && world.counters.strayDatagrams == 0)
        world.host.relay.links.post(to: 1) { shard, _ in shard.byFragment[fragment] = shard.viewers.values.first }
        world.host.takeTurn(1)
        #expect(relayed.status.steps.contains { $0.step == .firstCheck })
        #expect(world.counters.earlyChecks == 1 && world.counters.strayDatagrams == 0)
    }

    /// The claim of the session's shard may be read after the datagram that needs it.
    @Test func aDatagramWaitsForTheClaimToItsSource() throws {
        let world = try RelayWorld(shards: 2)
        let viewer = try world.addViewer(1, onShard: 1)
        world.host.doorShift = world.host.door(of: viewer.addresses[0]) == 0 ? 0 : 1
        #expect(world.connect(viewer))
        world.run(.seconds(1))
        let address = viewer.addresses[0]
        world.shards[0].holders = [:]
        var noise = [UInt8](repeating: 0x80, count: 60)
        func deliver() {
            noise.withUnsafeMutableBytes {
                world.shards[0].handle($0, from: address, to: world.host.addresses[0], at: world.now)
            }
        }
        deliver()
        #expect(world.shards[0].awaitsMessages)
        world.shards[1].claim(address, from: 0, at: world.now)
        world.host.takeTurn(0)
        world.host.settle()
        #expect(world.counters.strayDatagrams == 0)
        #expect(try world.relayed(viewer).readStatistics().refusedDatagrams == 1, "its session has judged it")
        // One that nobody claims is dropped.
        world.shards[0].holders = [:]
        deliver()
        world.host.takeTurn(0)
        #expect(world.counters.strayDatagrams == 1 && !world.shards[0].awaitsMessages)
    }

    @Test func whatIsHandedOverKeepsItsOrderAndItsBounds() throws {
        let queue = HandOverQueue(sources: 2)
        let address = try #require(TransportAddress("198.51.100.1", port: 1))
        let path = DatagramPath(source: address, local: address, door: 1, holder: nil)
        var next: UInt32 = 0
        var (dropped, wakeUps) = (0, 0)
        func handOver(_ datagrams: Int, _ size: Int) {
            var handOver = HandOver()
            for _ in 0..<datagrams {
                var bytes = [UInt8](repeating: 1, count: size)
                withUnsafeBytes(of: next) { bytes.replaceSubrange(0..<4, with: $0) }
                next += 1
                bytes.withUnsafeBytes { handOver.append($0, path, next: nil) }
            }
            let result = queue.add(&handOver, from: 1)
            dropped += result.dropped
            wakeUps += result.isFirst ? 1 : 0
            #expect(handOver.isEmpty)
        }
        var taken: [UInt32] = []
        var handOvers = [HandOver(), HandOver()]
        func take() {
            queue.take(into: &handOvers)
            for source in 0..<2 {
                handOvers[source].drain { datagram, path, _ in
                    #expect(path.door == 1 && path.source == address)
                    taken.append(datagram.loadUnaligned(as: UInt32.self))
                }
            }
        }
        handOver(3, 100)
        handOver(2, 1_200)
        #expect(wakeUps == 1, "until it is read")
        take()
        take()
        #expect(taken == [0, 1, 2, 3, 4] && dropped == 0)
        handOver(1, 100)
        #expect(wakeUps == 2)
        for _ in 0..<100 { handOver(32, 1_000) }
        let room = (HandOverQueue.maximumBytes - HandOver.cost(of: 100)) / HandOver.cost(of: 1_000)
        #expect(dropped == 3_200 - room)
        take()
        #expect(taken == Array(0..<UInt32(6 + room)))
        handOver(1, 100)
        #expect(wakeUps == 3)
    }
}
