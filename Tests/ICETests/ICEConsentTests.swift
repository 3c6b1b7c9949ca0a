import ICE
import NetworkSimulator
import STUN
import Testing
import Transport

/// Consent freshness (RFC 7675).
@Suite struct ICEConsentTests {
    @Test(arguments: [0, 0.01, 0.05, 0.2])
    func halfAnHourPassesWithConsent(loss: Double) throws {
        for seed in 1...5 as ClosedRange<UInt64> {
            let call = try Call(conditions: LinkConditions(latency: .milliseconds(30), loss: loss), seed: seed)
            #expect(call.connect())
            call.simulation.run(for: .seconds(1800))
            #expect(call.areConnected, "seed \(seed)")
            #expect(call.viewer.eventCount == 1 && call.gateway.eventCount == 1)
            #expect(call.simulation.stall == nil)
            // A request every four to six seconds from each side, and the answers to the other's.
            let perSide = call.gateway.transmitted.count
            #expect(loss > 0 || (2 * 300...2 * 455).contains(perSide), "\(perSide)")
            #expect(perSide < 1500)
        }
    }

    @Test func anIdleAgentHasOneDeadlineFourToSixSecondsAway() throws {
        let call = try Call()
        #expect(call.connect())
        call.simulation.run(for: .seconds(300))
        #expect(call.simulation.stall == nil)
        let checks = call.gateway.transmitted.filter { $0.messageClass == .request }.map(\.at).dropFirst(2)
        let intervals = zip(checks, checks.dropFirst()).map { $1 - $0 }
        #expect(intervals.count > 40)
        #expect(intervals.allSatisfy { (.seconds(4)...Duration.seconds(6)).contains($0) }, "\(intervals)")
        #expect(Set(intervals).count > 40, "the intervals are random")
        let deadline = try #require(call.gateway.nextDeadline)
        #expect(deadline > call.simulation.now && deadline - call.simulation.now <= .seconds(6))
    }

    @Test func consentEndsThirtySecondsAfterTheLastAnswer() throws {
        let call = try Call()
        #expect(call.connect())
        call.simulation.run(for: .seconds(60))
        let cut = call.simulation.now
        call.simulation.network.setConditions(.cut)
        #expect(call.simulation.run(for: .seconds(60)) { call.gateway.agent.state == .disconnected })
        #expect(call.gateway.lastEvent == .disconnected)
        let elapsed = call.simulation.now - cut
        #expect((.seconds(24)...Duration.seconds(30)).contains(elapsed), "\(elapsed)")
        #expect(call.gateway.selectedRemote == nil && call.gateway.agent.validRemoteAddress == nil)
        #expect(call.gateway.nextDeadline == nil)
    }

    /// Other stacks had this bug: whatever came from the peer kept consent alive.
    @Test func onlyAnswersRefreshConsentAndNotThePeersOwnChecks() throws {
        let call = try Call()
        #expect(call.connect())
        call.viewer.suppressed = [.successResponse]
        let start = call.simulation.now
        let heard = call.viewer.transmitted.count
        #expect(call.simulation.run(for: .seconds(60)) { call.gateway.agent.state == .disconnected })
        #expect(call.simulation.now - start <= .seconds(30))
        #expect(call.viewer.transmitted.count > heard + 4, "the viewer kept sending checks all the time")
    }

    /// Chromium answers on the pair in use and may leave checks on others unanswered; another stack gave up the
    /// session because of those.
    @Test func checksOnOtherPairsThatGoUnansweredDoNotHarmTheSession() throws {
        let call = try Call(gatewayKnowsCandidates: true)
        for port in 1...10 as ClosedRange<UInt16> {
            let silent = try #require(TransportAddress("198.51.100.200", port: port))
            call.gateway.agent.addRemoteCandidate(RemoteCandidate(address: silent, priority: .max))
        }
        #expect(call.connect())
        call.simulation.run(for: .seconds(300))
        #expect(call.areConnected && call.pathsMatch)
        #expect(call.gateway.eventCount == 1)
        let late = call.gateway.transmitted.filter {
            $0.at > call.simulation.now - .seconds(200) && $0.destination != call.viewer.addresses.first
        }
        #expect(late.isEmpty, "checks that fail come to an end")
    }

    @Test func anOutageShorterThanConsentIsSurvived() throws {
        let call = try Call()
        #expect(call.connect())
        call.simulation.run(for: .seconds(20))
        call.simulation.network.setConditions(.cut)
        call.simulation.run(for: .seconds(20))
        #expect(call.areConnected)
        call.simulation.network.setConditions(LinkConditions(latency: .milliseconds(10)))
        call.simulation.run(for: .seconds(120))
        #expect(call.areConnected)
        #expect(call.viewer.eventCount == 1 && call.gateway.eventCount == 1)
    }

    @Test func aDisconnectedAgentAnswersNoChecks() throws {
        let call = try Call()
        #expect(call.connect())
        call.viewer.suppressed = [.successResponse]
        call.simulation.run(for: .seconds(40)) { call.gateway.agent.state == .disconnected }
        let sent = call.gateway.transmitted.count
        call.simulation.run(for: .seconds(60))
        #expect(call.gateway.transmitted.count == sent)
        #expect(call.viewer.agent.state == .disconnected)
    }

    @Test func theRoundTripTimeIsMeasured() throws {
        let call = try Call(conditions: LinkConditions(latency: .milliseconds(17)))
        #expect(call.connect())
        #expect(call.viewer.agent.roundTripTime == .milliseconds(34))
        call.simulation.network.setConditions(LinkConditions(latency: .milliseconds(40)))
        call.simulation.run(for: .seconds(20))
        #expect(call.viewer.agent.roundTripTime == .milliseconds(80))
        #expect(call.gateway.agent.roundTripTime == .milliseconds(80))
    }
}
