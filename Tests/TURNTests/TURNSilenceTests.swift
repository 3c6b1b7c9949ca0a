import TURN
import TURNFakes
import Testing
import Transport

/// A server that dies, or is not heard for a moment.
@Suite struct TURNSilenceTests {
    private let peer = TransportAddress(ipv4: 0xC633_6407, port: 5000)
    private let check: [UInt8] = [0, 1, 0, 0]
    private let allocated = TURNEvent.allocated([FakeTURNServer.relayed])

    /// Over a stream a request is sent once, and the kernel of a server that hangs still acknowledges it.
    @Test(arguments: [false, true])
    func `a server that dies is not offered after 14 seconds and is given up after 26`(isStream: Bool) {
        var world = TURNWorld(isStream: isStream)
        world.send(check, to: peer)
        world.server.isSilent = true
        world.run(for: .seconds(14))
        #expect(world.client.isSilent && world.events == [allocated])
        #expect(world.client.offeredAddresses.isEmpty && world.client.relayedAddresses == [FakeTURNServer.relayed])
        // Paths that exist may still work.
        #expect(world.send(check, to: peer) > 0)
        world.run(for: .seconds(12))
        #expect(world.events == [allocated, .failed(.noAnswer)])
        #expect(world.client.relayedAddresses.isEmpty && world.client.nextDeadline == nil)
        #expect(world.send(check, to: peer) == 0)
    }

    @Test func `a server that was silent for a moment is offered again with the same address`() {
        var world = TURNWorld()
        for _ in 0..<3 {
            world.server.isSilent = true
            for _ in 0..<30 where !world.client.isSilent { world.run(for: .milliseconds(500)) }
            #expect(world.client.isSilent == true)
            world.server.isSilent = false
            world.run(for: .seconds(5))
            #expect(!world.client.isSilent && world.client.offeredAddresses == [FakeTURNServer.relayed])
        }
        #expect(world.events == [allocated])
        #expect(world.server.requests.count { $0 == TURN.Method.allocate } == 2, "the allocation is still there")
    }

    /// Nothing is lost there: the answer comes late.
    @Test func `a server behind a stream that was stopped for a moment is offered again with the same address`() {
        var world = TURNWorld(isStream: true)
        for _ in 0..<3 {
            world.server.isSilent = true
            for _ in 0..<30 where !world.client.isSilent { world.run(for: .milliseconds(500)) }
            #expect(world.client.isSilent == true && world.client.offeredAddresses.isEmpty)
            world.server.isSilent = false
            world.readOn()
            #expect(!world.client.isSilent && world.client.offeredAddresses == [FakeTURNServer.relayed])
            world.run(for: .seconds(5))
        }
        #expect(world.events == [allocated])
    }

    @Test func `an answer over a stream that takes three seconds says nothing`() {
        var world = TURNWorld(isStream: true)
        world.run(for: .milliseconds(9_900))
        world.server.isSilent = true
        world.run(for: .seconds(3))
        world.server.isSilent = false
        world.readOn()
        for _ in 0..<600 {
            world.run(for: .milliseconds(100))
            #expect(world.client.isSilent == false)
        }
        #expect(world.events == [allocated])
    }

    @Test func `two lost answers say nothing`() {
        var world = TURNWorld()
        world.run(for: .milliseconds(9_900))
        world.server.isSilent = true
        // The first refresh, and the one half a second later.
        world.run(for: .seconds(1))
        world.server.isSilent = false
        for _ in 0..<600 {
            world.run(for: .milliseconds(100))
            #expect(world.client.isSilent == false)
        }
    }
}
