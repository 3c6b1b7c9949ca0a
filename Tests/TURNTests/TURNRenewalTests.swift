import TURNFakes
import Testing
import Transport

@testable import TURN

/// Permissions last five minutes at the server, so a renewal that gets lost ends a view.
@Suite struct TURNRenewalTests {
    private let peer = TransportAddress(ipv4: 0xC633_6407, port: 5000)
    private let check: [UInt8] = [0, 1, 0, 0]
    private let media: [UInt8] = [0x80, 96, 0, 1, 2]

    private func stranger(_ number: UInt32) -> TransportAddress {
        TransportAddress(ipv4: 0xCB00_7200 + number, port: 5000)
    }

    @Test func `all permissions are renewed where many are due at once`() {
        var world = TURNWorld()
        let hosts = (0..<200).map { stranger($0) }
        for _ in 0..<2 {
            // The first datagram asks for the permission, the second one uses it.
            for host in hosts { world.send(check, to: host) }
        }
        world.run(for: .seconds(245))
        let grants = world.server.grants
        #expect(hosts.allSatisfy { grants[$0.withPort(0)] == 2 })
        #expect(world.client.requests.isEmpty)
    }

    @Test func `a viewer that names many hosts does not hold up the renewals of others`() {
        var world = TURNWorld()
        for _ in 0..<2 { world.send(check, to: peer) }
        world.run(for: .seconds(236))
        world.server.ignoresPermissions = true
        for number in 0..<200 { world.send(check, to: stranger(UInt32(number))) }
        #expect(world.client.requests.count >= TURNLimits.requests, "no other finds room")
        world.run(for: .seconds(8))
        world.server.ignoresPermissions = false
        world.run(for: .seconds(10))
        #expect(world.server.grants[peer.withPort(0)] == 2)
    }

    @Test func `a channel that is not bound again leaves a permission where many requests wait`() {
        var world = TURNWorld()
        world.send(check, to: peer)
        for _ in 0..<2 { world.send(media, to: peer) }
        #expect(world.server.channels.count == 1)
        world.run(for: .seconds(236))
        world.server.ignoresPermissions = true
        world.server.refusesChannels = true
        for number in 0..<200 { world.send(check, to: stranger(UInt32(number))) }
        world.run(for: .seconds(8))
        world.server.ignoresPermissions = false
        world.run(for: .seconds(10))
        #expect(world.server.grants[peer.withPort(0), default: 0] >= 2)
        // Media goes on without the channel.
        #expect(world.send(media, to: peer) > 0)
    }

    @Test func `a permission whose renewal is not answered stays, and is asked for again while it is used`() {
        var world = TURNWorld()
        for _ in 0..<2 { world.send(check, to: peer) }
        world.run(for: .seconds(239))
        world.server.ignoresPermissions = true
        for _ in 0..<20 {
            world.run(for: .seconds(1))
            #expect(world.send(check, to: peer) > 0)
        }
        world.server.ignoresPermissions = false
        world.run(for: .seconds(10))
        #expect(world.server.grants[peer.withPort(0)] == 2)
        // One that nobody uses is forgotten.
        world.server.ignoresPermissions = true
        world.run(for: .seconds(600))
        #expect(world.client.peers.permissionCount == 0 && world.client.requests.isEmpty)
    }

    @Test func `a deadline of a renewal that finds no room does not stay due`() throws {
        var world = TURNWorld()
        let hosts = (0..<200).map { stranger($0) }
        for _ in 0..<2 {
            for host in hosts { world.send(check, to: host) }
        }
        world.run(for: .seconds(239))
        world.server.ignoresPermissions = true
        world.run(for: .milliseconds(1_100))
        let waiting = world.client.requests.count
        #expect(waiting == TURNLimits.requestsWithRenewals)
        let next = world.client.nextDeadline
        let due = try #require(next)
        #expect(due > world.now)
    }
}
