import HomeTypes

/// Identifiers as a table on a terminal shows them: their beginnings, long enough to tell them apart.
public struct ShortIdentifiers: Sendable, Hashable {
    /// The fewest characters that are shown, and that name something.
    public static let fewest = 8

    private let length: Int

    /// Finds how much of these identifiers tells them apart.
    public init(_ ids: some Sequence<String>) {
        let sorted = Set(ids).sorted()
        // Those with the longest common beginning are neighbours.
        length = zip(sorted, sorted.dropFirst()).reduce(Self.fewest) { length, pair in
            max(length, zip(pair.0, pair.1).prefix { $0 == $1 }.count + 1)
        }
    }

    /// The beginning of an identifier.
    public subscript(id: String) -> String { String(id.prefix(length)) }

    /// The identifier that a person means: the one that is the text, or the only one that begins with it.
    /// - Parameter kind: what the identifiers name, in the plural, for the message.
    /// - Returns: nil where none is meant. A text of fewer than ``fewest`` characters is not a beginning.
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
