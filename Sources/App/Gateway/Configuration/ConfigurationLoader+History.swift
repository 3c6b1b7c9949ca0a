import Yams

/// The section `history`.
extension ConfigurationLoader {
    func history(_ place: YAMLReader.Place) -> GatewayConfiguration.History? {
        if place.node.scalar != nil, let isOn = place.node.bool { return isOn ? .init() : nil }
        let keys = reader.mapping(place, keys: ["days", "megabytes"])
        var result = GatewayConfiguration.History()
        if let days = reader.integer(keys["days"], in: 1...36_500) { result.days = days }
        if let megabytes = reader.integer(keys["megabytes"], in: 1...1_000_000) { result.megabytes = megabytes }
        return result
    }
}
