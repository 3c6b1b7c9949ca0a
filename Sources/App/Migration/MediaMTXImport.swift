import Foundation

/// Reads a config of MediaMTX.
enum MediaMTXImport {
    static func read(_ top: ForeignNode, into builder: inout ConfigurationBuilder) {
        let defaults = top["pathDefaults"]
        for (key, value) in top.entries where !value.isNull {
            switch key {
            case "paths":
                for (name, path) in value.entries {
                    MediaMTXPath(name: name, node: path, defaults: defaults).read(into: &builder)
                }
            case "webrtcLocalUDPAddress":
                if let port = port(value) { builder.change { $0.mediaPort = port } }
            case "webrtcAdditionalHosts":
                for host in value.elements {
                    if let text = host.text, text.isNumericAddress {
                        builder.change { $0.mediaAddresses.append(text) }
                    } else {
                        builder.remark("only numeric addresses can be offered to viewers (media.addresses)", at: host)
                    }
                }
            case "webrtcICEServers2":
                for server in value.elements {
                    ICEServers.read(server, urls: "url", credential: "password", into: &builder)
                }
            case "rtspAddress":
                guard top["rtsp"]?.isTrue != false, let port = port(value) else { break }
                builder.change { $0.rtspPort = port }
                builder.remark(
                    "RTSP is offered to this machine alone, with the gateway's token as the password; host: 0.0.0.0 offers "
                        + "it to the network", at: value)
            default: readSetting(key, value, into: &builder)
            }
        }
    }

    /// A setting outside the paths that Gatehouse has in no form. Those that tune MediaMTX itself are ignored.
    private static func readSetting(_ key: String, _ value: ForeignNode, into builder: inout ConfigurationBuilder) {
        if key.hasPrefix("runOn") {
            builder.remark("Gatehouse starts no programs; automations and MQTT can react instead", at: value)
        } else if ["rtmp", "srt", "playback", "pprof"].contains(key), value.isTrue == true {
            builder.remark("Gatehouse has nothing like this server", at: value)
        } else if key == "webrtcLocalTCPAddress" {
            builder.remark("live views use UDP alone", at: value)
        } else if key == "authInternalUsers" || key == "authMethod" && value.text != "internal" {
            builder.remark(
                "nobody signs in with a name and a password; gatehouse token add makes a token for each", at: value)
        } else if key.hasSuffix("AllowOrigin") || key.hasSuffix("AllowOrigins") {
            if value.elements.contains(where: { $0.text != "*" }) {
                builder.remark("name the pages that may use the API under http.origins", at: value)
            }
        }
    }

    private static func port(_ value: ForeignNode) -> Int? {
        value.text?.split(separator: ":").last.flatMap { Int($0) }.flatMap { (1...65_535).contains($0) ? $0 : nil }
    }
}

/// A path of MediaMTX.
struct MediaMTXPath {
    let name: String
    let node: ForeignNode
    let defaults: ForeignNode?

    func read(into builder: inout ConfigurationBuilder) {
        guard !name.hasPrefix("~"), name != "all", name != "all_others" else {
            builder.remark("each camera needs an entry of its own; publishers cannot choose their names", at: node)
            return
        }
        for (key, value) in node.entries where key.hasPrefix("runOn") && !value.isNull {
            builder.remark("Gatehouse starts no programs; automations and MQTT can react instead", at: value)
        }
        let address = setting("source")?.text ?? "publisher"
        guard address != "publisher" else {
            builder.add(name: name, at: node, source: "whip") { $0.recording = recording }
            builder.remark("publishers send over WHIP, to /whip/ and the camera's key", at: node)
            return
        }
        let stream = CameraSource.stream(address[...])
        guard let scheme = CameraSource.scheme(of: address[...]), ["rtsp", "rtsps"].contains(scheme) || stream != nil
        else {
            let reason = CameraSource.scheme(of: address[...]).map { CameraSource.Reason.scheme($0) }
            let place = setting("source") ?? node
            let known = ["redirect", "rpiCamera"].first { $0 == address }
            builder.remark(
                known.map { "Gatehouse has nothing like the source \($0)" }
                    ?? (reason ?? CameraSource.Reason.unreadable).advice, at: place)
            builder.remark("the camera is left out", at: node)
            return
        }
        if setting("sourceFingerprint")?.isNull == false {
            builder.remark("the camera's certificate is remembered at the first connection", at: node)
        }
        builder.add(name: name, at: node, source: CameraSource.literal(stream ?? address)) { camera in
            camera.isPulledOnDemand = setting("sourceOnDemand")?.isTrue == true
            camera.recording = recording
            switch (setting("rtspTransport") ?? setting("sourceProtocol"))?.text {
            case "tcp": camera.transport = "tcp"
            case "udp": camera.transport = "udp"
            default: break
            }
        }
        if (setting("rtspTransport") ?? setting("sourceProtocol"))?.text == "multicast" {
            builder.remark("multicast is not possible; transport is auto", at: node)
        }
    }

    /// A key of the path, or of all paths.
    private func setting(_ key: String) -> ForeignNode? { node[key] ?? defaults?[key] }

    private var recording: ImportedConfiguration.Recording? {
        guard setting("record")?.isTrue == true else { return nil }
        let age = setting("recordDeleteAfter")?.text
        // 0 keeps recordings for ever.
        let days = ["0", "0s", "0h", "0d"].contains(age) ? 36_500 : age.flatMap(Self.days)
        return .init(trigger: "continuous", days: days)
    }

    /// The days of a duration such as `24h`, `7d` or `1h30m`, rounded up; nil for anything else.
    static func days(_ duration: String) -> Int? {
        let seconds = ["d": 86_400.0, "h": 3_600, "m": 60, "s": 1]
        var total = 0.0
        var digits = ""
        for character in duration {
            if character.isNumber || character == "." {
                digits.append(character)
            } else if let factor = seconds[String(character)], let value = Double(digits) {
                total += value * factor
                digits = ""
            } else {
                return nil
            }
        }
        guard total > 0, total < 36_500 * 86_400 else { return nil }
        return max(1, Int((total / 86_400).rounded(.up)))
    }
}
