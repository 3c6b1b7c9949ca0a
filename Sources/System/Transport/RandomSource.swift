/// Where a state machine gets its random numbers: the system's secure generator, or a seed in a test.
///
/// It is a value and not an existential, so handing it in costs nothing, and a test can reproduce a run from the seed.
public enum RandomSource: RandomNumberGenerator, Sendable {
    /// The operating system's cryptographically secure generator.
    case system
    /// A reproducible sequence (SplitMix64). For tests only: it is not secure.
    case seeded(UInt64)

    /// The next 64 random bits.
    public mutating func next() -> UInt64 {
        switch self {
        case .system:
            var generator = SystemRandomNumberGenerator()
            return generator.next()
        case .seeded(let state):
            let next = state &+ 0x9E37_79B9_7F4A_7C15
            self = .seeded(next)
            var mixed = next
            mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
            return mixed ^ mixed >> 31
        }
    }

    /// `count` random characters of the ICE alphabet (letters, digits, `+`, `/`; 6 bits each; RFC 8839, section 5.4).
    public mutating func iceCharacters(_ count: Int) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        let bytes = (0..<count).map { _ in alphabet[Int(next() & 63)] }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension RandomSource {
    /// A separate source for something that the owner of `source` makes: the system's again, or one that is seeded with
    /// the next number.
    public static func derived(from source: inout RandomSource) -> RandomSource {
        switch source {
        case .system: .system
        case .seeded: .seeded(source.next())
        }
    }
}
