import DatagramPort
import Transport

extension GatewayConfiguration {
    /// A place at which the gateway accepts TCP connections.
    struct TCPListener: Sendable, Equatable {
        /// The key of the config that has the port.
        let key: String
        /// The section that the key is in.
        let section: String
        /// The address, `localhost`, or `::` for all of IPv6 and IPv4.
        let host: String
        /// The port.
        let port: Int

        /// Whether only one of the two can be opened.
        func excludes(_ other: TCPListener) -> Bool {
            guard port == other.port else { return false }
            return addresses.contains { own in
                // Each family has ports of its own.
                other.addresses.contains {
                    own.family == $0.family && (own == $0 || own.isUnspecified || $0.isUnspecified)
                }
            }
        }

        /// At most one address of each family.
        private var addresses: [TransportAddress] { TransportAddress.listening(host: host, port: 0) ?? [] }
    }

    /// Where the gateway accepts TCP connections.
    var tcpListeners: [TCPListener] {
        var listeners: [TCPListener] = []
        if let port = network.tcp.number(media: media.port) {
            // It listens at every address, as the UDP port does.
            let isOwn = network.tcp != .mediaPort
            listeners.append(
                .init(
                    key: isOwn ? "network.tcp" : "media.port", section: isOwn ? "network" : "media", host: "::",
                    port: port))
        }
        if let rtsp { listeners.append(.init(key: "rtsp.port", section: "rtsp", host: rtsp.host, port: rtsp.port)) }
        if let rtmp { listeners.append(.init(key: "rtmp.port", section: "rtmp", host: rtmp.host, port: rtmp.port)) }
        listeners.append(.init(key: "http.port", section: "http", host: http.host, port: http.port))
        if let https = http.https {
            listeners.append(
                .init(key: "http.https.port", section: "http", host: https.host ?? http.host, port: https.port))
        }
        return listeners
    }
}

extension ConfigurationLoader {
    /// Reports listeners that would need the same port. Otherwise the second one would fail at the start, and it would look as
    /// if another program had the port.
    func requireDistinctPorts(_ configuration: GatewayConfiguration, _ keys: [String: YAMLReader.Place]) {
        let listeners = configuration.tcpListeners
        for (index, listener) in listeners.enumerated() {
            guard let earlier = listeners[..<index].first(where: { $0.excludes(listener) }),
                let place = keys[listener.section] ?? keys[earlier.section]
            else { continue }
            reader.report("\(earlier.key) and \(listener.key) are both \(listener.port)", at: place)
        }
    }
}
