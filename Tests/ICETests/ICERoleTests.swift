import ICE
import NetworkSimulator
import Testing
import Transport

/// Role conflicts (RFC 8445, section 7.3.1.1).
@Suite struct ICERoleTests {
    @Test(arguments: [ICERole.controlling, .controlled])
    func twoAgentsOfTheSameRoleAgree(role: ICERole) throws {
        for loss in [0, 0.2] {
            for seed in 1...100 as ClosedRange<UInt64> {
                let call = try Call(
                    conditions: LinkConditions(latency: .milliseconds(10), loss: loss), seed: seed,
                    nomination: seed.isMultiple(of: 2) ? .regular : .aggressive, gatewayKnowsCandidates: true,
                    roles: (role, role))
                #expect(call.connect(within: .seconds(10)), "seed \(seed)")
                call.simulation.run(for: .seconds(30))
                #expect(call.viewer.agent.role != call.gateway.agent.role, "seed \(seed)")
                #expect(call.areConnected)
                #expect(call.pathsMatch)
                #expect(call.viewer.agent.counters.roleConflicts > 0 || call.gateway.agent.counters.roleConflicts > 0)
                #expect(call.simulation.stall == nil)
            }
        }
    }
}
