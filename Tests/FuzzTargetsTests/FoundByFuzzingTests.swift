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

    static let findings: [Finding] = [
        Finding(
            target: "rtsp-headers", testDescription: "a challenge's nonce with a line feed ended up in the request",
            bytes: Array("Digest realm=\"r\", nonce=\"n\"RTSP/1.0 200 OK\r\n56, opaque=\"oest tAle=TR!E".utf8))
    ]

    @Test(arguments: findings) func whatFuzzingFoundIsFixed(finding: Finding) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == finding.target })
        try target.run(exactly: finding.bytes)
    }
}
