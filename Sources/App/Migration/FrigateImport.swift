import Foundation

/// Reads a config of Frigate.
enum FrigateImport {
    /// Sections about what is seen in pictures.
    static let detection: Set<String> = [
        "detectors", "detect", "objects", "model", "motion", "review", "semantic_search", "face_recognition", "lpr",
        "genai", "classification", "snapshots",
    ]

    /// Sections that tune Frigate itself, and those that are read together with the cameras.
    private static let ownSections: Set<String> = [
        "go2rtc", "record", "ffmpeg", "live", "logger", "database", "version", "telemetry", "ui", "safe_mode",
        "timestamp_style", "networking",
    ]

    static func read(_ top: ForeignNode, into builder: inout ConfigurationBuilder) {
        let go2rtc = top["go2rtc"]
        let streams = Go2RTCStreams(go2rtc?["streams"], port: Go2RTCImport.rtspPort(go2rtc), prepare: variables)
        let cameras = (top["cameras"]?.entries ?? []).map { name, camera in
            FrigateCamera(name: name, node: camera, top: top, streams: streams)
        }
        for camera in cameras { camera.read(into: &builder) }
        if let go2rtc, go2rtc["streams"] != nil {
            let shown = Set(builder.result.cameras.flatMap { [$0.source] + ($0.substream.map { [$0] } ?? []) })
            streams.remarkOnOthers(into: &builder) { shown.contains($0) }
            Go2RTCImport.readSettings(go2rtc, into: &builder)
        }
        Go2RTCImport.offer(into: &builder)
        for (key, section) in top.entries where !section.isNull { readSection(key, section, into: &builder) }
        guard !top.entries.contains(where: { detection.contains($0.key) && !$0.value.isNull }),
            let section = cameras.compactMap(\.detection).first
        else { return }
        builder.remark(detectionRemark, at: section)
    }

    private static let detectionRemark =
        "Gatehouse does not analyse pictures. It uses what a camera detects (onvif), or what another program reports "
        + "(webhook)"

    private static func readSection(
        _ key: String, _ section: ForeignNode, into builder: inout ConfigurationBuilder
    ) {
        guard section["enabled"]?.isTrue != false else { return }
        switch key {
        case "cameras": break
        case "mqtt": mqtt(section, into: &builder)
        case _ where detection.contains(key): builder.remark(detectionRemark, at: section)
        case "birdseye": builder.remark("the page shows all cameras instead", at: section)
        case "camera_groups":
            builder.remark(
                "rooms group the devices on the page, and /#wall/ with the cameras' keys shows some of them on a wall",
                at: section)
        case "notifications": builder.remark("automations notify instead (automations.notify)", at: section)
        case "auth": builder.remark(ConfigurationBuilder.accountsRemark, at: section)
        case "proxy":
            builder.remark(
                "a reverse proxy needs http.publicURL; nobody is signed in by the headers that it sets", at: section)
        case "tls":
            builder.remark(
                "HTTPS is on at port 8443, with a certificate of the gateway's own unless http.https.certificate and "
                    + "http.https.privateKey name files", at: section)
        case "audio": builder.remark("Gatehouse does not listen for sounds", at: section)
        case "environment_vars":
            builder.remark("set these variables in the environment of the gateway", at: section)
        case _ where ownSections.contains(key): break
        default:
            // A key that begins with x- only holds what others refer to.
            guard !key.hasPrefix("x-") else { break }
            builder.remark("Gatehouse has nothing like this section", at: section)
        }
    }

    private static func mqtt(_ section: ForeignNode, into builder: inout ConfigurationBuilder) {
        guard section["enabled"]?.isTrue != false, let host = section["host"]?.text else { return }
        let authorities = section["tls_ca_certs"]?.text
        builder.change { result in
            result.mqtt = .init(
                host: host, port: section["port"]?.number.flatMap { (1...65_535).contains($0) ? $0 : nil },
                isEncrypted: authorities != nil, authorities: authorities,
                username: section["user"]?.text.map(text), password: section["password"]?.text.map(text))
        }
        if let prefix = section["topic_prefix"] {
            builder.remark(
                "the cameras' topics begin with gatehouse unless mqtt.topicPrefix says otherwise", at: prefix)
        }
    }

    /// Writes `{FRIGATE_…}` as go2rtc writes a variable. Frigate replaces both in the streams of its go2rtc.
    private static func variables(_ text: String) -> String {
        text.replacing(/(\$?)\{(FRIGATE_[A-Za-z0-9_]+)\}/) { "${\($0.2)}" }
    }

    /// A text in which `{FRIGATE_…}` is a variable of the environment.
    static func text(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while let start = rest.range(of: "{FRIGATE_"), let end = rest[start.upperBound...].firstIndex(of: "}") {
            let variable = rest[rest.index(after: start.lowerBound)..<end]
            result += CameraSource.literal(String(rest[..<start.lowerBound])) + "${\(variable)}"
            rest = rest[rest.index(after: end)...]
        }
        return result + CameraSource.literal(String(rest))
    }
}
