import FuzzTargets
import Testing

/// Inputs that broke a promise or ended the process, with the target that found them. Each must run through now.
@Suite struct FoundByFuzzingTests {
    struct Finding: Sendable, CustomTestStringConvertible {
        let target: String
        /// What it broke.
        let testDescription: String
        let bytes: [UInt8]
    }

    static let findings: [Finding] = []

    @Test(arguments: findings) func whatWasFoundIsMended(finding: Finding) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == finding.target })
        try target.run(exactly: finding.bytes)
    }
}
