import Testing

@testable import Cameras

struct SegmentCipherTests {
    /// NIST SP 800-38A, F.2.1: the first two blocks. The third one is their padding.
    private static let key = bytes("2b7e151628aed2a6abf7158809cf4f3c")
    private static let vector = bytes("000102030405060708090a0b0c0d0e0f")
    private static let plain = bytes("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
    private static let encrypted = bytes(
        "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b255e21d7100b988ffec32feeafaf23538")

    private static func bytes(_ text: String) -> [UInt8] {
        let digits = Array(text)
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }

    private static func decrypt(
        _ bytes: [UInt8], size: Int, key: [UInt8] = key, vector: [UInt8] = vector
    ) -> [UInt8]? {
        guard var cipher = SegmentCipher(key: key, initializationVector: vector) else { return nil }
        var plain: [UInt8] = []
        for begin in stride(from: 0, to: bytes.count, by: size) {
            plain += bytes[begin..<min(begin + size, bytes.count)].withUnsafeBytes { cipher.decrypt($0) }
        }
        return cipher.finish().map { plain + $0 }
    }

    @Test(arguments: [1, 7, 16, 17, 48]) func `A segment is decrypted however it arrives`(size: Int) {
        #expect(Self.decrypt(Self.encrypted, size: size) == Self.plain)
    }

    @Test func `Another key and a segment that was cut are noticed`() {
        #expect(Self.decrypt(Self.encrypted, size: 48, key: [UInt8](repeating: 1, count: 16)) == nil)
        #expect(Self.decrypt(Array(Self.encrypted.dropLast()), size: 48) == nil)
        #expect(Self.decrypt([], size: 1) == nil)
    }

    @Test func `A key of another length is refused`() {
        #expect(Self.decrypt(Self.encrypted, size: 48, key: [1, 2, 3]) == nil)
        #expect(Self.decrypt(Self.encrypted, size: 48, vector: []) == nil)
    }
}
