/// Reads a config of go2rtc.
enum Go2RTCImport {
    /// Sections that tune go2rtc itself, or that Gatehouse has by itself.
    private static let ownSections: Set<String> = ["log", "ffmpeg", "app", "debug", "preload", "mjpeg"]

    static func read(_ top: ForeignNode, into builder: inout ConfigurationBuilder) {
        for (key, section) in top.entries {
            switch key {
            case "streams": Go2RTCStreams(section).read(into: &builder)
            case "webrtc": webrtc(section, into: &builder)
            case "rtsp": rtsp(section, into: &builder)
            case "api": api(section, into: &builder)
            case _ where ownSections.contains(key): break
            case "hass":
                builder.remark("Home Assistant finds the cameras over MQTT: add a section mqtt", at: section)
            case "homekit": builder.remark("cameras are not offered to HomeKit", at: section)
            case "publish": builder.remark("streams are not sent on to other services", at: section)
            case "exec", "echo", "expr":
                builder.remark("no source of Gatehouse can start a program", at: section)
            default: builder.remark("Gatehouse has nothing like this section", at: section)
            }
        }
    }

    private static func webrtc(_ section: ForeignNode, into builder: inout ConfigurationBuilder) {
        if let listen = section["listen"] {
            let port = listen.text?.split(separator: ":").last.flatMap { Int($0.prefix { $0 != "/" }) }
            if let port, (1...65_535).contains(port) {
                builder.change { $0.mediaPort = port }
                if listen.text?.hasSuffix("/udp") != true {
                    builder.remark("live views use UDP alone, at this port", at: listen)
                }
            } else {
                builder.remark("live views use the default UDP port, 8189", at: listen)
            }
        }
        for server in section["ice_servers"]?.elements ?? [] {
            ICEServers.read(server, urls: "urls", credential: "credential", into: &builder)
        }
        for candidate in section["candidates"]?.elements ?? [] {
            let host = candidate.text.map { $0.split(separator: ":", omittingEmptySubsequences: false).dropLast() }
            let address = host.map { $0.joined(separator: ":").trimmingBrackets() } ?? ""
            if address.isNumericAddress {
                builder.change { $0.mediaAddresses.append(address) }
            } else if host == ["stun"] {
                // The address at which STUN servers see the gateway is offered by itself.
                if builder.result.stunServers.isEmpty {
                    builder.remark("name the STUN servers that the gateway should ask in network.stun", at: candidate)
                }
            } else {
                builder.remark("only numeric addresses can be offered to viewers (media.addresses)", at: candidate)
            }
        }
    }

    private static func rtsp(_ section: ForeignNode, into builder: inout ConfigurationBuilder) {
        guard let listen = section["listen"] else { return }
        guard let port = listen.text?.split(separator: ":").last.flatMap({ Int($0) }), (1...65_535).contains(port)
        else {
            return
        }
        builder.change { $0.rtspPort = port }
        builder.remark(
            "RTSP is offered to this machine alone, with the gateway's token as the password; host: 0.0.0.0 offers it to "
                + "the network", at: listen)
    }

    private static func api(_ section: ForeignNode, into builder: inout ConfigurationBuilder) {
        for (key, value) in section.entries {
            switch key {
            case "listen", "tls_listen":
                builder.remark(
                    "the page and the API are at port 8080 of this machine, and over HTTPS at 8443; http.https.host: 0.0.0.0 "
                        + "offers them to the network", at: value)
            case "username", "password":
                builder.remark(
                    "nobody signs in with a name and a password, but with the token of gatehouse token", at: value)
            case "origin":
                builder.remark("name the pages that may use the API under http.origins; * is not possible", at: value)
            case "tls_cert", "tls_key":
                builder.remark("name the files under http.https.certificate and http.https.privateKey", at: value)
            default: break
            }
        }
    }
}
