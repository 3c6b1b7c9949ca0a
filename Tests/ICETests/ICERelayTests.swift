import ICE
import NetworkSimulator
import Testing
import Transport

/// A TURN server relays for the gateway.
@Suite struct ICERelayTests {
    /// - Parameter isInformed: whether the viewer knows the gateway's candidates.
    private func call(
        viewer viewerHost: String = Call.viewerHost, isInformed: Bool = true
    ) throws -> (Simulation, ICEPeer, ICEPeer) {
        let viewer = try ICEPeer(.controlling, at: [viewerHost], seed: 3, timing: .persistent)
        let gateway = try ICEPeer(.controlled, at: [Call.gatewayHost], seed: 4, relayedAt: "192.0.2.50")
        let simulation = Simulation(
            network: SimulatedNetwork(seed: 1, conditions: LinkConditions(latency: .milliseconds(10))))
        if isInformed { viewer.learn(gateway) }
        gateway.learn(viewer)
        simulation.endpoints = [viewer, gateway]
        return (simulation, viewer, gateway)
    }

    @Test func theRelayedCandidateIsTheLastOne() throws {
        let (_, _, gateway) = try call()
        let candidates = gateway.agent.localCandidates
        #expect(candidates.map(\.type) == [.host, .relayed])
        #expect(candidates.map(\.priority) == candidates.map(\.priority).sorted(by: >))
        #expect(candidates.last?.base == gateway.addresses.first)
    }

    @Test func theDirectPathWinsWhereThereIsOne() throws {
        let (simulation, viewer, gateway) = try call()
        #expect(simulation.run(for: .seconds(10)) { viewer.isConnected && gateway.isConnected })
        simulation.run(for: .seconds(5))
        #expect(gateway.selectedRemote == viewer.addresses.first)
        #expect(viewer.selectedRemote == gateway.addresses.first)
    }

    @Test func theRelayedPathIsFoundWhereThereIsNoOther() throws {
        let (simulation, viewer, gateway) = try call()
        simulation.network.setConditions(.cut, to: gateway.addresses[0])
        simulation.network.setConditions(.cut, from: gateway.addresses[0], to: viewer.addresses[0])
        #expect(simulation.run(for: .seconds(10)) { viewer.isConnected && gateway.isConnected })
        #expect(gateway.selectedRemote == viewer.addresses.first?.by(.relayed))
        #expect(viewer.selectedRemote == gateway.relayed)
        // Consent is kept by the same route.
        simulation.run(for: .seconds(120))
        #expect(viewer.isConnected && gateway.isConnected)
    }

    /// The peer may be reached at another of its candidates. The agent does not wait until the pair in use is silent.
    @Test func allCandidatesAreCheckedAtOnceWhenTheServerRelaysAtAnotherAddress() throws {
        let (simulation, viewer, gateway) = try call()
        simulation.network.setConditions(.cut, to: gateway.addresses[0])
        simulation.network.setConditions(.cut, from: gateway.addresses[0], to: viewer.addresses[0])
        #expect(simulation.run(for: .seconds(10)) { viewer.isConnected && gateway.isConnected })
        simulation.run(for: .seconds(5))
        let other = try #require(TransportAddress("198.51.100.99", port: 8189))
        gateway.agent.addRemoteCandidate(RemoteCandidate(address: other, priority: 1))
        let relayed = try #require(gateway.relayed)
        gateway.agent.setRelayed([relayed.withPort(51_000)], at: simulation.now)
        simulation.run(for: .milliseconds(500))
        let destinations = Set(gateway.transmitted.map(\.destination))
        #expect(destinations.contains(other.by(.relayed)))
    }

    @Test func aPrivateAddressIsNotReachedThroughTheServer() throws {
        let (simulation, _, gateway) = try call(viewer: "10.1.2.3", isInformed: false)
        simulation.run(for: .seconds(5))
        #expect(gateway.transmitted.allSatisfy { $0.destination.route == .direct })
    }
}
