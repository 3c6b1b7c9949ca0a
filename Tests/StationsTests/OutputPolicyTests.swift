import Testing

@testable import Stations

/// What is allowed, in every combination of the four switches and of the permitted usages.
@Suite struct OutputPolicyTests {
    static let policies: [OutputPolicy] = (0..<32).map { bits in
        OutputPolicy(
            isOn: bits & 1 != 0, softRecordingPrivacy: bits & 2 != 0, softLivestreamPrivacy: bits & 4 != 0,
            hardPrivacy: bits & 8 != 0, permitsLiveViews: bits & 16 != 0)
    }

    @Test(arguments: policies) func whatIsAllowed(_ policy: OutputPolicy) {
        var expected: Set<OutputUsage> = []
        if policy.isOn {
            expected.insert(.playback)
            if !policy.hardPrivacy, !policy.softLivestreamPrivacy {
                expected.formUnion(policy.permitsLiveViews ? [.liveView, .snapshot] : [.snapshot])
            }
            if !policy.hardPrivacy, !policy.softRecordingPrivacy { expected.formUnion([.recording, .analysis]) }
        }
        #expect(policy.allowed == expected)
        #expect(policy.needsMedia == !expected.subtracting([.playback]).isEmpty)
    }

    @Test(arguments: policies) func theReasonIsTheSwitchThatHasToGoFirst(_ policy: OutputPolicy) {
        for usage in OutputUsage.allCases {
            let soft: OutputRefusal? =
                switch usage {
                case .liveView, .snapshot: policy.softLivestreamPrivacy ? .livestreamPrivacy : nil
                case .recording, .analysis: policy.softRecordingPrivacy ? .recordingPrivacy : nil
                case .playback: nil
                }
            let hard: OutputRefusal? = usage != .playback && policy.hardPrivacy ? .hardPrivacy : nil
            let unused: OutputRefusal? = usage == .liveView && !policy.permitsLiveViews ? .usage : nil
            #expect(policy.refusal(of: usage) == hard ?? soft ?? (policy.isOn ? unused : .off))
        }
    }

    @Test func onlyPrivacyDiscardsFootage() {
        #expect(OutputRefusal.allCases.filter { !$0.isPrivacy } == [.off, .usage])
        #expect(Set(OutputRefusal.allCases.map(\.endReason)).count == OutputRefusal.allCases.count)
        #expect(OutputRefusal.allCases.filter(\.isPrivacy).allSatisfy { $0.endReason.contains("privacy") })
    }
}
