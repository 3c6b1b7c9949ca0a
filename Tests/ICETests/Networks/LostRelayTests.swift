import ICE
import NetworkSimulator
import TURNFakes
import Testing
import Transport

/// What relays for the gateway changes while a viewer watches. Nobody tells the viewer.
@Suite struct LostRelayTests {
    /// The same server with another port, and another server.
    @Test(
        arguments: [
            FakeTURNServer.relayed.withPort(51_000), TransportAddress(ipv4: 0xCB00_7142, port: 52_000),
        ], [Access.none, .fullCone])
    func `a relayed view goes on where the server has lost the allocation`(
        relayed: TransportAddress, access: Access
    ) throws {
        for seed in UInt64(1)...5 {
            let world = try LostRelayWorld(viewer: access, seed: seed)
            world.cutDirectPath()
            world.begin()
            #expect(world.connect(), "seed \(seed)")
            #expect(world.home.pathKind == .relayed)
            world.simulation.run(for: .seconds(12))
            var heard: Instant?
            world.simulation.observer = { datagram in
                if datagram.source == relayed, heard == nil { heard = datagram.arrival }
            }
            world.server.restart(relayingAt: relayed)
            // A refresh shows it after 10 s at the latest, and the server is asked again after 5 s.
            #expect(world.simulation.run(for: .seconds(16)) { world.home.allocations.count == 2 }, "seed \(seed)")
            let allocated = try #require(world.home.allocations.last)
            world.simulation.run(for: .seconds(1))
            // The permission takes one round trip to the server.
            let wait = try #require(heard, "seed \(seed)") - allocated
            #expect(wait < .milliseconds(300), "seed \(seed): \(wait)")
            // The viewer follows as soon as its own check by the old way has gone unanswered for a second.
            #expect(world.simulation.run(for: .seconds(12)) { world.away.selectedRemote == relayed }, "seed \(seed)")
            world.simulation.run(for: .seconds(120))
            #expect(world.areConnected && world.simulation.stall == nil, "seed \(seed)")
        }
    }

    /// The gateway had no allocation when the view was negotiated.
    @Test func `an allocation that comes late serves a view that has no path yet`() throws {
        for seed in UInt64(1)...3 {
            let world = try LostRelayWorld(seed: seed)
            world.cutDirectPath()
            world.home.loseAllocation(at: world.simulation.now)
            world.begin()
            world.simulation.run(for: .seconds(4))
            #expect(!world.home.isConnected && world.home.failure == nil)
            #expect(world.simulation.run(for: .seconds(5)) { world.areConnected }, "seed \(seed)")
            #expect(world.home.pathKind == .relayed)
            world.simulation.run(for: .seconds(60))
            #expect(world.areConnected && world.simulation.stall == nil)
        }
    }

    @Test(arguments: [true, false])
    func `a view whose direct path has gone continues through the server`(knowsViewer: Bool) throws {
        for seed in UInt64(1)...5 {
            let world = try LostRelayWorld(seed: seed)
            world.begin(knowsViewer: knowsViewer)
            #expect(world.connect(), "seed \(seed)")
            #expect(world.home.pathKind != .relayed)
            world.simulation.run(for: .seconds(10))
            world.cutDirectPath()
            // Six seconds until a check of consent, four until the silence counts, and two round trips.
            #expect(
                world.simulation.run(for: .seconds(12)) { world.home.pathKind == .relayed && world.away.isConnected },
                "seed \(seed)")
            world.simulation.run(for: .seconds(120))
            #expect(world.areConnected && world.home.pathKind == .relayed, "seed \(seed)")
            #expect(world.simulation.stall == nil)
        }
    }

    /// One check without an answer, as on a lossy line, does not send the agent to the server.
    @Test func `a path that works is not checked through the server`() throws {
        let world = try LostRelayWorld(seed: 1)
        world.begin()
        #expect(world.connect())
        world.simulation.run(for: .seconds(2))
        var relayed = 0
        world.simulation.observer = { if $0.source == FakeTURNServer.relayed { relayed += 1 } }
        world.simulation.run(for: .seconds(120))
        world.home.loseAllocation(at: world.simulation.now)
        world.simulation.run(for: .seconds(30))
        #expect(world.home.allocations.count == 2 && relayed == 0)
        #expect(world.areConnected && world.home.pathKind != .relayed)
    }
}
