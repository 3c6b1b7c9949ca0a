import ICE
import NetworkSimulator
import Testing
import Transport

/// The peer's address changes while a session runs.
@Suite struct ICEPathChangeTests {
    @Test(arguments: NATKind.allCases)
    func theGatewayFollowsAViewerWhoseNATForgotIt(kind: NATKind) throws {
        for seed in 1...10 as ClosedRange<UInt64> {
            let call = try Call(seed: seed, viewer: ["192.168.1.20"])
            let outside = try #require(TransportAddress(Call.viewerHost, port: 0))
            let nat = call.simulation.network.addNAT(kind, outside: outside, inside: call.viewer.addresses)
            #expect(call.connect())
            call.simulation.run(for: .seconds(10))
            let before = try #require(call.gateway.selectedRemote)
            let moved = try #require(TransportAddress("198.51.100.99", port: 0))
            call.simulation.network.rebind(nat, to: moved)
            #expect(call.simulation.run(for: .seconds(10)) { call.gateway.selectedRemote != before })
            #expect(call.gateway.selectedRemote?.hasSameHost(as: moved) == true)
            guard case .pairChanged = call.gateway.lastEvent else {
                Issue.record("\(String(describing: call.gateway.lastEvent)) instead of a changed pair")
                return
            }
            call.simulation.run(for: .seconds(120))
            #expect(call.areConnected)
            #expect(call.gateway.eventCount == 2 && call.viewer.eventCount == 1)
        }
    }

    @Test func aViewerThatMovesToAnotherNetworkIsFollowed() throws {
        let call = try Call()
        #expect(call.connect())
        call.simulation.run(for: .seconds(10))
        try call.viewer.move(to: "192.0.2.77")
        #expect(call.simulation.run(for: .seconds(10)) { call.gateway.selectedRemote == call.viewer.addresses.first })
        call.simulation.run(for: .seconds(120))
        #expect(call.areConnected)
    }

    /// A pair in use makes the agent drop the others, but not what it knows of their candidates.
    @Test func aViewerThatMovesToAnAddressThatItNamedKeepsItsKindOfPath() throws {
        let call = try Call()
        let other = try #require(TransportAddress("198.51.100.99", port: 8189))
        call.gateway.agent.addRemoteCandidate(RemoteCandidate(address: other, priority: 1, type: .relayed))
        #expect(call.connect())
        #expect(call.gateway.agent.selectedPathKind == .reflexive)
        call.simulation.run(for: .seconds(10))
        try call.viewer.move(to: "198.51.100.99")
        #expect(call.simulation.run(for: .seconds(10)) { call.gateway.selectedRemote == other })
        #expect(call.gateway.agent.selectedPathKind == .relayed)
    }

    /// Its check comes before the candidate, also over the path that is already in use.
    @Test(arguments: [ICECandidateType.relayed, .serverReflexive, .host])
    func aCandidateThatIsNamedAfterItsPathIsInUseGivesThePathItsKind(type: ICECandidateType) throws {
        let call = try Call()
        #expect(call.connect())
        call.simulation.run(for: .seconds(10))
        try call.viewer.move(to: "198.51.100.99")
        let other = try #require(call.viewer.addresses.first)
        #expect(call.simulation.run(for: .seconds(10)) { call.gateway.selectedRemote == other })
        #expect(call.gateway.agent.selectedPathKind == .reflexive)
        call.gateway.agent.addRemoteCandidate(RemoteCandidate(address: other, priority: 1, type: type))
        let kinds: [ICECandidateType: ICEPathKind] = [.relayed: .relayed, .serverReflexive: .reflexive, .host: .direct]
        #expect(call.gateway.agent.selectedPathKind == kinds[type])
        #expect(call.gateway.selectedRemote == other && call.gateway.eventCount == 2)
        call.simulation.run(for: .seconds(60))
        #expect(call.areConnected && call.gateway.agent.selectedPathKind == kinds[type])
    }

    @Test func aViewerFollowsAGatewayThatMoves() throws {
        let call = try Call()
        #expect(call.connect())
        call.simulation.run(for: .seconds(10))
        try call.gateway.move(to: "192.0.2.78")
        #expect(call.simulation.run(for: .seconds(20)) { call.viewer.selectedRemote == call.gateway.addresses.first })
        call.simulation.run(for: .seconds(120))
        #expect(call.areConnected)
        #expect(call.viewer.eventCount == 2)
    }

    @Test func movingOftenNeitherGrowsNorLosesTheSession() throws {
        let call = try Call()
        #expect(call.connect())
        for step in 1...60 {
            call.simulation.run(for: .seconds(12))
            try call.viewer.move(to: "192.0.2.\(step)")
        }
        call.simulation.run(for: .seconds(12))
        #expect(call.areConnected)
        #expect(call.gateway.selectedRemote == call.viewer.addresses.first)
        #expect(call.simulation.stall == nil)
    }
}
