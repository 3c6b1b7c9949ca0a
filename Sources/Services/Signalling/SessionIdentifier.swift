import MediaRelay
import Transport

/// The identifiers of sessions. They are opaque to clients, and a client that knows one may use the session.
///
/// An identifier says where the session lives, so that a home of several gateways can lead a request to the right one:
/// the version of this form (one digit), the gateway (16), the shard of its relay (2), and 128 random bits (32). All
/// digits are hexadecimal, in lower case.
public enum SessionIdentifier {
    /// The version of this form.
    static let version = "1"
    /// Of a gateway whose own identifier is not known, because its store cannot be used.
    static let unknownGateway = String(repeating: "0", count: 16)
    /// How many digits an identifier has.
    public static let length = 1 + 16 + 2 + randomLength
    private static let randomLength = 32

    static func make(gateway: String?, shard: Int, using random: inout RandomSource) -> String {
        let gateway = gateway.flatMap { $0.utf8.count == 16 ? $0 : nil } ?? unknownGateway
        let shard = String(UInt8(truncatingIfNeeded: shard), radix: 16)
        return version + gateway + String(repeating: "0", count: 2 - shard.count) + shard + random.capability()
    }

    /// Digits that tell sessions apart and open nothing, for logs and lists.
    public static func brief(_ id: String) -> String { String(id.suffix(randomLength).prefix(8)) }
}

extension RandomSource {
    /// A name that nobody can guess: 128 random bits as 32 hexadecimal digits.
    mutating func capability() -> String {
        [next(), next()].map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
