import Transport

/// The kinds of changes that the fuzzer makes, for the unit tests, which have no fuzzer.
public enum FuzzDamage {
    /// A damaged copy of an input.
    public static func damaged(_ input: [UInt8], _ target: FuzzTarget, _ random: inout RandomSource) -> [UInt8] {
        var bytes = input
        for _ in 0..<Int.random(in: 1...5, using: &random) where !bytes.isEmpty {
            let at = Int.random(in: bytes.indices, using: &random)
            let length = min(Int.random(in: 1...30, using: &random), bytes.count - at)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 2: bytes.removeSubrange(at..<at + length)
            case 3: bytes.insert(contentsOf: bytes[at..<at + length], at: at)
            case 4:
                let word = target.dictionary.randomElement(using: &random) ?? "999999"
                bytes.insert(contentsOf: Array(word.utf8), at: at)
            default: bytes.removeLast(length)
            }
        }
        return bytes
    }
}

extension FuzzTarget {
    /// Passes these bytes in memory of exactly their length, so that the address sanitizer sees every read beyond them.
    public func run(exactly bytes: [UInt8]) throws(FuzzFailure) {
        let exact = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { exact.deallocate() }
        exact.copyBytes(from: bytes)
        try run(UnsafeRawBufferPointer(exact))
    }
}
