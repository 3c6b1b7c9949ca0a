import ICE
import NetworkSimulator
import Testing
import Transport

/// Two agents find each other.
@Suite struct ICEConnectionTests {
    @Test func aViewerThatNominatesAggressivelyConnectsInOneRoundTrip() throws {
        let call = try Call(nomination: .aggressive)
        let start = call.simulation.now
        #expect(call.connect())
        #expect(call.pathsMatch)
        let viewerConnected = try #require(call.viewer.events.first)
        #expect(
            viewerConnected.event == .connected(try path(call.gateway.addresses.first, call.viewer.addresses.first)))
        #expect(viewerConnected.at - start == .milliseconds(20))
        // The gateway's own check, triggered by the viewer's, needs as long again, less the half that they share.
        #expect(try #require(call.gateway.events.first).at - start == .milliseconds(30))
    }

    @Test func regularNominationNeedsOneRoundTripMore() throws {
        let call = try Call()
        let start = call.simulation.now
        #expect(call.connect())
        #expect(call.pathsMatch)
        #expect(try #require(call.viewer.events.first).at - start == .milliseconds(40))
        #expect(try #require(call.gateway.events.first).at - start == .milliseconds(30))
    }

    @Test func eitherSideMayBeTheOneThatKnowsNoCandidates() throws {
        let call = try Call()
        // Here only the gateway knows where to send.
        let viewer = try ICEPeer(.controlling, at: [Call.viewerHost], seed: 77)
        let gateway = try ICEPeer(.controlled, at: [Call.gatewayHost], seed: 78)
        viewer.learn(gateway, candidates: false)
        gateway.learn(viewer)
        call.simulation.endpoints = [viewer, gateway]
        #expect(call.simulation.run(for: .seconds(5)) { viewer.isConnected && gateway.isConnected })
        #expect(viewer.selectedRemote == gateway.addresses.first)
        #expect(gateway.selectedRemote == viewer.addresses.first)
    }

    @Test func checksThatComeBeforeTheCredentialsAreAnsweredAndRemembered() throws {
        let call = try Call()
        let viewer = try ICEPeer(.controlling, at: [Call.viewerHost], seed: 77)
        let gateway = try ICEPeer(.controlled, at: [Call.gatewayHost], seed: 78)
        viewer.learn(gateway)
        call.simulation.endpoints = [viewer, gateway]
        call.simulation.run(for: .seconds(1))
        #expect(viewer.isConnected, "the gateway answers without knowing anything of the viewer")
        #expect(!gateway.isConnected)
        #expect(gateway.nextDeadline == nil)
        gateway.learn(viewer, candidates: false)
        #expect(call.simulation.run(for: .milliseconds(100)) { gateway.isConnected })
    }

    @Test func candidatesMayTrickleInLate() throws {
        let call = try Call()
        let viewer = try ICEPeer(.controlling, at: [Call.viewerHost], seed: 77)
        let gateway = try ICEPeer(.controlled, at: [Call.gatewayHost], seed: 78)
        viewer.learn(gateway, candidates: false)
        gateway.learn(viewer, candidates: false)
        call.simulation.endpoints = [viewer, gateway]
        #expect(!call.simulation.run(for: .seconds(20)) { viewer.isConnected })
        #expect(viewer.transmitted.isEmpty && gateway.transmitted.isEmpty)
        viewer.learnCandidates(of: gateway)
        #expect(call.simulation.run(for: .seconds(1)) { viewer.isConnected && gateway.isConnected })
    }

    /// In another stack a candidate that was signalled while its check was under way replaced the peer-reflexive one,
    /// and the nomination was lost with it.
    @Test func aCandidateThatIsSignalledInTheMiddleOfItsOwnCheckDisturbsNothing() throws {
        for delay in 0..<50 {
            let call = try Call(nomination: delay.isMultiple(of: 2) ? .regular : .aggressive)
            call.simulation.run(for: .milliseconds(delay))
            call.gateway.learnCandidates(of: call.viewer)
            let start = call.simulation.now
            #expect(call.connect(within: .seconds(1)))
            #expect(call.simulation.now - start <= .milliseconds(40))
            call.simulation.run(for: .seconds(5))
            #expect(call.pathsMatch && call.gateway.eventCount == 1)
        }
    }

    @Test(arguments: [0.01, 0.05, 0.2])
    func connectsThroughLoss(loss: Double) throws {
        var times: [Duration] = []
        for seed in 1...200 as ClosedRange<UInt64> {
            let call = try Call(
                conditions: LinkConditions(latency: .milliseconds(20), loss: loss), seed: seed,
                nomination: seed.isMultiple(of: 2) ? .regular : .aggressive)
            let start = call.simulation.now
            #expect(call.connect(within: .seconds(10)), "seed \(seed)")
            #expect(call.simulation.stall == nil)
            #expect(call.pathsMatch, "seed \(seed)")
            times.append(call.simulation.now - start)
        }
        times.sort()
        // Half of the calls see few losses; nineteen of twenty are through after three retransmissions.
        #expect(times[100] < (loss < 0.1 ? .milliseconds(150) : .milliseconds(500)), "\(times[100])")
        #expect(times[190] < .milliseconds(2500), "\(times[190])")
    }

    @Test func connectsThroughReorderingDuplicationJitterAndBursts() throws {
        var conditions = LinkConditions(latency: .milliseconds(15))
        conditions.jitter = .milliseconds(40)
        conditions.reordering = 0.3
        conditions.reorderingDelay = .milliseconds(50)
        conditions.duplication = 0.2
        conditions.burstLoss = BurstLoss(becomesBad: 0.1, becomesGood: 0.3)
        for seed in 1...200 as ClosedRange<UInt64> {
            let call = try Call(conditions: conditions, seed: seed)
            #expect(call.connect(within: .seconds(15)), "seed \(seed)")
            #expect(call.simulation.stall == nil)
            #expect(call.pathsMatch)
            #expect(call.viewer.agent.counters.unauthenticated == 0)
        }
    }

    @Test(arguments: NATKind.allCases)
    func aViewerBehindANATConnects(kind: NATKind) throws {
        for knowsCandidates in [false, true] {
            let call = try Call(viewer: ["192.168.1.20"], gatewayKnowsCandidates: knowsCandidates)
            let outside = try #require(TransportAddress(Call.viewerHost, port: 0))
            _ = call.simulation.network.addNAT(kind, outside: outside, inside: call.viewer.addresses)
            #expect(call.connect(within: .seconds(2)))
            let seen = try #require(call.gateway.selectedRemote)
            #expect(seen.hasSameHost(as: outside))
            #expect(seen.port != 8189)
        }
    }

    @Test func theBetterOfSeveralPathsIsUsed() throws {
        for nomination in [ICENomination.regular, .aggressive] {
            for seed in 1...20 as ClosedRange<UInt64> {
                let call = try Call(
                    conditions: LinkConditions(latency: .milliseconds(5)), seed: seed, nomination: nomination,
                    viewer: ["2001:db8::7", Call.viewerHost], gateway: ["2001:db8::5", Call.gatewayHost],
                    gatewayKnowsCandidates: true)
                #expect(call.connect())
                call.simulation.run(for: .seconds(1))
                #expect(call.pathsMatch, "the first addresses have the highest priority")
            }
        }
    }

    @Test func theOtherPathIsUsedIfTheBetterOneIsCut() throws {
        for nomination in [ICENomination.regular, .aggressive] {
            let call = try Call(
                nomination: nomination, viewer: ["2001:db8::7", Call.viewerHost],
                gateway: ["2001:db8::5", Call.gatewayHost], gatewayKnowsCandidates: true)
            call.simulation.network.setConditions(.cut, to: call.gateway.addresses[0])
            call.simulation.network.setConditions(.cut, to: call.viewer.addresses[0])
            #expect(call.connect(within: .seconds(1)))
            #expect(call.viewer.selectedRemote == call.gateway.addresses[1])
            #expect(call.gateway.selectedRemote == call.viewer.addresses[1])
        }
    }

    @Test func answersLeaveFromTheAddressThatWasAsked() throws {
        let call = try Call(gateway: ["203.0.113.4", Call.gatewayHost])
        // The viewer knows the second address only.
        let viewer = try ICEPeer(.controlling, at: [Call.viewerHost], seed: 77)
        let gateway = try ICEPeer(.controlled, at: ["203.0.113.4", Call.gatewayHost], seed: 78)
        viewer.agent.setRemote(credentials: gateway.credentials)
        viewer.agent.addRemoteCandidate(RemoteCandidate(address: gateway.addresses[1], priority: 1))
        gateway.learn(viewer, candidates: false)
        call.simulation.endpoints = [viewer, gateway]
        #expect(call.simulation.run(for: .seconds(5)) { viewer.isConnected && gateway.isConnected })
        #expect(gateway.agent.selectedPath?.local == gateway.addresses[1])
        #expect(viewer.selectedRemote == gateway.addresses[1])
    }

    @Test func dataMayFlowOnAValidPairBeforeItIsNominated() throws {
        let call = try Call(gatewayKnowsCandidates: true)
        // The viewer's candidate of lower priority answers first; nomination waits for the better one.
        #expect(call.gateway.agent.validRemoteAddress == nil)
        call.simulation.run(for: .milliseconds(25))
        #expect(call.gateway.agent.selectedRemoteAddress == nil)
        #expect(call.gateway.agent.validRemoteAddress == call.viewer.addresses.first)
    }

    @Test func aLitePeerIsChecked() throws {
        let call = try Call()
        // A lite agent only answers: one that never learns the peer's credentials does the same.
        let viewer = try ICEPeer(.controlled, at: [Call.viewerHost], seed: 77, isLiteAtOtherEnd: true)
        let lite = try ICEPeer(.controlled, at: [Call.gatewayHost], seed: 78)
        #expect(viewer.agent.role == .controlling)
        viewer.learn(lite)
        call.simulation.endpoints = [viewer, lite]
        #expect(call.simulation.run(for: .seconds(1)) { viewer.isConnected })
        #expect(viewer.selectedRemote == lite.addresses.first)
    }
}
