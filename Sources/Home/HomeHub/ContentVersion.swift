import Foundation
import HomeTypes

/// A short name for a content, for objects that have no version of their own: equal contents have one name, in each run of
/// the gateway.
public enum ContentVersion {
    /// The name of what a value is as JSON.
    public static func of(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(fingerprint(try encoder.encode(value)), radix: 16)
    }

    /// Fails if the content has changed since a client read it.
    /// - Parameters:
    ///   - version: what the client has read; nil for any.
    ///   - what: what it is, in words.
    /// - Throws: `aborted`.
    public static func require(_ version: String?, of value: some Encodable, _ what: String) throws(HomeError) {
        guard let version else { return }
        // What has no JSON has no version either, so nobody has read it.
        guard let current = try? of(value), current == version else {
            throw HomeError.aborted(
                "\(what) has changed since it was read: If-Match is not its current ETag; read it again")
        }
    }

    /// Tells contents apart (FNV-1a). Somebody can construct two with one fingerprint, so it protects nothing from a person who
    /// wants that.
    static func fingerprint(_ data: Data) -> UInt64 {
        data.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}
