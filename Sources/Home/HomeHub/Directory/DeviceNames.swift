import Transport

/// The identifiers of the home's devices and their keys. People may use either to name a device; texts for people use
/// the key.
public final class DeviceNames: Sendable {
    private struct State {
        var keys: [String: String] = [:]
        var ids: [String: String] = [:]
    }

    private let state = Locked(State())

    /// Knows no device yet.
    public init() {}

    /// Replaces the devices: their keys, by their identifiers.
    public func set(_ keys: [String: String]) {
        var state = State(keys: keys)
        for (id, key) in keys { state.ids[key] = id }
        self.state.withLock { $0 = state }
    }

    /// The identifier of a device that is named by its identifier or its key. A text that does not name a device is
    /// returned as it is.
    public func id(of text: String) -> String {
        state.withLock { $0.keys[text] == nil ? $0.ids[text] ?? text : text }
    }

    /// The identifier of the device with a key; nil for an unknown key.
    public func id(ofKey key: String) -> String? {
        state.withLock { $0.ids[key] }
    }

    /// The key of a device; nil for a device that is unknown.
    public func key(of id: String) -> String? {
        state.withLock { $0.keys[id] }
    }

    /// How people know a device: by its key, or by its identifier if it does not have a key.
    public func label(of id: String) -> String { key(of: id) ?? id }

    /// A text for people, with keys in place of the identifiers of devices. An identifier inside a path stays, because
    /// the path would not work without it.
    public func readable(_ text: String) -> String {
        guard text.utf8.count >= MintedID.length else { return text }
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(where: Self.isPart) {
            let end = rest[start...].firstIndex { !Self.isPart($0) } ?? rest.endIndex
            let word = String(rest[start..<end])
            // "d123…:" and "d123….": the punctuation of a sentence is not a part of the identifier.
            let id = String(word.reversed().drop { $0 == "." || $0 == "-" }.reversed())
            result += rest[..<start]
            result += MintedID.isDevice(id) ? label(of: id) + word.dropFirst(id.count) : word
            rest = rest[end...]
        }
        return result + rest
    }

    private static func isPart(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || "/-_.".contains(character)
    }
}
