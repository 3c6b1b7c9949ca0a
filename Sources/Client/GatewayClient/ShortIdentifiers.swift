import HomeTypes

/// Identifiers as a table on a terminal shows them: prefixes that are long enough to distinguish them.
public struct ShortIdentifiers: Sendable, Hashable {
    /// The minimum length of a prefix, both in tables and as a person's input.
    public static let fewest = 8

    private let length: Int

    /// Finds how long the prefixes of these identifiers must be to distinguish them.
    public init(_ ids: some Sequence<String>) {
        let sorted = Set(ids).sorted()
        // Those with the longest common prefix are neighbours.
        length = zip(sorted, sorted.dropFirst()).reduce(Self.fewest) { length, pair in
            max(length, zip(pair.0, pair.1).prefix { $0 == $1 }.count + 1)
        }
    }

    /// The prefix of an identifier.
    public subscript(id: String) -> String { String(id.prefix(length)) }

    /// The identifier that a person means: the one that is the text, or the only one that begins with it.
    /// - Parameter kind: what the identifiers name, in the plural, for the message.
    /// - Returns: nil if none matches. A text of fewer than ``fewest`` characters is not a prefix.
    /// - Throws: `invalidArgument` if several identifiers begin with the text.
    public static func id(
        meant text: String, in ids: some Sequence<String>, kind: String
    ) throws(HomeError) -> String? {
        let candidates = Set(ids)
        if candidates.contains(text) { return text }
        guard text.count >= fewest else { return nil }
        let found = candidates.filter { $0.hasPrefix(text) }.sorted()
        guard found.count < 2 else {
            throw .invalidArgument(
                "the ids of \(found.count) \(kind) begin with \(text); type more of the one that you mean: "
                    + found.prefix(5).joined(separator: ", "))
        }
        return found.first
    }
}
