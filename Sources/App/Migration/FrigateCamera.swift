import Foundation

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
        remarkOnSettings(into: &builder)
        let usable = inputs.filter { $0.source.url != nil }
        // The stream that is recorded is the large one.
        guard let main = usable.first(where: { $0.roles.contains("record") }) ?? usable.first,
            let address = main.source.url
        else {
            builder.remark("the camera is left out, because none of its inputs can be read", at: node)
            return
        }
        var substream: String?
        for other in usable {
            guard let url = other.source.url, url != address else { continue }
            if substream == nil, url.isRTSP, main.source.canHaveSubstream {
                substream = url
            } else if url != substream {
                builder.remark(
                    "a camera has one source, and with RTSP or ONVIF one substream by RTSP; this one is left out",
                    at: other.place)
            }
        }
        builder.add(name: name, at: node, source: address) { camera in
            if let title = node["friendly_name"]?.text { camera.name = title }
            camera.substream = substream
            camera.transport = main.source.transport
            camera.onvif = onvif
            camera.recording = recording
        }
    }

    /// An input. Those that name Frigate's own go2rtc are replaced by what that reads.
    private func input(_ element: ForeignNode) -> Input {
        let roles = Set(element["roles"]?.elements.compactMap(\.text) ?? [])
        let place = element["path"] ?? element
        let address = element["path"]?.text ?? ""
        if let stream = streams.ownStream(address) {
            // The arguments are about the way from go2rtc to Frigate.
            let known = streams.url(of: stream)?.source
            return Input(
                source: known ?? CameraSource(.unsupported(streams.reason(of: stream))), roles: roles, place: place)
        }
        let arguments = FrigateInputArguments(
            element["input_args"] ?? node["ffmpeg"]?["input_args"] ?? top["ffmpeg"]?["input_args"])
        var source = direct(address[...], arguments).mapping(FrigateImport.text)
        source.transport = arguments.transport
        if arguments.areOwn {
            source.remarks.append("no ffmpeg reads the camera, so the arguments for it (input_args) are left out")
        }
        return Input(source: source, roles: roles, place: place)
    }

    /// What Gatehouse makes of an address that Frigate's ffmpeg reads itself.
    private func direct(_ address: Substring, _ arguments: FrigateInputArguments) -> CameraSource {
        guard let scheme = CameraSource.scheme(of: address) else {
            return CameraSource.device(address) ?? CameraSource(.unsupported(.unreadable))
        }
        if ["rtsp", "rtsps"].contains(scheme) { return CameraSource(.url(String(address))) }
        if let known = CameraSource.other(address) { return known }
        guard CameraSource.isHTTP(address) else { return CameraSource(.unsupported(.scheme(scheme))) }
        switch arguments.format {
        case .pictures: return CameraSource.presumedPictures(address)
        case .stream(let format): return CameraSource(.url("\(format)+\(address)"))
        case nil: return CameraSource(.unsupported(.scheme(scheme)))
        }
    }

    /// The first setting about what is seen in the camera's pictures.
    var detection: ForeignNode? {
        node.entries.first { FrigateImport.detection.contains($0.key) && !$0.value.isNull }?.value
    }

    /// Says what of the camera's settings has no counterpart.
    private func remarkOnSettings(into builder: inout ConfigurationBuilder) {
        if let zones = node["zones"] {
            builder.remark("Gatehouse has no zones, because it does not analyse pictures", at: zones)
        }
        if let tracking = node["onvif"]?["autotracking"], tracking["enabled"]?.isTrue != false {
            builder.remark("Gatehouse does not move cameras", at: tracking)
        }
        if let audio = node["audio"], audio["enabled"]?.isTrue != false {
            builder.remark("Gatehouse does not listen for sounds", at: audio)
        }
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
