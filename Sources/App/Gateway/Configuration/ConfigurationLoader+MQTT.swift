import HomeTypes
import Yams

/// The section `mqtt`.
extension ConfigurationLoader {
    func mqtt(_ place: YAMLReader.Place) -> GatewayConfiguration.MQTT? {
        if place.node.scalar != nil, place.node.bool == false { return nil }
        let keys = reader.mapping(
            place,
            keys: [
                "host", "port", "tls", "username", "password", "clientID", "discoveryPrefix", "zigbee2mqttPrefix",
                "publish", "topicPrefix", "commands", "pictures", "presence",
            ])
        guard let host = reader.string(keys["host"]) else {
            if keys["host"] == nil { reader.report("host is missing; it names the MQTT broker", at: place) }
            return nil
        }
        guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }), !host.contains("/") else {
            reader.report("expected a name or an address, without mqtt:// in front", at: keys["host"] ?? place)
            return nil
        }
        var result = GatewayConfiguration.MQTT(host: host)
        if let place = keys["tls"] { result.tls = mqttTLS(place) }
        result.port = reader.integer(keys["port"], in: 1...65_535) ?? (result.tls == nil ? 1883 : 8883)
        result.username = secret(keys["username"])
        result.password = secret(keys["password"])
        if result.password != nil, result.username == nil {
            reader.report("password needs a username", at: keys["password"] ?? place)
        }
        if let name = reader.string(keys["clientID"]) {
            if name.isEmpty || name.utf8.count > 64 {
                reader.report("expected 1 to 64 bytes", at: keys["clientID"] ?? place)
            }
            result.clientID = name
        }
        result.discoveryPrefix = topicLevel(keys["discoveryPrefix"], orElse: result.discoveryPrefix)
        result.zigbee2mqttPrefix = topicLevel(keys["zigbee2mqttPrefix"], orElse: result.zigbee2mqttPrefix)
        if let topic = topicLevel(keys["topicPrefix"], orElse: result.topicPrefix) { result.topicPrefix = topic }
        if let publishes = reader.boolean(keys["publish"]) { result.publishes = publishes }
        if let accepts = reader.boolean(keys["commands"]) { result.acceptsCommands = accepts }
        if let pictures = reader.boolean(keys["pictures"]) { result.publishesPictures = pictures }
        if let place = keys["presence"] { result.presence = presence(place) }
        return result
    }

    /// `true`, `false`, or the trackers of each person.
    private func presence(_ place: YAMLReader.Place) -> GatewayConfiguration.MQTT.Presence {
        guard let mapping = place.node.mapping else {
            guard let isOn = reader.boolean(place) else { return .everyTracker }
            return isOn ? .everyTracker : .nobody
        }
        var persons: [String: Set<String>] = [:]
        for (key, value) in mapping {
            let name = key.string ?? ""
            let person = YAMLReader.Place(node: value, path: "\(place.path).\(name)")
            if let fault = NameRules.fault(in: name) { reader.report(fault, at: person) }
            if !(1...60).contains(name.unicodeScalars.count) {
                reader.report("expected a person's name of 1 to 60 characters", at: person)
            }
            let trackers = value.sequence == nil ? [person] : reader.sequence(person)
            persons[name] = Set(trackers.compactMap { reader.string($0) })
            if persons[name]?.isEmpty == true {
                reader.report("expected the person's trackers, by name, unique_id or state topic", at: person)
            }
        }
        return .persons(persons)
    }

    private func mqttTLS(_ place: YAMLReader.Place) -> GatewayConfiguration.MQTT.TLS? {
        if place.node.scalar != nil, let isOn = place.node.bool { return isOn ? .init() : nil }
        let keys = reader.mapping(place, keys: ["ca", "certificate", "privateKey"])
        var result = GatewayConfiguration.MQTT.TLS()
        result.authorities = reader.string(keys["ca"]).map(path)
        result.files = certificateFiles(keys, at: place)
        return result
    }

    /// A text that may name variables of the environment.
    func secret(_ place: YAMLReader.Place?) -> String? {
        guard let place else { return nil }
        return reader.string(place).flatMap { substituted($0, at: place) }
    }

    /// The beginning of topics; `false` switches them off.
    private func topicLevel(_ place: YAMLReader.Place?, orElse standard: String?) -> String? {
        guard let place else { return standard }
        if place.node.scalar != nil, place.node.bool == false { return nil }
        guard let text = reader.string(place) else { return standard }
        guard !text.isEmpty, text.utf8.count <= 200, !text.hasPrefix("/"), !text.hasSuffix("/"), !text.hasPrefix("$"),
            text.unicodeScalars.allSatisfy({ $0 != "+" && $0 != "#" && $0.value > 0x20 && $0.value != 0x7F })
        else {
            reader.report("expected the beginning of a topic, such as homeassistant, without + and #", at: place)
            return standard
        }
        return text
    }
}
