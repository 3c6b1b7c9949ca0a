import ICE
import NetworkSimulator
import STUN
import TURNFakes
import Testing
import Transport

/// The server that relays for the gateway does not answer for a while.
@Suite struct SilentRelayTests {
    @Test func `a relayed view does not notice a server that is silent for a moment`() throws {
        for seed in UInt64(1)...3 {
            let world = try LostRelayWorld(seed: seed)
            world.cutDirectPath()
            world.begin()
            #expect(world.connect(), "seed \(seed)")
            world.simulation.run(for: .seconds(5))
            let changes = world.home.pathChanges
            for _ in 0..<3 {
                #expect(world.fallSilent(), "seed \(seed)")
                world.simulation.run(for: .seconds(2))
                world.server.isSilent = false
                #expect(world.simulation.run(for: .seconds(5)) { !world.home.isServerSilent }, "seed \(seed)")
                world.simulation.run(for: .seconds(10))
                #expect(world.areConnected && world.home.pathKind == .relayed, "seed \(seed)")
            }
            #expect(world.home.pathChanges == changes && world.home.allocations.count == 1, "seed \(seed)")
            #expect(world.home.restartWishes.isEmpty && world.simulation.stall == nil)
        }
    }

    @Test func `a view that loses its direct path does not try a silent server, and uses it when it answers`() throws {
        for seed in UInt64(1)...3 {
            let world = try LostRelayWorld(seed: seed)
            world.begin()
            #expect(world.connect(), "seed \(seed)")
            #expect(world.home.pathKind != .relayed)
            world.simulation.run(for: .seconds(5))
            #expect(world.fallSilent(), "seed \(seed)")
            var relayed = 0
            world.simulation.observer = { if $0.source == FakeTURNServer.relayed { relayed += 1 } }
            world.cutDirectPath()
            // The path counts as silent after ten seconds at the latest, and the server is given up after twelve.
            world.simulation.run(for: .seconds(11))
            #expect(relayed == 0 && world.home.isServerSilent, "seed \(seed)")
            world.server.isSilent = false
            // The server is asked for another allocation five seconds after the first one was given up.
            #expect(
                world.simulation.run(for: .seconds(12)) { world.home.pathKind == .relayed && world.away.isConnected },
                "seed \(seed)")
            world.simulation.run(for: .seconds(60))
            #expect(world.areConnected && world.simulation.stall == nil, "seed \(seed)")
        }
    }

    @Test func `a view that begins while the server is silent uses it as soon as it answers`() throws {
        let world = try LostRelayWorld(seed: 1)
        world.cutDirectPath()
        #expect(world.fallSilent())
        world.begin()
        var relayed = 0
        world.simulation.observer = { if $0.source == FakeTURNServer.relayed { relayed += 1 } }
        world.simulation.run(for: .seconds(2))
        #expect(relayed == 0 && !world.areConnected)
        world.server.isSilent = false
        #expect(world.simulation.run(for: .seconds(4)) { world.areConnected })
        #expect(world.home.pathKind == .relayed && world.home.allocations.count == 1)
    }

    // MARK: - One agent

    /// A gateway that a server relays for, and a viewer that answers checks but sends none: a pair works, and is not nominated.
    private func callWithValidPair() throws -> (Simulation, ICEPeer) {
        let viewer = try ICEPeer(.controlling, at: [Call.viewerHost], seed: 3, timing: .persistent)
        let gateway = try ICEPeer(.controlled, at: [Call.gatewayHost], seed: 4, relayedAt: "192.0.2.50")
        let simulation = Simulation(
            network: SimulatedNetwork(seed: 1, conditions: LinkConditions(latency: .milliseconds(10))))
        simulation.network.setConditions(.cut, from: gateway.addresses[0], to: viewer.addresses[0])
        viewer.suppressed = [.request]
        viewer.learn(gateway)
        gateway.learn(viewer)
        simulation.endpoints = [viewer, gateway]
        #expect(simulation.run(for: .seconds(5)) { gateway.validRemote != nil })
        return (simulation, gateway)
    }

    @Test func `a valid pair stays valid when the server answers again at the same address`() throws {
        let (simulation, gateway) = try callWithValidPair()
        let relayed = try #require(gateway.relayed)
        let peer = try #require(gateway.validRemote)
        #expect(peer.route == .relayed)
        for addresses in [[], [relayed], [relayed]] {
            gateway.agent.setRelayed(addresses, at: simulation.now)
            #expect(gateway.validRemote == peer)
        }
        // The server may have forgotten its permissions.
        let sent = gateway.transmitted.count
        simulation.run(for: .seconds(1))
        #expect(gateway.transmitted[sent...].contains { $0.destination == peer && $0.messageClass == .request })
        #expect(gateway.validRemote == peer)
    }

    @Test func `a pair of an allocation that is gone is not valid`() throws {
        let (simulation, gateway) = try callWithValidPair()
        let relayed = try #require(gateway.relayed)
        gateway.agent.setRelayed([relayed.withPort(51_000)], at: simulation.now)
        #expect(gateway.validRemote == nil)
    }

    /// A lite peer is given up as soon as none of its candidates is left, but not for a server that may answer again.
    @Test func `a lite peer that only the server reaches is not given up while the server is silent`() throws {
        let gateway = try ICEPeer(
            .controlling, at: ["2001:db8::5"], seed: 5, isLiteAtOtherEnd: true, relayedAt: "203.0.113.1")
        let relayed = try #require(gateway.relayed)
        let remote = try #require(TransportAddress("198.51.100.7", port: 8189))
        gateway.agent.setRemote(
            credentials: ICECredentials(usernameFragment: "viewer", password: "a password of 22 bytes"))
        gateway.agent.addRemoteCandidate(RemoteCandidate(address: remote, priority: 1))
        var now = Instant(nanoseconds: 1_000_000_000)
        gateway.agent.setRelayed([], at: now)
        gateway.agent.endOfRemoteCandidates()
        func destinations(during steps: Int) -> Set<TransportAddress> {
            var found: Set<TransportAddress> = []
            for _ in 0..<steps {
                now += .milliseconds(20)
                gateway.handleDeadline(at: now)
                for datagram in gateway.takeOutput(at: now) { found.insert(datagram.destination) }
            }
            return found
        }
        let whileSilent = destinations(during: 100)
        #expect(whileSilent.isEmpty && gateway.events.isEmpty)
        gateway.agent.setRelayed([relayed], at: now)
        let afterwards = destinations(during: 100)
        #expect(afterwards == [remote.by(.relayed)])
    }
}
