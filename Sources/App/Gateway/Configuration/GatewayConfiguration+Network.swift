import STUN
import Yams

extension GatewayConfiguration {
    /// How viewers on other networks reach the gateway.
    public struct Network: Sendable, Equatable {
        /// STUN servers that are asked at which address they see the media port.
        public var stunServers: [ICEServerURL] = []
        /// TURN servers: the first of them that relays for the gateway is used.
        public var turnServers: [TURNServer] = []
        /// Where viewers connect over TCP. It is on by default, because a viewer behind a firewall that blocks UDP has no other
        /// path, and because a connection without a session costs little and is closed within seconds.
        public var tcp = TCP.mediaPort

        /// How many TURN servers a config may name.
        static let maximumTURNServers = 8

        /// The defaults: no server is asked.
        public init() {}
    }
}

extension GatewayConfiguration.Network {
    /// Where viewers connect over TCP.
    public enum TCP: Sendable, Equatable {
        /// Nowhere.
        case off
        /// At the TCP port with the number of the media port.
        case mediaPort
        /// At another port.
        case port(UInt16)
    }
}

extension GatewayConfiguration.Network {
    /// A TURN server, and who may use it.
    public struct TURNServer: Sendable, Equatable {
        /// Where it is.
        public var url: ICEServerURL
        /// The user name of the long-term credentials.
        public var username: String
        /// Their password.
        public var password: String
        /// A PEM file with the authorities to trust over TLS; nil for those of the system.
        public var authorities: String?

        /// Describes a server.
        public init(url: ICEServerURL, username: String, password: String, authorities: String? = nil) {
            self.url = url
            self.username = username
            self.password = password
            self.authorities = authorities
        }
    }
}

extension ConfigurationLoader {
    /// Reads the section `network`.
    func network(_ place: YAMLReader.Place) -> GatewayConfiguration.Network {
        let keys = reader.mapping(place, keys: ["stun", "turn", "tcp"])
        var result = GatewayConfiguration.Network()
        let servers = reader.sequence(keys["stun"])
        result.stunServers = servers.compactMap { stunServer($0) }
        if servers.count > ReflexiveAddressFinder.maximumServers, let place = keys["stun"] {
            reader.report("names \(servers.count) servers; at most \(ReflexiveAddressFinder.maximumServers)", at: place)
        }
        let relays = reader.sequence(keys["turn"])
        result.turnServers = relays.compactMap { turnServer($0) }
        if relays.count > GatewayConfiguration.Network.maximumTURNServers, let place = keys["turn"] {
            reader.report(
                "names \(relays.count) servers; at most \(GatewayConfiguration.Network.maximumTURNServers)", at: place)
        }
        if let place = keys["tcp"], !place.isNull { result.tcp = tcp(place) ?? result.tcp }
        return result
    }

    private func tcp(_ place: YAMLReader.Place) -> GatewayConfiguration.Network.TCP? {
        if place.node.scalar != nil {
            if let isOn = place.node.bool { return isOn ? .mediaPort : .off }
            if let port = place.node.int, (1...65_535).contains(port) { return .port(UInt16(port)) }
        }
        reader.report("expected true, false or a port from 1 to 65535", at: place)
        return nil
    }

    private func turnServer(_ place: YAMLReader.Place) -> GatewayConfiguration.Network.TURNServer? {
        let keys = reader.mapping(place, keys: ["url", "username", "credential", "ca"])
        guard let url = reader.string(keys["url"]).flatMap({ ICEServerURL($0) }),
            url.scheme == .turn || url.scheme == .turns && url.transport == .tcp
        else {
            reader.report(
                "expected a url such as turn:turn.example.org, turn:turn.example.org:3478?transport=tcp or "
                    + "turns:turn.example.org:443", at: place)
            return nil
        }
        if url.scheme == .turn, let place = keys["ca"] {
            reader.report("is for turns: servers only", at: place)
        }
        guard let username = secret(keys["username"]), let password = secret(keys["credential"]), !username.isEmpty,
            !password.isEmpty, username.utf8.count <= 512, password.utf8.count <= 512
        else {
            reader.report("expected a username and a credential of 1 to 512 bytes", at: place)
            return nil
        }
        return .init(
            url: url, username: username, password: password, authorities: reader.string(keys["ca"]).map(path))
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
