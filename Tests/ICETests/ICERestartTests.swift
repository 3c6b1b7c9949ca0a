import ICE
import NetworkSimulator
import Testing
import Transport

@Suite struct ICERestartTests {
    private func credentials(_ seed: UInt64) -> (ICECredentials, ICECredentials) {
        var random = RandomSource.seeded(seed)
        return (ICECredentials(using: &random), ICECredentials(using: &random))
    }

    @Test func theOldPairStaysInUseUntilTheNewOneIsFound() throws {
        let call = try Call()
        #expect(call.connect())
        call.simulation.run(for: .seconds(10))
        let (forViewer, forGateway) = credentials(9)
        // The gateway answers a restart: it knows both sides at once. The viewer learns of it 20 seconds later.
        call.gateway.agent.restart(
            localCredentials: forGateway, remoteCredentials: forViewer, at: call.simulation.now)
        call.simulation.run(for: .seconds(20))
        #expect(call.areConnected)
        #expect(call.gateway.selectedRemote == call.viewer.addresses.first)
        #expect(call.gateway.eventCount == 1 && call.viewer.eventCount == 1)

        call.viewer.agent.restart(
            localCredentials: forViewer, remoteCredentials: forGateway, at: call.simulation.now)
        call.viewer.learnCandidates(of: call.gateway)
        #expect(call.simulation.run(for: .seconds(1)) { call.gateway.eventCount == 2 && call.viewer.eventCount == 2 })
        #expect(
            call.gateway.lastEvent == .pairChanged(try path(call.viewer.addresses.first, call.gateway.addresses.first)))
        call.simulation.run(for: .seconds(300))
        #expect(call.areConnected)
        #expect(call.gateway.agent.counters.unauthenticated == 0)
    }

    /// A browser checks its new addresses before it knows the gateway's new credentials. An answer would make it keep
    /// the pair.
    @Test func aCheckBetweenTwoGenerationsIsNotAnswered() throws {
        let call = try Call()
        #expect(call.connect())
        call.simulation.run(for: .seconds(5))
        let (forViewer, forGateway) = credentials(9)
        let gateway = call.gateway
        gateway.agent.restart(localCredentials: forGateway, remoteCredentials: forViewer, at: call.simulation.now)
        _ = gateway.takeOutput(at: call.simulation.now)
        let present = try #require(TransportAddress("198.51.100.99", port: 8189))
        func answers(to local: ICECredentials, from remote: ICECredentials, id: UInt64) throws -> Int {
            let request = try Message.request(to: local, from: remote, id: id, nominates: true)
            gateway.receive(
                SimulatedDatagram(
                    bytes: request, source: present, destination: gateway.addresses[0], arrival: call.simulation.now))
            return gateway.takeOutput(at: call.simulation.now).count { $0.destination == present }
        }
        #expect(try answers(to: gateway.credentials, from: forViewer, id: 1) == 0)
        #expect(try answers(to: gateway.credentials, from: call.viewer.credentials, id: 2) == 1)
        #expect(gateway.selectedRemote == call.viewer.addresses.first)
        // The check of the new generation is answered, and followed by one of the gateway's own.
        #expect(try answers(to: forGateway, from: forViewer, id: 3) == 2)
    }

    @Test func aRestartMayBringOtherAddresses() throws {
        let call = try Call()
        #expect(call.connect())
        call.simulation.run(for: .seconds(5))
        try call.gateway.move(to: "192.0.2.99")
        let present = call.gateway.addresses[0]
        let (forViewer, forGateway) = credentials(9)
        call.gateway.agent.restart(
            localCredentials: forGateway, remoteCredentials: forViewer, addresses: ICEAddresses(hosts: [present]),
            at: call.simulation.now)
        #expect(call.gateway.agent.localCandidates.map(\.address) == [present])
        call.viewer.agent.restart(
            localCredentials: forViewer, remoteCredentials: forGateway, at: call.simulation.now)
        call.viewer.learnCandidates(of: call.gateway)
        call.simulation.run(for: .seconds(2))
        #expect(call.areConnected && call.viewer.selectedRemote == present)
        call.simulation.run(for: .seconds(60))
        #expect(call.areConnected && call.viewer.selectedRemote == present)
    }

    @Test func aRestartThatFindsNothingLeavesTheOldPairAlone() throws {
        let call = try Call()
        #expect(call.connect())
        let (one, other) = credentials(9)
        call.gateway.agent.restart(localCredentials: one, remoteCredentials: other, at: call.simulation.now)
        call.simulation.run(for: .seconds(300))
        #expect(call.areConnected)
        #expect(call.gateway.eventCount == 1)
        #expect(call.simulation.stall == nil)
        // Then the old pair dies as any other.
        call.simulation.network.setConditions(.cut)
        #expect(call.simulation.run(for: .seconds(31)) { call.gateway.agent.state == .disconnected })
        #expect(call.gateway.lastEvent == .disconnected)
    }

    @Test func aRestartRevivesADisconnectedSession() throws {
        let call = try Call()
        #expect(call.connect())
        call.simulation.network.setConditions(.cut)
        call.simulation.run(for: .seconds(60))
        #expect(call.viewer.agent.state == .disconnected && call.gateway.agent.state == .disconnected)
        call.simulation.network.setConditions(LinkConditions(latency: .milliseconds(10)))
        let (one, other) = credentials(9)
        call.gateway.agent.restart(localCredentials: one, remoteCredentials: other, at: call.simulation.now)
        call.viewer.agent.restart(localCredentials: other, remoteCredentials: one, at: call.simulation.now)
        call.viewer.learnCandidates(of: call.gateway)
        #expect(call.connect(within: .seconds(1)))
        guard case .connected = call.gateway.lastEvent else {
            Issue.record("\(String(describing: call.gateway.lastEvent)) instead of a new connection")
            return
        }
    }

    @Test func restartsMayFollowEachOtherThroughLoss() throws {
        let call = try Call(conditions: LinkConditions(latency: .milliseconds(20), loss: 0.2))
        #expect(call.connect())
        for seed in 1...30 as ClosedRange<UInt64> {
            let (one, other) = credentials(seed)
            call.gateway.agent.restart(localCredentials: one, remoteCredentials: other, at: call.simulation.now)
            // Every third time the viewer never hears of it before the next one.
            if seed.isMultiple(of: 3) { continue }
            call.simulation.run(for: .milliseconds(300))
            call.viewer.agent.restart(localCredentials: other, remoteCredentials: one, at: call.simulation.now)
            call.viewer.learnCandidates(of: call.gateway)
            call.simulation.run(for: .seconds(5))
            #expect(call.areConnected)
        }
        call.simulation.run(for: .seconds(60))
        #expect(call.areConnected)
        #expect(call.simulation.stall == nil)
    }
}
