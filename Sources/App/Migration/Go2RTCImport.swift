/// Reads a config of go2rtc.
enum Go2RTCImport {
    /// Sections that tune go2rtc itself, or that Gatehouse has by itself.
    private static let ownSections: Set<String> = ["log", "ffmpeg", "app", "debug", "preload", "mjpeg"]

    static func read(_ top: ForeignNode, into builder: inout ConfigurationBuilder) {
        Go2RTCStreams(top["streams"], port: rtspPort(top)).read(into: &builder)
        readSettings(top, into: &builder)
        offer(into: &builder)
    }

    /// Home Assistant has shown the cameras through go2rtc, perhaps the one in Frigate.
    static func offer(into builder: inout ConfigurationBuilder) {
        guard !builder.result.cameras.isEmpty else { return }
        builder.change { $0.offersGo2RTC = true }
        builder.remark(
            "Home Assistant may use the gateway as its go2rtc. The old users and passwords do not work: make a token "
                + "with gatehouse token create home-assistant --scope read media, and name the gateway with it in Home "
                + "Assistant's configuration.yaml (see the document http-api.md, \"Home Assistant\")",
            about: "go2rtc")
    }

    /// Reads everything but the streams.
    static func readSettings(_ top: ForeignNode, into builder: inout ConfigurationBuilder) {
        rtsp(top, into: &builder)
        for (key, section) in top.entries {
            switch key {
            case "streams", "rtsp": break
            case "webrtc": webrtc(section, into: &builder)
            case "api": api(section, into: &builder)
            case "rtmp":
                // It is off without an address, and where that is empty.
                if let listen = section["listen"], listen.text != "" { RTMPImport.take(listen, into: &builder) }
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

    /// The port at which go2rtc serves RTSP.
    static func rtspPort(_ top: ForeignNode?) -> Int {
        top?["rtsp"]?["listen"]?.text?.split(separator: ":").last.flatMap { Int($0) } ?? standardRTSPPort
    }

    /// Where these gateways serve RTSP unless their configs say otherwise.
    static let standardRTSPPort = 8554
    /// What a remark says about the RTSP server.
    static let rtspRemark =
        "RTSP is offered to this machine only, with a token that only watches in the address (?token=); host: 0.0.0.0 "
        + "offers it to the network"
    /// The same, where the port is the one that the other gateway has by default.
    static let standardRTSPRemark =
        "the other gateway serves the cameras at port 8554 by default, so this one does too. " + rtspRemark
        + ". While both run on one machine, give one of them another port"

    private static func webrtc(_ section: ForeignNode, into builder: inout ConfigurationBuilder) {
        if let listen = section["listen"] {
            let port = listen.text?.split(separator: ":").last.flatMap { Int($0.prefix { $0 != "/" }) }
            if let port, (1...65_535).contains(port) {
                builder.change { $0.mediaPort = port }
                if listen.text?.hasSuffix("/tcp") == true {
                    builder.remark(
                        "live views use UDP at this port, and TCP where no direct path over UDP works (network.tcp)",
                        at: listen)
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

    private static func rtsp(_ top: ForeignNode, into builder: inout ConfigurationBuilder) {
        guard let section = top.entries.first(where: { $0.key == "rtsp" })?.value,
            let listen = section.entries.first(where: { $0.key == "listen" })?.value
        else {
            guard !builder.result.cameras.isEmpty else { return }
            builder.change { $0.rtspPort = standardRTSPPort }
            builder.remark(standardRTSPRemark, about: "rtsp")
            return
        }
        // An empty address switches it off.
        guard let text = listen.text else { return }
        guard let port = text.split(separator: ":").last.flatMap({ Int($0) }), (1...65_535).contains(port) else {
            builder.remark("the port of RTSP cannot be read, so RTSP is off; write it under rtsp", at: listen)
            return
        }
        builder.change { $0.rtspPort = port }
        builder.remark(rtspRemark, at: listen)
    }

    private static func api(_ section: ForeignNode, into builder: inout ConfigurationBuilder) {
        for (key, value) in section.entries {
            switch key {
            case "listen", "tls_listen":
                builder.remark(
                    "the page and the API have ports of their own, 8080 and over HTTPS 8443; write others under http.port and "
                        + "http.https.port", at: value)
            case "username", "password":
                builder.remark(ConfigurationBuilder.accountsRemark, at: value)
            case "origin":
                builder.remark("name the pages that may use the API under http.origins; * is not possible", at: value)
            case "tls_cert", "tls_key":
                builder.remark("name the files under http.https.certificate and http.https.privateKey", at: value)
            default: break
            }
        }
    }
}
