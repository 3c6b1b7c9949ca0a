import PeerFakes
import Testing
import Transport

@testable import MediaRelay

/// A publisher's session lives on one shard, and what it sends may arrive at another. Its viewers are on all of them.
@Suite struct PublisherDoorTests {
    @Test(arguments: [(2, 0), (2, 1), (3, 0), (3, 1), (3, 2)])
    func `a publisher's media reaches the viewers on all shards by any door`(_ shards: Int, _ doorShift: Int) throws {
        let world = try RelayWorld(shards: shards)
        world.host.doorShift = doorShift
        let publisher = try world.addPublisher(onShard: 1)
        #expect(world.connect(publisher))
        let viewers = try world.addViewers(of: publisher)
        world.run(.seconds(4))
        #expect(publisher.packets.numbers == Array(0..<publisher.packets.video.count))
        for viewer in viewers {
            #expect(viewer.hasSeenEverything(of: publisher) && viewer.pictures.count > 350)
            #expect(viewer.sounds.count > 150)
        }
        let relayed = try world.relayed(publisher)
        let counters = world.counters
        #expect(relayed.refusedDatagrams == 0 && counters.strayDatagrams == 0 && counters.handOverDrops == 0)
        let comesByAnotherDoor = world.host.door(of: publisher.addresses[0]) != relayed.handle.shard
        #expect(comesByAnotherDoor == (counters.handedOver > 500), "\(counters.handedOver)")
    }

    /// What the relay asks of the publisher starts at a viewer, and passes the home of the camera's tracks.
    @Test(arguments: 0..<3) func `a publisher is asked for a key frame from any shard`(shard: Int) throws {
        let world = try RelayWorld(shards: 3)
        let publisher = try world.addPublisher(onShard: 1)
        #expect(world.connect(publisher))
        // A shard is fed while it has a viewer.
        let viewers = try world.addViewers(of: publisher)
        world.run(.seconds(2))
        let camera = try #require(publisher.packets.camera)
        let track = try #require(world.shards[shard].tracks[camera.video])
        let before = publisher.keyFrameRequests.count
        track.requestKeyFrame(at: world.now)
        world.run(.milliseconds(200))
        #expect(publisher.keyFrameRequests.count == before + 1)
        for viewer in viewers { #expect(viewer.hasSeenEverything(of: publisher)) }
    }

    /// A NAT gives the publisher another address, or the kernel gives the address another door.
    @Test func `a publisher goes on by another door`() throws {
        let world = try RelayWorld(shards: 3)
        let publisher = try world.addPublisher(onShard: 1)
        #expect(world.connect(publisher))
        let viewers = try world.addViewers(of: publisher)
        for shift in 1...2 {
            world.host.doorShift = shift
            // The new door learns the holder from the publisher's next check for consent.
            world.run(.seconds(8))
            let first = publisher.sent
            world.run(.seconds(2))
            let arrived = publisher.packets.numbers.count { $0 >= first }
            #expect(arrived > 190, "\(arrived)")
            for viewer in viewers { #expect(viewer.hasSeen(first)) }
        }
        #expect(publisher.isConnected)
        world.shards[1].end(try world.relayed(publisher), because: .removed)
        world.host.settle()
        let isForgotten = world.shards.allSatisfy { $0.holders[publisher.addresses[0]] == nil }
        #expect(isForgotten, "all doors forget the address")
    }
}
