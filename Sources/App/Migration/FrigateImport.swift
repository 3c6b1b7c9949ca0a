import Foundation

/// Reads a config of Frigate.
enum FrigateImport {
    private static let detection: Set<String> = [
        "detectors", "detect", "objects", "model", "motion", "review", "semantic_search", "face_recognition", "lpr",
        "genai",
        "classification", "snapshots",
    ]

    static func read(_ top: ForeignNode, into builder: inout ConfigurationBuilder) {
        let streams = Go2RTCStreams(top["go2rtc"]?["streams"], prepare: variables)
        for (key, section) in top.entries where !section.isNull {
            switch key {
            case "cameras":
                for (name, camera) in section.entries {
                    FrigateCamera(name: name, node: camera, top: top, streams: streams).read(into: &builder)
                }
            case "mqtt": mqtt(section, into: &builder)
            case _ where detection.contains(key):
                builder.remark(
                    "Gatehouse does not analyse pictures. It takes what a camera detects (onvif), or what another program "
                        + "reports (webhook)", at: section)
            case "birdseye": builder.remark("the page shows all cameras instead", at: section)
            case "notifications": builder.remark("automations notify instead (automations.notify)", at: section)
            case "auth":
                builder.remark("nobody signs in with a name and a password; gatehouse token makes tokens", at: section)
            case "audio": builder.remark("Gatehouse does not listen for sounds", at: section)
            default: break
            }
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

/// A camera of Frigate.
struct FrigateCamera {
    let name: String
    let node: ForeignNode
    let top: ForeignNode
    let streams: Go2RTCStreams

    /// A stream that Frigate reads, and what for.
    private struct Input {
        var source: CameraSource
        var roles: Set<String>
        var place: ForeignNode
    }

    func read(into builder: inout ConfigurationBuilder) {
        guard node["enabled"]?.isTrue != false else {
            builder.remark("the camera is left out, because it is not enabled", at: node)
            return
        }
        let inputs = (node["ffmpeg"]?["inputs"]?.elements ?? []).map(input)
        for input in inputs {
            for remark in input.source.remarks { builder.remark(remark, at: input.place) }
            if case .unsupported(let reason) = input.source.kind { builder.remark(reason.advice, at: input.place) }
        }
        let usable = inputs.filter { $0.source.host != nil }
        // The stream that is recorded is the large one.
        guard let main = usable.first(where: { $0.roles.contains("record") }) ?? usable.first,
            case .url(let address) = main.source.kind
        else {
            builder.remark("the camera is left out, because none of its inputs can be read", at: node)
            return
        }
        var substream: String?
        for other in usable {
            guard case .url(let url) = other.source.kind, url != address else { continue }
            if substream == nil, url.isRTSP {
                substream = url
            } else if url != substream {
                builder.remark("a camera has one source and one substream; this one is left out", at: other.place)
            }
        }
        builder.add(name: name, at: node, source: address) { camera in
            if let title = node["friendly_name"]?.text { camera.name = title }
            camera.substream = substream
            camera.transport = main.source.transport ?? transport
            camera.onvif = onvif
            camera.recording = recording
        }
    }

    /// An input. Those that name Frigate's own go2rtc are replaced by what that reads.
    private func input(_ element: ForeignNode) -> Input {
        let roles = Set(element["roles"]?.elements.compactMap(\.text) ?? [])
        let place = element["path"] ?? element
        let address = element["path"]?.text ?? ""
        if let stream = Self.restream(address), let known = streams.url(of: stream) {
            return Input(source: known.source, roles: roles, place: place)
        }
        if let stream = CameraSource.stream(address[...]) ?? CameraSource.device(address[...]) {
            return Input(source: CameraSource(.url(FrigateImport.text(stream))), roles: roles, place: place)
        }
        guard let scheme = CameraSource.scheme(of: address[...]) else {
            return Input(source: CameraSource(.unsupported(.unreadable)), roles: roles, place: place)
        }
        let isRead = ["rtsp", "rtsps"].contains(scheme)
        return Input(
            source: CameraSource(isRead ? .url(FrigateImport.text(address)) : .unsupported(.scheme(scheme))),
            roles: roles, place: place)
    }

    /// The stream's name in an address of Frigate's own go2rtc.
    private static func restream(_ address: String) -> String? {
        for host in ["127.0.0.1", "localhost", "[::1]"] {
            let start = "rtsp://\(host):8554/"
            if address.hasPrefix(start) { return String(address.dropFirst(start.count).prefix { $0 != "?" }) }
        }
        return nil
    }

    /// Frigate's presets for its ffmpeg say how RTP travels.
    private var transport: String? {
        let preset = (node["ffmpeg"]?["input_args"] ?? top["ffmpeg"]?["input_args"])?.text
        return preset == "preset-rtsp-udp" ? "udp" : nil
    }

    private var onvif: ImportedConfiguration.ONVIFDevice? {
        guard let section = node["onvif"], let host = section["host"]?.text.map(FrigateImport.text) else { return nil }
        let port = section["port"]?.number ?? 8000
        let url = host.contains("://") ? host : "http://\(host):\(port)/onvif/device_service"
        return .init(
            url: url, username: section["user"]?.text.map(FrigateImport.text),
            password: section["password"]?.text.map(FrigateImport.text))
    }

    private var recording: ImportedConfiguration.Recording? {
        let (own, general) = (node["record"], top["record"])
        guard (own?["enabled"] ?? general?["enabled"])?.isTrue == true else { return nil }
        func days(_ keys: String...) -> Int? {
            func found(_ record: ForeignNode?) -> ForeignNode? { keys.reduce(record) { $0?[$1] } }
            guard let text = (found(own) ?? found(general))?.text, let days = Double(text) else { return nil }
            return Int(min(36_500, max(0, days)).rounded(.up))
        }
        // Since version 0.17 there are two sections; before, one with a mode.
        let always = days("continuous", "days") ?? days("retain", "days")
        let mode = (own?["retain"]?["mode"] ?? general?["retain"]?["mode"])?.text ?? "all"
        if let always, always > 0 { return .init(trigger: mode == "all" ? "continuous" : "motion", days: always) }
        let kept =
            [days("motion", "days")]
            + ["alerts", "detections", "events"].map { days($0, "retain", "days") }
        return .init(trigger: "motion", days: kept.compactMap { $0 }.filter { $0 > 0 }.max())
    }
}
