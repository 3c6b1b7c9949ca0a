import Foundation

/// Reads a config of MediaMTX.
enum MediaMTXImport {
    static func read(_ top: ForeignNode, into builder: inout ConfigurationBuilder) {
        let rtspPort = port(top["rtspAddress"]) ?? Go2RTCImport.standardRTSPPort
        for (name, path) in top["paths"]?.entries ?? [] {
            MediaMTXPath(name: name, node: path, defaults: top["pathDefaults"], rtspPort: rtspPort).read(into: &builder)
        }
        rtsp(top, into: &builder)
        rtmp(top, into: &builder)
        if !builder.result.cameras.isEmpty {
            builder.remark(
                "players find a camera at other addresses: over WHEP at /whep/ and its key, over HLS at live.m3u8, both at the "
                    + "ports of the page and with a token; the page lists them for each camera "
                    + "(see the document http-api.md)",
                about: "players")
        }
        for (key, value) in top.entries where !value.isNull { readSetting(key, value, into: &builder) }
    }

    private static func rtsp(_ top: ForeignNode, into builder: inout ConfigurationBuilder) {
        guard top["rtsp"]?.isTrue != false, top["rtspDisable"]?.isTrue != true else { return }
        guard let address = top["rtspAddress"] else {
            guard !builder.result.cameras.isEmpty else { return }
            builder.change { $0.rtspPort = Go2RTCImport.standardRTSPPort }
            builder.remark(Go2RTCImport.standardRTSPRemark, about: "rtsp")
            return
        }
        guard let port = port(address) else {
            builder.remark("the port of RTSP cannot be read, so RTSP is off; write it under rtsp", at: address)
            return
        }
        builder.change { $0.rtspPort = port }
        builder.remark(Go2RTCImport.rtspRemark, at: address)
    }

    private static func rtmp(_ top: ForeignNode, into builder: inout ConfigurationBuilder) {
        guard top["rtmp"]?.isTrue != false, top["rtmpDisable"]?.isTrue != true else { return }
        if let address = top["rtmpAddress"] {
            RTMPImport.take(address, into: &builder)
        } else {
            RTMPImport.takeStandard(switchedOnAt: top["rtmp"], into: &builder)
        }
    }

    private static func readSetting(_ key: String, _ value: ForeignNode, into builder: inout ConfigurationBuilder) {
        switch key {
        case "paths", "rtspAddress", "rtmp", "rtmpAddress": break
        case "pathDefaults": MediaMTXPath.remarkOnSettings(of: value, into: &builder)
        // Versions before 1.0 have the second names of these.
        case "webrtcLocalUDPAddress", "webrtcICEUDPMuxAddress":
            if let port = port(value) { builder.change { $0.mediaPort = port } }
        case "webrtcAdditionalHosts", "webrtcICEHostNAT1To1IPs":
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
        case "webrtcICEServers":
            for server in value.elements { ICEServers.readText(server, into: &builder) }
        default: remarkOnSetting(key, value, into: &builder)
        }
    }

    /// A setting outside the paths that Gatehouse has in no form. Those that tune MediaMTX itself are ignored.
    private static func remarkOnSetting(
        _ key: String, _ value: ForeignNode, into builder: inout ConfigurationBuilder
    ) {
        if key.hasPrefix("runOn") {
            builder.remark("Gatehouse starts no programs; automations and MQTT can react instead", at: value)
        } else if ["srt", "playback", "pprof"].contains(key), value.isTrue == true {
            builder.remark("Gatehouse has nothing like this server", at: value)
        } else if ["webrtcLocalTCPAddress", "webrtcICETCPMuxAddress"].contains(key) {
            builder.remark(
                "viewers connect over TCP at the port of media.port, where no direct path over UDP works; network.tcp names "
                    + "another port", at: value)
        } else if accounts.contains(key) || key == "authMethod" && value.text != "internal" {
            builder.remark(ConfigurationBuilder.accountsRemark, at: value)
        } else if key.hasSuffix("Encryption") || key == "encryption", value.text != "no", value.isTrue != false {
            builder.remark(
                "name the files of a certificate under http.https.certificate and http.https.privateKey; RTSP is not encrypted",
                at: value)
        } else if key.hasSuffix("AllowOrigin") || key.hasSuffix("AllowOrigins") {
            if value.elements.contains(where: { $0.text != "*" }) {
                builder.remark("name the pages that may use the API under http.origins", at: value)
            }
        }
    }

    /// Settings about users. The last one is of versions before 1.0.
    private static let accounts: Set<String> = [
        "authInternalUsers", "authHTTPAddress", "authJWTJWKS", "externalAuthenticationURL",
    ]

    private static func port(_ value: ForeignNode?) -> Int? {
        value?.text?.split(separator: ":").last.flatMap { Int($0) }.flatMap { (1...65_535).contains($0) ? $0 : nil }
    }
}
