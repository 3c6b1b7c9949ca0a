import HomeTypes
import Yams

/// The section `devices`.
extension ConfigurationLoader {
    func devices(_ place: YAMLReader.Place?) -> [GatewayConfiguration.Device] {
        guard let place, !place.isNull else { return [] }
        guard let mapping = place.node.mapping else {
            reader.report("expected a key for each device, with its type", at: place)
            return []
        }
        return mapping.compactMap { key, value in
            let key = key.string ?? ""
            let device = YAMLReader.Place(node: value, path: "\(place.path).\(key)")
            guard Self.isIdentifier(key) else {
                reader.report(
                    "expected 1 to 64 letters, digits, '.', '_' or '-', starting with a letter or digit", at: device)
                return nil
            }
            return self.device(device, key: key)
        }
    }

    private func device(_ place: YAMLReader.Place, key: String) -> GatewayConfiguration.Device? {
        let keys = reader.mapping(place, keys: ["name", "type", "types", "room", "information"])
        guard place.node.mapping != nil else { return nil }
        var places = reader.sequence(keys["types"])
        if let one = keys["type"] {
            if !places.isEmpty { reader.report("a device has either type or types", at: one) }
            places = [one]
        }
        guard !places.isEmpty else {
            reader.report("type is missing", at: place)
            return nil
        }
        let types = places.compactMap(deviceType)
        guard types.count == places.count else { return nil }
        var name = key
        if let place = keys["name"], let text = reader.string(place) {
            if let fault = NameRules.fault(in: text) { reader.report(fault, at: place) }
            name = text
        }
        var device = GatewayConfiguration.Device(key: key, name: name, types: types, room: room(keys["room"]))
        device.information = information(keys["information"])
        return device
    }

    private func room(_ place: YAMLReader.Place?) -> String? {
        guard let place, let text = reader.string(place) else { return nil }
        if text.isEmpty { reader.report("expected the name of a room", at: place) }
        if let fault = NameRules.fault(in: text) { reader.report(fault, at: place) }
        return text
    }

    /// A type's own name; the ending `DeviceType` may be left out.
    private func deviceType(_ place: YAMLReader.Place) -> String? {
        guard let text = reader.string(place) else { return nil }
        let found = Vocabulary.deviceType(named: text) ?? Vocabulary.deviceType(named: "\(text)DeviceType")
        guard let found, !found.isUtilityType else {
            reader.report("is not a type of a device; the document traits.md lists them", at: place)
            return nil
        }
        guard DeviceKind(rawValue: found.name) == nil else {
            reader.report("is a camera's type; cameras belong under cameras", at: place)
            return nil
        }
        return found.name
    }
}
