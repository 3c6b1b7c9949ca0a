import STUN

extension GatewayConfiguration {
    /// How viewers on other networks reach the gateway.
    public struct Network: Sendable, Equatable {
        /// STUN servers that are asked at which address they see the media port.
        public var stunServers: [ICEServerURL] = []

        /// The defaults: no server is asked.
        public init() {}
    }
}

extension ConfigurationLoader {
    /// Reads the section `network`.
    func network(_ place: YAMLReader.Place) -> GatewayConfiguration.Network {
        let keys = reader.mapping(place, keys: ["stun"])
        var result = GatewayConfiguration.Network()
        let servers = reader.sequence(keys["stun"])
        result.stunServers = servers.compactMap { stunServer($0) }
        if servers.count > ReflexiveAddressFinder.maximumServers, let place = keys["stun"] {
            reader.report("names \(servers.count) servers; at most \(ReflexiveAddressFinder.maximumServers)", at: place)
        }
        return result
    }

    private func stunServer(_ place: YAMLReader.Place) -> ICEServerURL? {
        guard let text = reader.string(place) else { return nil }
        guard let url = ICEServerURL(text.hasPrefix("stun:") ? text : "stun:\(text)"), url.scheme == .stun else {
            reader.report("expected a STUN server such as stun.example.org or stun.example.org:3478", at: place)
            return nil
        }
        return url
    }
}
