import HomeTypes
import Yams

/// Walks a YAML tree and collects every problem instead of stopping at the first.
///
/// Messages never repeat a scalar's text, because it may be a password on the wrong line.
final class YAMLReader {
    private(set) var problems: [ConfigurationError.Problem] = []

    /// A node with the path of keys that leads to it.
    struct Place {
        let node: Node
        let path: String

        var line: Int { node.mark?.line ?? 0 }

        /// Whether the value is treated as absent: `key:` with nothing after it, or `null`.
        var isNull: Bool { node.null != nil }
    }

    func report(_ reason: String, at place: Place) {
        problems.append(.init(line: place.line, key: place.path, reason: reason))
    }

    /// The entries of a mapping, with a problem for each key that is unknown or appears twice.
    func mapping(_ place: Place, keys: [String]) -> [String: Place] {
        if place.isNull { return [:] }
        guard let mapping = place.node.mapping else {
            report("expected keys and values (\(keys.joined(separator: ", ")))", at: place)
            return [:]
        }
        var entries: [String: Place] = [:]
        for (key, value) in mapping {
            let name = key.string ?? ""
            let path = place.path.isEmpty ? name : "\(place.path).\(name)"
            let entry = Place(node: value, path: path)
            guard keys.contains(name) else {
                let hint = Spelling.advice(for: name, in: keys, what: "keys")
                problems.append(
                    .init(line: key.mark?.line ?? place.line, key: path, reason: "unknown key; \(hint)"))
                continue
            }
            entries[name] = entry
        }
        return entries
    }

    /// The elements of a sequence. An empty one is a problem: a stray dash, or an entry whose lines are gone.
    func sequence(_ place: Place?) -> [Place] {
        guard let place, !place.isNull else { return [] }
        guard let sequence = place.node.sequence else {
            report("expected a list", at: place)
            return []
        }
        let elements = sequence.enumerated().map { Place(node: $0.element, path: "\(place.path)[\($0.offset)]") }
        for element in elements where element.isNull {
            report("there is nothing after the dash; add an entry or remove the dash", at: element)
        }
        return elements.filter { !$0.isNull }
    }

    /// A text.
    func string(_ place: Place?) -> String? {
        guard let place, !place.isNull else { return nil }
        guard let scalar = place.node.scalar else {
            report("expected a text", at: place)
            return nil
        }
        return scalar.string
    }

    /// A whole number in a range.
    func integer(_ place: Place?, in range: ClosedRange<Int>) -> Int? {
        guard let place, !place.isNull else { return nil }
        guard place.node.scalar != nil, let value = place.node.int else {
            report("expected a whole number from \(range.lowerBound) to \(range.upperBound)", at: place)
            return nil
        }
        guard range.contains(value) else {
            report("\(value) is not from \(range.lowerBound) to \(range.upperBound)", at: place)
            return nil
        }
        return value
    }

    /// `true` or `false`.
    func boolean(_ place: Place?) -> Bool? {
        guard let place, !place.isNull else { return nil }
        guard place.node.scalar != nil, let value = place.node.bool else {
            report("expected true or false", at: place)
            return nil
        }
        return value
    }

    /// One of several words.
    func word(_ place: Place?, among words: [String]) -> String? {
        guard let place, let text = string(place) else { return nil }
        guard words.contains(text) else {
            report("expected one of \(words.joined(separator: ", "))", at: place)
            return nil
        }
        return text
    }
}
