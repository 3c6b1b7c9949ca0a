import Yams

/// The section `push`.
extension ConfigurationLoader {
    func push(_ place: YAMLReader.Place) -> GatewayConfiguration.Push? {
        if place.node.scalar != nil, let isOn = place.node.bool { return isOn ? .init() : nil }
        let keys = reader.mapping(place, keys: ["services", "ca"])
        var result = GatewayConfiguration.Push()
        result.services = reader.sequence(keys["services"]).compactMap { place in
            guard let origin = self.origin(place) else { return nil }
            guard origin.hasPrefix("https://") else {
                reader.report("a push service has an https:// address", at: place)
                return nil
            }
            return origin
        }
        result.authorities = reader.string(keys["ca"]).map(path)
        return result
    }
}
