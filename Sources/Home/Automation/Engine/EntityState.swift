import AutomationGraph
import HomeTypes

/// A starter of an automation.
struct StarterPlace: Sendable, Hashable {
    var automationID: String
    /// Its number in the program.
    var number: Int
}

/// What the engine knows of a device or structure, and who waits for its changes.
struct EntityState: Sendable {
    /// A trait whose changes start something.
    struct Watch: Sendable {
        var trait: String
        var deviceType: String?
        var starters: [StarterPlace]
        /// The last state that was checked.
        var latest: (any Trait)?
        /// The last known value of each attribute. One that becomes unknown keeps it.
        var known: [String: JSONObject.Value] = [:]
    }

    /// The name of an event.
    struct EventName: Sendable, Hashable {
        var trait: String
        var event: String
    }

    var isOnline = true
    /// Whether it has left the home.
    var isRemoved = false
    /// The parts; nil until the entity is known.
    var parts: [ObservedDevice.Part]?
    var watches: [Watch] = []
    var events: [EventName: [StarterPlace]] = [:]

    /// Applies the current state of a device.
    /// - Returns: whether it could be reached before.
    mutating func adopt(_ device: ObservedDevice) -> Bool {
        let wasOnline = parts != nil && isOnline
        isOnline = device.isOnline
        isRemoved = false
        parts = device.parts
        return wasOnline
    }

    /// Records that a device has left the home. When it comes back, its first values are not changes of those before.
    mutating func leave() {
        parts = nil
        isRemoved = true
        for index in watches.indices {
            watches[index].latest = nil
            watches[index].known = [:]
        }
    }

    /// The state of a trait; nil if it is missing or unknown.
    func trait(_ name: String, deviceType: String?) -> (any Trait)? {
        guard let parts else { return nil }
        for part in parts {
            guard let trait = part.traits[name] else { continue }
            if deviceType.map({ part.isKind(of: $0) }) ?? true { return trait }
        }
        return nil
    }

    /// Whether an event of an endpoint comes from a part of a type.
    func isEvent(from endpoint: UInt16?, ofType deviceType: String?) -> Bool {
        guard let deviceType, let endpoint, let part = parts?.first(where: { $0.endpoint == endpoint }) else {
            return true
        }
        // A camera's detections are of the camera as a whole.
        return part.isKind(of: deviceType) || part.types.isEmpty
    }

    /// Applies the current state of the watched traits.
    /// - Returns: the starters whose traits have changed, with the new values.
    mutating func takeChanges() -> [(places: [StarterPlace], trait: String, values: [String: JSONObject.Value])] {
        var changes: [(places: [StarterPlace], trait: String, values: [String: JSONObject.Value])] = []
        for index in watches.indices {
            let watch = watches[index]
            guard let new = trait(watch.trait, deviceType: watch.deviceType) else { continue }
            if let old = watch.latest, old.isSame(as: new) { continue }
            watches[index].latest = new
            var changed: [String: JSONObject.Value] = [:]
            for (name, value) in new.values where value != .null && !Schema.globalAttributes.contains(name) {
                if let old = watches[index].known.updateValue(value, forKey: name), old != value {
                    changed[name] = value
                }
            }
            if !changed.isEmpty { changes.append((watch.starters, watch.trait, changed)) }
        }
        return changes
    }
}

extension ObservedDevice.Part {
    /// Whether the part is of a type, or of one that includes it.
    fileprivate func isKind(of wanted: String) -> Bool {
        if types.contains(wanted) { return true }
        guard let type = Vocabulary.deviceType(named: wanted) else { return false }
        return types.contains { Vocabulary.deviceType(named: $0)?.isKind(of: type) ?? false }
    }
}

extension Trait {
    fileprivate func isSame(as other: any Trait) -> Bool {
        guard let other = other as? Self else { return false }
        return attributes == other.attributes
    }
}
