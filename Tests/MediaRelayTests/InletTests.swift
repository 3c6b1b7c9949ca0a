import RTP
import SDP
import Synchronization
import Testing
import Transport

@testable import MediaRelay

/// What waits for the relay's thread is bounded by time and bytes, whatever the number of batches.
@Suite struct InletTests {
    private func batch(_ pool: inout PacketBatchPool, bytes: Int, at now: Instant) throws -> PacketBatch {
        let payload = [UInt8](repeating: 1, count: bytes)
        payload.withUnsafeBytes {
            pool.append(
                PacketBatch.Packet(
                    offset: 0, length: 0, timestamp: 0, sequenceNumber: 0, payloadType: 96, flags: [.startsFrame]),
                payload: $0)
        }
        let batch = pool.finish(arrival: now)
        return try #require(batch)
    }

    @Test func timeBoundsTheQueue() throws {
        let wakes = Locked(0)
        let inlet = TrackInlet { wakes.withLock { $0 += 1 } }
        var pool = PacketBatchPool()
        let start = RelayWorld.start
        for milliseconds in stride(from: 0, through: 4_000, by: 10) {
            inlet.deliver(try batch(&pool, bytes: 100, at: start + .milliseconds(milliseconds)))
        }
        #expect(inlet.drops == TrackInlet.Drops(packets: 200, bytes: 20_000))
        #expect(wakes.withLock { $0 } == 1)
        var taken: [PacketBatch] = []
        _ = inlet.take(into: &taken)
        #expect(taken.count == 201)
        // As soon as the relay reads them, everything is accepted again.
        inlet.deliver(try batch(&pool, bytes: 100, at: start + .seconds(5)))
        _ = inlet.take(into: &taken)
        #expect(taken.count == 1 && inlet.drops.packets == 200)
    }

    @Test func bytesBoundTheQueue() throws {
        let inlet = TrackInlet(wake: {})
        var pool = PacketBatchPool()
        for _ in 0..<100 { inlet.deliver(try batch(&pool, bytes: 1 << 20, at: RelayWorld.start)) }
        // What follows a gap goes as well, though it would fit.
        inlet.deliver(try batch(&pool, bytes: 10, at: RelayWorld.start))
        var taken: [PacketBatch] = []
        _ = inlet.take(into: &taken)
        #expect((1...8).contains(taken.count))
        #expect(taken.reduce(0) { $0 + $1.footprint } <= TrackInlet.maximumBytes)
        #expect(inlet.drops.packets == UInt64(101 - taken.count))
        // A batch that comes by itself is accepted whatever its size.
        inlet.deliver(try batch(&pool, bytes: 9 << 20, at: RelayWorld.start))
        _ = inlet.take(into: &taken)
        #expect(taken.count == 1)
        // A source that starts again begins with an empty inlet.
        for _ in 0..<100 { inlet.deliver(try batch(&pool, bytes: 1 << 20, at: RelayWorld.start)) }
        inlet.recordRestart()
        inlet.deliver(try batch(&pool, bytes: 10, at: RelayWorld.start))
        #expect(inlet.take(into: &taken) && taken.count == 1)
    }

    /// What the first shard sends leaves first. On a line that viewers of several shards share, it would get all the room.
    @Test func noShardIsAlwaysWokenFirst() throws {
        let woken = Locked<[Int]>([])
        let lists = (0..<3).map { number in ReadyList { woken.withLock { $0.append(number) } } }
        let inlet = TrackInlet(lists: lists)
        for shard in 1...2 { inlet.open(for: shard, like: 0) }
        var pool = PacketBatchPool()
        var firsts = [0, 0, 0]
        for number in 0..<300 {
            inlet.deliver(try batch(&pool, bytes: 100, at: RelayWorld.start + .milliseconds(number)))
            let order = woken.withLock { woken in
                defer { woken = [] }
                return woken
            }
            #expect(order.sorted() == [0, 1, 2])
            firsts[try #require(order.first)] += 1
            for shard in 0..<3 {
                var (inlets, taken): ([TrackInlet], [PacketBatch]) = ([], [])
                lists[shard].take(into: &inlets)
                _ = inlet.take(for: shard, into: &taken)
            }
        }
        #expect(firsts.allSatisfy { 95...105 ~= $0 }, "\(firsts)")
    }

    /// The cost of a wake-up does not grow with the cameras in the house.
    @Test(arguments: [1, 10, 50, 200]) func aWakeUpLooksOnlyAtTheInletsThatHoldSomething(_ cameras: Int) throws {
        let world = try RelayWorld()
        let shard = world.shard
        world.camera.isRunning = false
        let inlets = (0..<cameras).map { number in
            let inlet = TrackInlet(lists: [shard.ready])
            let id = TrackID(camera: "camera \(number)", index: 0)
            let description = RelayTrackDescription(isVideo: true, codec: .vp8, requestKeyFrame: {})
            shard.setTracks([(id, description, inlet)], camera: id.camera, at: world.now)
            return inlet
        }
        var maker = FrameMaker(sequenceNumber: 1)
        for inlet in inlets {
            let before = shard.counters.inletsAsked
            // Two batches of one camera are one entry.
            inlet.deliver(maker.next(isKeyFrame: true, at: world.now))
            inlet.deliver(maker.next(at: world.now))
            shard.handleWake(at: world.now)
            #expect(shard.counters.inletsAsked == before + 1)
        }
        shard.handleWake(at: world.now)
        #expect(shard.counters.inletsAsked == UInt64(cameras))
        #expect(shard.tracks.values.count { $0.ring.newestKeyFrame != nil } == cameras)
        // What a camera that has been taken out still hands in goes nowhere.
        shard.removeCamera("camera 0", at: world.now)
        inlets[0].deliver(maker.next(isKeyFrame: true, at: world.now))
        shard.handleWake(at: world.now)
        #expect(shard.counters.inletsAsked == UInt64(cameras))
    }

    @Test func theRelayCountsWhatItsInletsDropped() throws {
        let world = try RelayWorld()
        let inlet = try #require(world.shard.tracks[world.camera.video]?.inlet)
        var pool = PacketBatchPool()
        for _ in 0..<20 { inlet.deliver(try batch(&pool, bytes: 1 << 20, at: RelayWorld.start)) }
        let dropped = world.shard.readCounters().inletDrops
        #expect(dropped.packets > 10 && dropped.bytes == dropped.packets << 20)
        // The count outlives the camera.
        world.shard.removeCamera("door", at: world.now)
        #expect(world.shard.readCounters().inletDrops == dropped)
    }
}
