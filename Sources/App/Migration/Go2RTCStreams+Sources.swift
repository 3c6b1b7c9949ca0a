import Foundation

/// One source of a stream: `rtsp://…#transport=udp`, `ffmpeg:yard#video=h264`, `exec:…`.
extension Go2RTCStreams {
    /// What Gatehouse makes of a source.
    /// - Parameter port: the port at which go2rtc serves the streams over RTSP.
    static func source(_ text: String, port: Int) -> CameraSource {
        guard !text.isEmpty else { return CameraSource(.publisher) }
        let parts = text.split(separator: "#", omittingEmptySubsequences: false)
        let address = withCheckedCertificate(parts[0].drop { $0 == " " })
        guard let scheme = CameraSource.scheme(of: address) else { return CameraSource(.unsupported(.unreadable)) }
        var source: CameraSource
        switch scheme {
        case "rtsp", "rtsps":
            if let own = CameraSource.ownStream(address, port: port) { return CameraSource(.stream(own)) }
            source = url(address)
        case "onvif":
            source = url(address.prefix { $0 != "?" })
            if address.contains("?") {
                source.remarks.append(
                    "the profile is left out: the camera is asked for its largest stream and a smaller one; write "
                        + "substream: none for one stream")
            }
        case "ffmpeg":
            return transcoded(address.dropFirst(scheme.count + 1), options: parts.dropFirst(), port: port)
        case "exec", "echo", "expr": return CameraSource(.unsupported(.program))
        default:
            guard let known = CameraSource.other(address) else { return CameraSource(.unsupported(.scheme(scheme))) }
            source = withVariables(known)
        }
        for option in parts.dropFirst() { apply(option, to: &source) }
        return source
    }

    /// An address of which go2rtc accepts any certificate (`rtspx`, `httpx`, `rtmpx`), with the scheme that Gatehouse knows.
    /// Gatehouse remembers the camera's certificate at the first connection.
    private static func withCheckedCertificate(_ address: Substring) -> Substring {
        guard let scheme = CameraSource.scheme(of: address), ["rtspx", "httpx", "rtmpx"].contains(scheme) else {
            return address
        }
        return Substring("\(scheme.dropLast())s\(address.dropFirst(scheme.count))")
    }

    private static func apply(_ option: Substring, to source: inout CameraSource) {
        let pair = option.split(separator: "=", maxSplits: 1)
        switch (pair.first, pair.dropFirst().first) {
        case ("backchannel", "0"): source.isSilent = true
        case ("transport", "tcp"): source.transport = "tcp"
        case ("transport", "udp"): source.transport = "udp"
        case ("transport", .some): source.remarks.append("RTSP inside a WebSocket is not possible; transport is auto")
        case ("header", .some): source.remarks.append("the header is left out: requests have no others here")
        default: break
        }
    }

    /// `ffmpeg:` in front of an address, of a device, or of the name of a stream.
    private static func transcoded(
        _ inner: Substring, options: ArraySlice<Substring>, port: Int
    ) -> CameraSource {
        if inner.hasPrefix("virtual") { return CameraSource(.unsupported(.program)) }
        if inner.hasPrefix("device?") {
            let hasPictures = inner.contains("?video=") || inner.contains("&video=")
            return CameraSource.device(inner).map { withVariables($0) }
                ?? CameraSource(.unsupported(.scheme(hasPictures ? "v4l2" : "alsa")))
        }
        guard let scheme = CameraSource.scheme(of: inner) else {
            return CameraSource(.stream(inner.prefix { $0 != "?" }.description))
        }
        if let own = CameraSource.ownStream(inner, port: port) { return CameraSource(.stream(own)) }
        // Of H.264 go2rtc would copy the pictures.
        let encodes = options.contains { $0.hasPrefix("video=") && $0 != "video=copy" }
        var source: CameraSource
        if ["rtsp", "rtsps"].contains(scheme) {
            source = url(inner)
        } else if let known = CameraSource.other(inner) {
            source = withVariables(known)
        } else if CameraSource.isHTTP(inner), encodes {
            source = withVariables(CameraSource.presumedPictures(inner))
        } else {
            return CameraSource(.unsupported(.scheme(scheme)))
        }
        source.remarks.append("no ffmpeg is needed: Gatehouse itself transcodes, and only while a viewer needs it")
        for option in options where option.hasPrefix("transport=") { apply(option, to: &source) }
        return source
    }

    /// A source whose `${NAME}` is a variable of the environment in both configs.
    private static func withVariables(_ source: CameraSource) -> CameraSource {
        guard let text = source.url else { return source }
        var result = url(text)
        result.remarks = source.remarks + result.remarks
        return result
    }

    /// An address whose `${NAME}` is a variable of the environment in both configs.
    private static func url(_ text: some StringProtocol) -> CameraSource {
        var result = ""
        var rest = String(text)[...]
        var remarks: [String] = []
        while let start = rest.range(of: "${"), let end = rest[start.upperBound...].firstIndex(of: "}") {
            let reference = rest[start.upperBound..<end]
            let variable = reference.prefix { $0 != ":" }
            result += rest[..<start.lowerBound] + "${\(variable)}"
            if variable != reference {
                remarks.append("set the variable \(variable) in the environment; its default is left out")
            }
            rest = rest[rest.index(after: end)...]
        }
        return CameraSource(.url(result + CameraSource.literal(String(rest))), remarks: remarks)
    }
}
