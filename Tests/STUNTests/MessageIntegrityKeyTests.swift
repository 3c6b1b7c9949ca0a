import Testing

@testable import STUN

@Suite struct MessageIntegrityKeyTests {
    /// OpenSSL before 3.0.3 cannot begin again with the same key, and each digest begins with a copy.
    @Test(arguments: [true, false]) func aKeyMakesOneDigestAfterTheOther(beginsAgain: Bool) throws {
        var key = MessageIntegrityKey(Vectors.password, beginsAgain: beginsAgain)
        for bytes in [Vectors.request, Vectors.ipv4Response, Vectors.ipv6Response, Vectors.request] {
            let isValid = try withMessage(bytes) { $0.hasValidIntegrity(&key) }
            #expect(isValid)
            var changed = bytes
            changed[25] ^= 1
            let isStillValid = try withMessage(changed) { $0.hasValidIntegrity(&key) }
            #expect(!isStillValid)
        }
    }
}
