import ICE
import NetworkSimulator
import STUN
import Testing
import Transport

/// What an agent does when nothing comes of it.
@Suite struct ICEFailureTests {
    @Test func withoutCandidatesPatienceRunsOut() throws {
        let call = try Call()
        let gateway = try ICEPeer(.controlled, at: [Call.gatewayHost], seed: 78)
        gateway.learn(call.viewer, candidates: false)
        call.simulation.endpoints = [gateway]
        let start = call.simulation.now
        #expect(call.simulation.run(for: .seconds(60)) { gateway.agent.state == .failed })
        #expect(gateway.lastEvent == .failed(.noCandidates))
        #expect(call.simulation.now - start == .milliseconds(39_500))
        #expect(gateway.nextDeadline == nil)
    }

    @Test func withoutAnswersPatienceRunsOutAndTheChecksAreBounded() throws {
        let call = try Call(conditions: .cut)
        #expect(call.simulation.run(for: .seconds(60)) { call.viewer.agent.state == .failed })
        #expect(call.viewer.lastEvent == .failed(.noResponse))
        #expect(call.viewer.transmitted.count == Int(ICETiming().maximumTransmissions))
        #expect(call.viewer.nextDeadline == nil)
        #expect(call.simulation.stall == nil)
    }

    @Test func aPeerThatNeverNominatesIsGivenUp() throws {
        let call = try Call(gatewayKnowsCandidates: true)
        // The viewer answers, but sends no check of its own and so nominates nothing.
        call.viewer.suppressed = [.request]
        #expect(call.simulation.run(for: .seconds(60)) { call.gateway.agent.state != .checking })
        #expect(call.gateway.lastEvent == .failed(.notNominated))
    }

    @Test func aLitePeerWithoutAnswersIsGivenUpAsSoonAsItsCandidatesAreSpent() throws {
        let call = try Call(conditions: .cut)
        let viewer = try ICEPeer(.controlling, at: [Call.viewerHost], seed: 77, isLiteAtOtherEnd: true)
        viewer.learn(call.gateway)
        viewer.agent.endOfRemoteCandidates()
        call.simulation.endpoints = [viewer]
        let start = call.simulation.now
        #expect(call.simulation.run(for: .seconds(60)) { viewer.agent.state == .failed })
        #expect(call.simulation.now - start < .seconds(29))
    }

    @Test func theEndOfCandidatesMayComeAfterTheLastPairHasFailed() throws {
        for isLite in [true, false] {
            let call = try Call(conditions: .cut)
            let viewer = try ICEPeer(.controlling, at: [Call.viewerHost], seed: 77, isLiteAtOtherEnd: isLite)
            viewer.learn(call.gateway)
            call.simulation.endpoints = [viewer]
            call.simulation.run(for: .seconds(30))
            #expect(viewer.agent.state == .checking)
            viewer.agent.endOfRemoteCandidates()
            // Any other peer may still send a check from an address that nobody knows (RFC 8863).
            #expect(viewer.agent.state == (isLite ? .failed : .checking))
            #expect(call.simulation.run(for: .seconds(10)) { viewer.agent.state == .failed })
        }
    }

    @Test func aFailedAgentAnswersNothingUntilARestart() throws {
        let call = try Call(conditions: .cut)
        call.simulation.run(for: .seconds(60))
        #expect(call.gateway.agent.state == .failed)
        call.simulation.network.setConditions(LinkConditions(latency: .milliseconds(10)))
        var random = RandomSource.seeded(4)
        let (one, other) = (ICECredentials(using: &random), ICECredentials(using: &random))
        let now = call.simulation.now
        call.gateway.agent.restart(localCredentials: one, remoteCredentials: other, at: now)
        call.viewer.agent.restart(localCredentials: other, remoteCredentials: one, at: now)
        call.viewer.learnCandidates(of: call.gateway)
        #expect(call.connect(within: .seconds(1)))
    }
}
