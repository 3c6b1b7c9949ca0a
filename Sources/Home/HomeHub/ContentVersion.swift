import Foundation
import HomeTypes

/// A short name of a content, for objects without a version of their own: equal contents have the same name in every
/// run of the gateway.
public enum ContentVersion {
    /// The name of a value's JSON.
    public static func of(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(fingerprint(try encoder.encode(value)), radix: 16)
    }

    /// Fails if the content has changed since a client read it.
    /// - Parameters:
    ///   - version: what the client has read; nil for any.
    ///   - what: what it is, for the message.
    /// - Throws: `aborted`.
    public static func require(_ version: String?, of value: some Encodable, _ what: String) throws(HomeError) {
        guard let version else { return }
        // A value without JSON does not have a version either, so no client has read it.
        guard let current = try? of(value), current == version else {
            throw HomeError.aborted(
                "\(what) has changed since it was read: If-Match is not its current ETag; read it again")
        }
    }

    /// Distinguishes contents (FNV-1a). An attacker can construct two with the same fingerprint, so this is not a
    /// protection.
    static func fingerprint(_ data: Data) -> UInt64 {
        data.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}
