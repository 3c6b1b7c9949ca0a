import HomeTypes
import STUN

extension GatewayConfiguration {
    /// The settings that are shown to an administrator, by the keys of the config file. `null` is a key that has no value, and
    /// `false` a section that is off. Passwords are masked; only those of `media.iceServers` are not, because each viewer
    /// gets them.
    var shownSettings: JSONObject {
        JSONObject([
            "http": .object(["publicURL": .init(http.publicURL)]),
            "media": media.shown,
            "network": network.shown,
            "rtsp": rtsp?.shown ?? .bool(false),
            "rtmp": rtmp?.shown ?? .bool(false),
            "recording": recording?.shown ?? .bool(false),
            "mqtt": mqtt?.shown ?? .bool(false),
        ])
    }
}

extension JSONObject.Value {
    fileprivate init(_ text: String?) { self = text.map { Self.text($0) } ?? .null }

    fileprivate init(_ number: Int?) { self = number.map { Self.integer(Int64($0)) } ?? .null }

    /// A mask for a secret, and null where there is none.
    fileprivate static func masked(_ secret: String?) -> Self { secret == nil ? .null : .text(CameraAddress.mask) }
}

extension GatewayConfiguration.Media {
    fileprivate var shown: JSONObject.Value {
        let servers: [JSONObject.Value] = iceServers.map { server in
            .object([
                "url": .text(server.url), "username": .init(server.username), "credential": .init(server.credential),
            ])
        }
        return .object([
            "port": .init(port), "addresses": .list(addresses.map { JSONObject.Value.text($0) }),
            "iceServers": .list(servers),
        ])
    }
}

extension GatewayConfiguration.Network {
    fileprivate var shown: JSONObject.Value {
        .object([
            "stun": .list(stunServers.map { JSONObject.Value.text($0.description) }),
            "turn": .list(turnServers.map(\.shown)), "tcp": tcp.shown, "mdns": multicastDNS.shown,
            "portMapping": .bool(mapsPort),
        ])
    }
}

extension GatewayConfiguration.Network.TURNServer {
    /// The key `ca` is there only with a value: it is for `turns:` servers alone.
    fileprivate var shown: JSONObject.Value {
        var keys: [String: JSONObject.Value] = [
            "url": .text(url.description), "username": .text(username), "credential": .masked(password),
        ]
        if let authorities { keys["ca"] = .text(authorities) }
        return .object(keys)
    }
}

extension GatewayConfiguration.Network.TCP {
    fileprivate var shown: JSONObject.Value {
        switch self {
        case .off: .bool(false)
        case .mediaPort: .bool(true)
        case .port(let port): .integer(Int64(port))
        }
    }
}

extension GatewayConfiguration.Network.MulticastDNS {
    fileprivate var shown: JSONObject.Value {
        switch self {
        case .off: .bool(false)
        case .on(let name): .text(name)
        }
    }
}

extension GatewayConfiguration.RTSPServer {
    fileprivate var shown: JSONObject.Value { .object(["host": .text(host), "port": .init(port)]) }
}

extension GatewayConfiguration.RTMPServer {
    fileprivate var shown: JSONObject.Value { .object(["host": .text(host), "port": .init(port)]) }
}

extension GatewayConfiguration.Recording {
    /// Without the rules of single cameras.
    fileprivate var shown: JSONObject.Value {
        .object([
            "trigger": .text(rules.trigger.rawValue), "preRoll": .init(rules.preRollSeconds), "days": .init(rules.days),
            "gigabytes": .init(rules.gigabytes), "totalGigabytes": .init(totalGigabytes),
            "freeGigabytes": .init(freeGigabytes), "uploadGigabytes": .init(uploadGigabytes), "folder": .init(folder),
        ])
    }
}

extension GatewayConfiguration.MQTT {
    fileprivate var shown: JSONObject.Value {
        .object([
            "host": .text(host), "port": .init(port), "tls": tls?.shown ?? .bool(false), "username": .init(username),
            "password": .masked(password), "clientID": .text(clientID),
            "discoveryPrefix": Self.shown(discoveryPrefix), "zigbee2mqttPrefix": Self.shown(zigbee2mqttPrefix),
            "publish": .bool(publishes), "topicPrefix": .text(topicPrefix), "commands": .bool(acceptsCommands),
            "pictures": .bool(publishesPictures), "presence": presence.shown,
        ])
    }

    /// `false` for topics that are not read.
    private static func shown(_ prefix: String?) -> JSONObject.Value {
        if let prefix { .text(prefix) } else { .bool(false) }
    }
}

extension GatewayConfiguration.MQTT.TLS {
    fileprivate var shown: JSONObject.Value {
        if authorities == nil, files == nil { return .bool(true) }
        return .object([
            "ca": .init(authorities), "certificate": .init(files?.certificate), "privateKey": .init(files?.privateKey),
        ])
    }
}

extension GatewayConfiguration.MQTT.Presence {
    fileprivate var shown: JSONObject.Value {
        switch self {
        case .nobody: .bool(false)
        case .everyTracker: .bool(true)
        case .persons(let persons):
            .object(
                persons.mapValues { trackers in
                    JSONObject.Value.list(trackers.sorted().map { JSONObject.Value.text($0) })
                })
        }
    }
}
