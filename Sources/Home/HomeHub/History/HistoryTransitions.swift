import HomeTypes

/// An attribute whose value has changed.
struct HistoryTransition: Hashable, Sendable {
    var endpoint: UInt16?
    var trait: String?
    var attribute: String
    var old: JSONObject.Value
    var new: JSONObject.Value
}

extension HistoryTransition {
    /// What has changed between two states of a device. An attribute that was unknown before has not changed: its first
    /// report is not news.
    static func list(from old: DeviceSnapshot, to new: DeviceSnapshot) -> [HistoryTransition] {
        var result: [HistoryTransition] = []
        let (before, after) = (old.connectivityState, new.connectivityState)
        if before != after, before != .unknown, after != .unknown {
            result.append(
                HistoryTransition(
                    attribute: "connectivityState", old: .text(before.rawValue), new: .text(after.rawValue)))
        }
        for endpoint in new.endpoints {
            guard let earlier = old.endpoints.first(where: { $0.id == endpoint.id }), earlier != endpoint else {
                continue
            }
            for trait in endpoint.traits.all {
                guard let known = earlier.traits[type(of: trait).name], !Self.isSame(trait, known) else { continue }
                result += Self.list(from: known, to: trait, endpoint.id)
            }
        }
        return result
    }

    private static func isSame<Kind: Trait>(_ trait: Kind, _ other: any Trait) -> Bool {
        (other as? Kind)?.attributes == trait.attributes
    }

    private static func list(from old: any Trait, to new: any Trait, _ endpoint: UInt16) -> [HistoryTransition] {
        guard let before = Self.members(old), let after = Self.members(new) else { return [] }
        return after.keys.sorted().compactMap { name in
            guard let old = before[name], let value = after[name], old != value else { return nil }
            return HistoryTransition(
                endpoint: endpoint, trait: type(of: new).name, attribute: name, old: old, new: value)
        }
    }

    /// The attributes as JSON. The JSON of a trait is always an object.
    private static func members(_ trait: any Trait) -> [String: JSONObject.Value]? {
        if case .object(let members)? = try? JSONObject.Value(encoding: trait) { members } else { nil }
    }
}
