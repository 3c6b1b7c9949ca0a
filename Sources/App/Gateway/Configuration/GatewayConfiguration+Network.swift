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

        /// Whether the gateway uses multicast DNS, and which name it announces.
        public var multicastDNS = MulticastDNS.on(name: "gatehouse")

        /// Whether the router is asked to forward the media port. It opens a port to the Internet, so it is off by default.
        public var mapsPort = false

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

        /// The TCP port; nil for none.
        /// - Parameter media: the UDP port of all live views.
        func number(media: Int) -> Int? {
            switch self {
            case .off: nil
            case .mediaPort: media
            case .port(let number): Int(number)
            }
        }
    }
}

extension GatewayConfiguration.Network {
    /// The gateway's name in the local network, and the names of viewers' candidates.
    public enum MulticastDNS: Sendable, Equatable {
        /// No name is announced, and none is looked up.
        case off
        /// `NAME.local` is announced where other machines reach the page.
        case on(name: String)
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
        let keys = reader.mapping(place, keys: ["stun", "turn", "tcp", "mdns", "portMapping"])
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
        if let place = keys["mdns"], !place.isNull {
            result.multicastDNS = multicastDNS(place) ?? result.multicastDNS
        }
        if let maps = reader.boolean(keys["portMapping"]) { result.mapsPort = maps }
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

    private func multicastDNS(_ place: YAMLReader.Place) -> GatewayConfiguration.Network.MulticastDNS? {
        let isText = place.node.scalar != nil
        if isText, let isOn = place.node.bool {
            return isOn ? GatewayConfiguration.Network().multicastDNS : .off
        }
        if isText, let name = reader.string(place), (1...60).contains(name.utf8.count), !name.hasPrefix("-"),
            !name.hasSuffix("-"),
            name.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || Self.isLetterOrDigit($0) })
        {
            return .on(name: name.lowercased())
        }
        reader.report(
            "expected true, false or a name of at most 60 letters, digits and hyphens, without .local", at: place)
        return nil
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
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
