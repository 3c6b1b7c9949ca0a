import ICE
import NetworkSimulator
import STUN
import Testing
import Transport

/// Whom a hostile description can make the gateway send checks to, and how often.
@Suite struct ICEReachTests {
    private func victims(_ count: Int, _ first: UInt32 = 0xC612_0001) -> [TransportAddress] {
        (0..<UInt32(count)).map { TransportAddress(ipv4: first + $0, port: 5000) }
    }

    /// What one agent after another sends to 32 addresses that never answer, with a restart of ICE every ten seconds unless told otherwise.
    private func checksSent(
        for duration: Duration, sessions: Int, restarts: Duration = .seconds(10), account: Account,
        timing: ICETiming = ICETiming()
    ) throws -> Int {
        let call = try Call()
        var agents: [ICEPeer] = []
        for session in 0..<sessions {
            let gateway = try ICEPeer(
                .controlled, at: [Call.gatewayHost], seed: UInt64(100 + session), timing: timing)
            gateway.account = account
            gateway.agent.setRemote(credentials: call.viewer.credentials)
            agents.append(gateway)
        }
        call.simulation.endpoints = agents
        var random = RandomSource.seeded(7)
        let end = call.simulation.now + duration
        while call.simulation.now < end {
            for (session, agent) in agents.enumerated() {
                for victim in victims(32, 0xC612_0001 + UInt32(session) * 256) {
                    agent.agent.addRemoteCandidate(RemoteCandidate(address: victim, priority: 1))
                }
            }
            call.simulation.run(for: min(restarts, end - call.simulation.now))
            for agent in agents {
                agent.agent.restart(
                    localCredentials: ICECredentials(using: &random),
                    remoteCredentials: ICECredentials(using: &random), at: call.simulation.now)
            }
        }
        #expect(call.simulation.stall == nil)
        return agents.reduce(0) { $0 + $1.transmitted.count }
    }

    @Test func oneOfferToSilentAddressesIsBounded() throws {
        let sent = try checksSent(for: .seconds(39), sessions: 1, restarts: .seconds(60), account: Account())
        #expect(sent <= CheckBudget.capacity + 80, "\(sent) checks")
    }

    /// Sixteen sessions of a principal and ten restarts of each in 100 seconds.
    @Test func restartsAndSessionsShareTheBudgetOfTheirPrincipal() throws {
        let sent = try checksSent(for: .seconds(100), sessions: 16, account: Account())
        #expect(sent <= CheckBudget.capacity + 200, "\(sent) checks")
    }

    /// The figures before there was a budget, for comparison: what the test above would have counted.
    @Test func withoutABudgetThereWouldBeManyMore() throws {
        let one = try checksSent(
            for: .seconds(39), sessions: 1, restarts: .seconds(60), account: Account(.unlimited), timing: .persistent)
        let many = try checksSent(for: .seconds(100), sessions: 16, account: Account(.unlimited), timing: .persistent)
        #expect(one > 600 && many > 30_000, "\(one) and \(many) checks")
    }

    @Test func aSilentAddressIsAskedNineTimesIn25Seconds() throws {
        let call = try Call()
        let gateway = try ICEPeer(.controlled, at: [Call.gatewayHost], seed: 9)
        gateway.agent.setRemote(credentials: call.viewer.credentials)
        gateway.agent.addRemoteCandidate(RemoteCandidate(address: victims(1)[0], priority: 1))
        call.simulation.endpoints = [gateway]
        let start = call.simulation.now
        call.simulation.run(for: .seconds(60))
        let times = gateway.transmitted.map { ($0.at - start) / .milliseconds(100) }
        #expect(times == [0, 1, 3, 7, 15, 31, 63, 127, 191])
    }

    /// The viewer's own checks are answered and followed whatever the principal has spent.
    @Test func anEmptyBudgetDelaysNoViewerThatSendsChecks() throws {
        for knowsCandidates in [false, true] {
            let call = try Call(nomination: .aggressive, gatewayKnowsCandidates: knowsCandidates)
            let spent = try ICEPeer(.controlled, at: [Call.gatewayHost], seed: 9)
            spent.account = call.gateway.account
            spent.agent.setRemote(credentials: call.viewer.credentials)
            let other = try Call()
            other.simulation.endpoints = [spent]
            for _ in 0..<CheckBudget.capacity {
                for victim in victims(32) {
                    spent.agent.addRemoteCandidate(RemoteCandidate(address: victim, priority: 1))
                }
                other.simulation.run(for: .milliseconds(100))
            }
            #expect(spent.agent.counters.postponedChecks > 0)
            let start = call.simulation.now
            #expect(call.connect())
            #expect(try #require(call.gateway.events.first).at - start <= .milliseconds(30))
        }
    }

    /// A phone with many interfaces and a gateway that cannot be reached from outside until it has sent something.
    @Test func aViewerWithManyInterfacesIsFoundAtOnce() throws {
        let hosts = (1...30).map { "10.0.\($0).7" } + [Call.viewerHost]
        let call = try Call(nomination: .aggressive, viewer: [Call.viewerHost])
        for host in hosts {
            let address = try #require(TransportAddress(host, port: 8189))
            call.gateway.agent.addRemoteCandidate(RemoteCandidate(address: address, priority: 5))
        }
        let start = call.simulation.now
        #expect(call.connect(within: .seconds(1)))
        #expect(call.simulation.now - start <= .milliseconds(30))
        #expect(call.gateway.agent.counters.postponedChecks == 0)
    }

    /// A principal can send valid checks of its own session from any source that it can forge.
    @Test(arguments: [("198.51.100.7", 53), ("198.51.100.7", 1023), ("169.254.169.254", 5000)])
    func aCheckFromAnAddressOutOfReachIsNeitherAnsweredNorFollowed(host: String, port: Int) throws {
        let peer = try ICEPeer(.controlled, at: [Call.gatewayHost], seed: 5)
        var random = RandomSource.seeded(1)
        let remote = ICECredentials(using: &random)
        peer.agent.setRemote(credentials: remote)
        let source = try #require(TransportAddress(host, port: UInt16(port)))
        let bytes = try Message.request(to: peer.credentials, from: remote, id: 1, nominates: true)
        let now = Instant(nanoseconds: 2_000_000_000)
        let result = bytes.withUnsafeBytes { peer.agent.handle($0, from: source, to: peer.addresses[0], at: now) }
        #expect(result == .ignored(.outOfReach))
        #expect(peer.agent.counters.filteredCandidates == 1)
        let sent = withUnsafeTemporaryAllocation(byteCount: STUN.sufficientBufferSize, alignment: 8) {
            peer.agent.pollTransmit(into: $0, at: now)
        }
        #expect(sent == nil)
    }

    @Test func linkLocalIsReachedForAViewerOnTheLink() throws {
        var reach = ICEReach()
        reach.includesLinkLocal = true
        let peer = try ICEPeer(.controlled, at: ["169.254.1.1"], seed: 5, reach: reach)
        let there = try #require(TransportAddress("169.254.7.7", port: 5000))
        #expect(peer.agent.addRemoteCandidate(RemoteCandidate(address: there, priority: 1)) == .accepted)
    }

    /// Each conflict of roles had set off a check to every address that was being tried.
    @Test func roleConflictsTriggerNothingAtSilentAddresses() throws {
        let peer = try ICEPeer(.controlled, at: [Call.gatewayHost], seed: 5)
        var random = RandomSource.seeded(1)
        let remote = ICECredentials(using: &random)
        peer.agent.setRemote(credentials: remote)
        for victim in victims(31) { peer.agent.addRemoteCandidate(RemoteCandidate(address: victim, priority: 1)) }
        let source = try #require(TransportAddress(Call.viewerHost, port: 5000))
        var now = Instant(nanoseconds: 2_000_000_000)
        var toVictims = 0
        for round in 0..<1000 as Range<UInt64> {
            now += .milliseconds(10)
            let bytes = try Message.request(
                to: peer.credentials, from: remote, id: round,
                claims: round.isMultiple(of: 2) ? .controlled : .controlling,
                tieBreaker: round.isMultiple(of: 2) ? 1 : .max)
            bytes.withUnsafeBytes { _ = peer.agent.handle($0, from: source, to: peer.addresses[0], at: now) }
            withUnsafeTemporaryAllocation(byteCount: STUN.sufficientBufferSize, alignment: 8) { buffer in
                for _ in 0..<100 {
                    guard
                        let transmit = peer.agent.pollTransmit(into: buffer, at: now, budget: &peer.account.budget)
                    else { return }
                    if transmit.destination != source { toVictims += 1 }
                }
            }
        }
        #expect(peer.agent.counters.roleConflicts > 100)
        #expect(toVictims <= CheckBudget.capacity + 20, "\(toVictims)")
    }
}
