import ICE
import NetworkSimulator
import STUN
import Testing
import Transport

/// The gateway accepts TCP connections (RFC 6544).
@Suite struct ICETCPTests {
    /// Another address of the gateway: the simulated network cuts hosts off, not protocols.
    private static let passiveHost = "203.0.113.9"

    private func call() throws -> (Simulation, ICEPeer, ICEPeer) {
        let viewer = try ICEPeer(.controlling, at: [Call.viewerHost], seed: 3, timing: .persistent)
        let gateway = try ICEPeer(
            .controlled, at: [Call.gatewayHost], seed: 4, relayedAt: "192.0.2.50", passiveAt: Self.passiveHost)
        let simulation = Simulation(
            network: SimulatedNetwork(seed: 1, conditions: LinkConditions(latency: .milliseconds(10))))
        viewer.learn(gateway)
        gateway.learn(viewer)
        simulation.endpoints = [viewer, gateway]
        return (simulation, viewer, gateway)
    }

    @Test func theTCPCandidateComesAfterTheDirectOnesAndBeforeTheRelayedOne() throws {
        let (_, _, gateway) = try call()
        let candidates = gateway.agent.localCandidates
        #expect(candidates.map(\.route) == [.direct, .tcp, .relayed])
        #expect(candidates.map(\.priority) == candidates.map(\.priority).sorted(by: >))
        #expect(Set(candidates.map(\.foundation)).count == 3)
        // Type preference 90, direction preference 4 (RFC 6544, section 4.2).
        #expect(candidates[1].priority == 90 << 24 | (4 << 13 | 8191) << 8 | 255)
        #expect(candidates[1].priority < ICE.candidatePriority(type: .serverReflexive, localPreference: 0))
    }

    @Test func aPathOverUDPWinsWhereThereIsOne() throws {
        let (simulation, viewer, gateway) = try call()
        #expect(simulation.run(for: .seconds(10)) { viewer.isConnected && gateway.isConnected })
        simulation.run(for: .seconds(5))
        #expect(gateway.selectedRemote == viewer.addresses.first)
    }

    @Test func theViewersConnectionIsThePathWhereUDPIsBlocked() throws {
        let (simulation, viewer, gateway) = try call()
        for address in [gateway.addresses[0], try #require(gateway.relayed)] {
            simulation.network.setConditions(.cut, to: address)
            simulation.network.setConditions(.cut, from: address, to: viewer.addresses[0])
        }
        #expect(simulation.run(for: .seconds(10)) { viewer.isConnected && gateway.isConnected })
        #expect(gateway.selectedRemote == viewer.addresses.first?.by(.tcp))
        #expect(viewer.selectedRemote == gateway.passive)
        // Consent is kept over the connection.
        simulation.run(for: .seconds(120))
        #expect(viewer.isConnected && gateway.isConnected)
        // The connection breaks.
        simulation.network.setConditions(.cut, to: viewer.addresses[0])
        simulation.run(for: .seconds(40))
        #expect(gateway.lastEvent == .disconnected)
    }

    @Test func theGatewaySendsNothingOverTCPBeforeTheViewerHas() throws {
        let (simulation, viewer, gateway) = try call()
        viewer.suppressed = [.request]
        simulation.run(for: .seconds(5))
        #expect(!gateway.transmitted.isEmpty)
        #expect(gateway.transmitted.allSatisfy { $0.destination.route != .tcp })
    }
}
