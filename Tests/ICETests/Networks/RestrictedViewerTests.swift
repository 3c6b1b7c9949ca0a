import ICE
import NetworkSimulator
import TURNFakes
import Testing
import Transport

/// The gateway's relayed address changes, and the viewer's router lets in only datagrams from addresses that the viewer
/// has sent to.
@Suite struct RestrictedViewerTests {
    static let otherPort = FakeTURNServer.relayed.withPort(51_000)
    static let otherHost = TransportAddress(ipv4: 0xCB00_7143, port: 52_000)

    /// A relayed view whose server now relays at another address.
    private func move(_ viewer: Access, to relayed: TransportAddress, viewerHasServer: Bool = false, seed: UInt64)
        throws -> LostRelayWorld
    {
        let world = try LostRelayWorld(viewer: viewer, viewerHasServer: viewerHasServer, seed: seed)
        world.cutDirectPath()
        world.begin()
        try #require(world.connect(), "seed \(seed)")
        #expect(world.home.pathKind == .relayed)
        world.simulation.run(for: .seconds(12))
        world.server.restart(relayingAt: relayed)
        try #require(world.simulation.run(for: .seconds(16)) { world.home.allocations.count == 2 }, "seed \(seed)")
        return world
    }

    /// Nothing that the gateway sends opens the router. The viewer has to send first, so it has to learn where to.
    @Test(
        arguments: [
            (Access.addressRestricted, Self.otherHost), (Access.portRestricted, Self.otherHost),
            (Access.portRestricted, Self.otherPort), (Access.symmetric, Self.otherHost),
            (Access.symmetric, Self.otherPort),
        ])
    func `a viewer behind a router that filters follows when it restarts ICE, which the gateway asks for`(
        viewer: Access, relayed: TransportAddress
    ) throws {
        for seed in UInt64(1)...3 {
            let world = try move(viewer, to: relayed, seed: seed)
            let allocated = try #require(world.home.allocations.last)
            #expect(world.simulation.run(for: .seconds(5)) { !world.home.restartWishes.isEmpty }, "seed \(seed)")
            let wish = try #require(world.home.restartWishes.first)
            #expect(wish - allocated >= .seconds(2), "the checks have had their time")
            #expect(world.areConnected && world.away.selectedRemote == FakeTURNServer.relayed)
            world.restart()
            #expect(world.simulation.run(for: .seconds(5)) { world.away.selectedRemote == relayed }, "seed \(seed)")
            world.simulation.run(for: .seconds(120))
            #expect(world.areConnected && world.home.pathKind == .relayed, "seed \(seed)")
            #expect(world.home.restartWishes.count == 1 && world.simulation.stall == nil, "seed \(seed)")
        }
    }

    /// A server that restarts usually relays at the same host.
    @Test func `a router that filters by hosts lets in the same server at another port`() throws {
        for seed in UInt64(1)...3 {
            let world = try move(.addressRestricted, to: Self.otherPort, seed: seed)
            #expect(
                world.simulation.run(for: .seconds(12)) { world.away.selectedRemote == Self.otherPort },
                "seed \(seed)")
            world.simulation.run(for: .seconds(60))
            #expect(world.areConnected && world.home.restartWishes.isEmpty, "seed \(seed)")
        }
    }

    /// The viewer's server lets in each host that the viewer has named to it, at any port.
    @Test func `a viewer with a server of its own is found there without a restart`() throws {
        for seed in UInt64(1)...3 {
            let world = try move(.symmetric, to: Self.otherPort, viewerHasServer: true, seed: seed)
            var heard = false
            world.simulation.observer = { datagram in
                if datagram.source == Self.otherPort, datagram.destination == PublicServer.otherRelayed { heard = true }
            }
            #expect(world.simulation.run(for: .seconds(1)) { heard }, "seed \(seed)")
            #expect(
                world.simulation.run(for: .seconds(12)) {
                    world.away.selectedRemote == Self.otherPort.by(.relayed) && world.home.pathKind == .relayed
                }, "seed \(seed)")
            world.simulation.run(for: .seconds(60))
            #expect(world.areConnected && world.home.restartWishes.isEmpty, "seed \(seed)")
        }
    }

    /// A direct view does not need the server. When its path is cut long after the change, the checks through the server begin
    /// only then, and have their time before a restart is asked for.
    @Test(arguments: [(Access.portRestricted, true), (Access.none, false)])
    func `a direct view is checked through the server before a restart is asked for`(
        viewer: Access, asks: Bool
    ) throws {
        for seed in UInt64(1)...5 {
            let world = try LostRelayWorld(viewer: viewer, seed: seed)
            world.begin()
            try #require(world.connect())
            #expect(world.home.pathKind != .relayed)
            world.server.restart(relayingAt: Self.otherHost)
            try #require(world.simulation.run(for: .seconds(30)) { world.home.allocations.count == 2 })
            world.simulation.run(for: .seconds(120))
            #expect(world.home.restartWishes.isEmpty && world.home.pathKind != .relayed)
            let cut = world.simulation.now
            world.cutDirectPath()
            _ = world.simulation.run(for: .seconds(20)) { !world.home.restartWishes.isEmpty }
            #expect(world.home.restartWishes.isEmpty != asks, "seed \(seed)")
            // The path counts as silent after four seconds, and the checks through the server have two more.
            if let wish = world.home.restartWishes.first { #expect(wish - cut >= .milliseconds(5_900), "seed \(seed)") }
            if !asks { #expect(world.home.pathKind == .relayed && world.areConnected, "seed \(seed)") }
        }
    }

    @Test func `an allocation that comes late is worth a restart where no path is found`() throws {
        let world = try LostRelayWorld(viewer: .portRestricted, seed: 1)
        world.cutDirectPath()
        world.home.loseAllocation(at: world.simulation.now)
        world.begin()
        world.simulation.run(for: .seconds(4))
        #expect(world.home.restartWishes.isEmpty)
        #expect(world.simulation.run(for: .seconds(5)) { !world.home.restartWishes.isEmpty })
        world.restart()
        #expect(world.simulation.run(for: .seconds(5)) { world.areConnected })
        #expect(world.away.selectedRemote == FakeTURNServer.relayed)
    }

    /// The viewer has noticed the silence by itself, and restarted while no server relayed.
    @Test(arguments: [Self.otherHost, Self.otherPort])
    func `a viewer that has restarted ICE before the server is back is asked to do so again`(
        relayed: TransportAddress
    ) throws {
        for seed in UInt64(1)...3 {
            let world = try LostRelayWorld(viewer: .symmetric, seed: seed)
            world.cutDirectPath()
            world.begin()
            try #require(world.connect(), "seed \(seed)")
            #expect(world.home.pathKind == .relayed)
            world.simulation.run(for: .seconds(12))
            world.server.restart(relayingAt: relayed)
            world.home.loseAllocation(at: world.simulation.now)
            world.simulation.run(for: .seconds(3))
            world.restart()
            world.simulation.run(for: .seconds(1))
            #expect(world.home.restartWishes.isEmpty, "no server relays yet")
            #expect(world.simulation.run(for: .seconds(10)) { !world.home.restartWishes.isEmpty }, "seed \(seed)")
            world.restart()
            #expect(world.simulation.run(for: .seconds(5)) { world.away.selectedRemote == relayed }, "seed \(seed)")
            #expect(world.areConnected && world.home.restartWishes.count == 1, "seed \(seed)")
        }
    }

    /// It knows the address, so a restart would give it nothing new.
    @Test func `a viewer that vanishes is not asked to restart`() throws {
        let world = try LostRelayWorld(seed: 1)
        world.cutDirectPath()
        world.begin()
        #expect(world.connect())
        world.simulation.network.setConditions(.cut, from: world.away.host)
        world.simulation.run(for: .seconds(60))
        #expect(!world.home.isConnected && world.home.restartWishes.isEmpty)
    }
}
