import Foundation

/// A path of MediaMTX.
struct MediaMTXPath {
    let name: String
    let node: ForeignNode
    let defaults: ForeignNode?
    /// The port at which MediaMTX serves its paths over RTSP.
    let rtspPort: Int

    func read(into builder: inout ConfigurationBuilder) {
        guard !name.hasPrefix("~"), name != "all", name != "all_others" else {
            builder.remark("each camera needs an entry of its own; publishers cannot choose their names", at: node)
            return
        }
        for (key, value) in node.entries where key.hasPrefix("runOn") && !value.isNull {
            builder.remark("Gatehouse starts no programs; automations and MQTT can react instead", at: value)
        }
        Self.remarkOnSettings(of: node, into: &builder)
        let (address, isTunnelled) = Self.withoutTunnel(setting("source")?.text ?? "publisher")
        guard address != "publisher" else {
            builder.add(name: name, at: node, source: "publisher") { $0.recording = recording }
            builder.remark(ConfigurationBuilder.publisherRemark, at: node)
            return
        }
        if let other = CameraSource.ownStream(address[...], port: rtspPort) {
            builder.remark(
                "this reads the path \(other) of MediaMTX itself, so it is left out; programs read that camera instead",
                at: node)
            return
        }
        // Over HTTP, MediaMTX reads only HLS.
        let stream =
            CameraSource.stream(address[...]) ?? (CameraSource.isHTTP(address[...]) ? "hls+\(address)" : nil)
        guard let scheme = CameraSource.scheme(of: address[...]), ["rtsp", "rtsps"].contains(scheme) || stream != nil
        else {
            let reason = CameraSource.scheme(of: address[...]).map { CameraSource.Reason.scheme($0) }
            let place = setting("source") ?? node
            builder.remark(
                Self.remark(onSource: address) ?? (reason ?? CameraSource.Reason.unreadable).advice, at: place)
            builder.remark("the camera is left out", at: node)
            return
        }
        if setting("sourceFingerprint")?.isNull == false {
            builder.remark("the camera's certificate is remembered at the first connection", at: node)
        }
        if stream?.hasPrefix("udp://") == true, address.contains("?") {
            builder.remark(
                "what follows the ? is left out: a multicast group is joined on the interface that the system chooses, and "
                    + "any sender is accepted", at: setting("source") ?? node)
        }
        builder.add(name: name, at: node, source: CameraSource.literal(stream ?? address)) { camera in
            camera.isPulledOnDemand = setting("sourceOnDemand")?.isTrue == true
            camera.recording = recording
            switch (setting("rtspTransport") ?? setting("sourceProtocol"))?.text {
            case "tcp": camera.transport = "tcp"
            case "udp": camera.transport = "udp"
            default: break
            }
            if isTunnelled { camera.transport = "http" }
        }
        if (setting("rtspTransport") ?? setting("sourceProtocol"))?.text == "multicast" {
            builder.remark("multicast is not possible; transport is auto", at: node)
        }
    }

    /// An address of RTSP inside HTTP (`rtsp+http://`) as Gatehouse reads it with the transport `http`; any other one as it is.
    private static func withoutTunnel(_ address: String) -> (address: String, isTunnelled: Bool) {
        guard let scheme = CameraSource.scheme(of: address[...]),
            let plain = ["rtsp+http": "rtsp", "rtsps+http": "rtsps", "rtsp+https": "rtsps"][scheme]
        else { return (address, false) }
        return (plain + address.dropFirst(scheme.count), true)
    }

    /// What is said about sources that only MediaMTX has.
    private static func remark(onSource source: String) -> String? {
        switch source {
        case "redirect": "Gatehouse has nothing like the source redirect"
        case "rpiCamera":
            "Gatehouse does not read cameras through libcamera. Keep MediaMTX for this camera and write its address as the "
                + "source, such as rtsp://127.0.0.1:8554/ and the path, with another port for rtsp.port here; or let "
                + "rpicam-vid send MPEG-TS (see the document stream-cameras.md)"
        default: nil
        }
    }

    /// Says what has no counterpart among the settings of a path, or of all paths.
    static func remarkOnSettings(of node: ForeignNode, into builder: inout ConfigurationBuilder) {
        for (key, value) in node.entries where !value.elements.isEmpty {
            switch key {
            // Versions before 1.0 have the users of each path.
            case "readUser", "readPass", "readIPs", "publishUser", "publishPass", "publishIPs":
                builder.remark(ConfigurationBuilder.accountsRemark, at: value)
            case "maxReaders":
                guard value.number != 0 else { continue }
                builder.remark("sessions.perCamera says how many live views each camera may have", at: value)
            case "fallback":
                builder.remark("viewers of a camera that is offline wait for it and see no other one", at: value)
            default: break
            }
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
