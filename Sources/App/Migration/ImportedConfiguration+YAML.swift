import Foundation

extension ImportedConfiguration {
    /// The config as YAML, as `gatehouse serve --config` reads it. The remarks are at its end as comments.
    /// - Parameter origin: the name of the file that was read.
    public func yaml(from origin: String) -> String {
        var lines = [
            "# Made from \(Self.comment(origin)) by gatehouse import.",
            "# The document configuration.md explains every key.",
        ]
        lines += pageLines + mediaLines + networkLines + cameraLines + recordingLines
        lines += rtspLines + rtmpLines + go2RTCLines + mqttLines
        if !remarks.isEmpty {
            lines += ["", "# What is different, by line of \(Self.comment(origin)):"]
            lines += remarks.map { "# \(Self.comment($0.description))" }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var pageLines: [String] {
        if isOpen {
            return [
                "", "http:", "  # Other devices open the page over HTTPS. Plain HTTP is for this machine only.",
                "  https:",
                "    host: 0.0.0.0",
            ]
        }
        return [
            "", "# Only this machine opens the page. With these lines, other devices open it over HTTPS:",
            "# http: {https: {host: 0.0.0.0}}",
        ]
    }

    private var mediaLines: [String] {
        var lines: [String] = []
        if let mediaPort { lines.append("  port: \(mediaPort)") }
        if !mediaAddresses.isEmpty {
            lines.append("  addresses: [\(mediaAddresses.map(Self.quoted).joined(separator: ", "))]")
        }
        if !iceServers.isEmpty {
            lines.append("  iceServers:")
            lines += iceServers.map { server in
                "    - "
                    + Self.mapping([
                        ("url", server.url), ("username", server.username), ("credential", server.credential),
                    ])
            }
        }
        return lines.isEmpty ? [] : ["", "media:"] + lines
    }

    private var networkLines: [String] {
        guard !stunServers.isEmpty else { return [] }
        return ["", "network:", "  stun: [\(stunServers.map(Self.quoted).joined(separator: ", "))]"]
    }

    private var cameraLines: [String] {
        guard !cameras.isEmpty else { return ["", "cameras: []"] }
        var lines = ["", "cameras:"]
        for camera in cameras {
            lines.append("  - id: \(Self.quoted(camera.id))")
            lines.append("    name: \(Self.quoted(camera.name))")
            if camera.isDoorbell { lines.append("    type: doorbell") }
            lines.append("    source: \(Self.quoted(camera.source))")
            if let substream = camera.substream { lines.append("    substream: \(Self.quoted(substream))") }
            if let transport = camera.transport { lines.append("    transport: \(transport)") }
            // There, it says nothing about a battery.
            if camera.isPulledOnDemand { lines += ["    pull: on-demand", "    battery: false"] }
            if camera.isSilent { lines.append("    talkback: \"off\"") }
            if let onvif = camera.onvif {
                let keys = [("url", onvif.url), ("username", onvif.username), ("password", onvif.password)]
                lines.append("    onvif: " + Self.mapping(keys))
            }
        }
        return lines
    }

    /// A camera without an entry is recorded only on a command.
    private var recordingLines: [String] {
        let recorded = cameras.compactMap { camera in camera.recording.map { (camera.id, $0) } }
        guard !recorded.isEmpty else { return [] }
        let entries = recorded.map { id, recording in
            let days = recording.days.map { ", days: \($0)" } ?? ""
            return "    - {id: \(Self.quoted(id)), trigger: \(recording.trigger)\(days)}"
        }
        return ["", "recording:", "  trigger: command", "  cameras:"] + entries
    }

    private var rtspLines: [String] {
        guard let rtspPort else { return [] }
        return ["", "rtsp:", "  host: 127.0.0.1", "  port: \(rtspPort)"]
    }

    private var rtmpLines: [String] {
        guard let rtmpPort else { return [] }
        return ["", "rtmp:", "  host: 127.0.0.1", "  port: \(rtmpPort)"]
    }

    private var go2RTCLines: [String] {
        guard offersGo2RTC else { return [] }
        return ["", "# Home Assistant may use the gateway as its go2rtc, with a token of the gateway.", "go2rtc: true"]
    }

    private var mqttLines: [String] {
        guard let mqtt else { return [] }
        var lines = ["", "mqtt:", "  host: \(Self.quoted(mqtt.host))"]
        if let port = mqtt.port { lines.append("  port: \(port)") }
        if let authorities = mqtt.authorities {
            lines.append("  tls: {ca: \(Self.quoted(authorities))}")
        } else if mqtt.isEncrypted {
            lines.append("  tls: true")
        }
        if let username = mqtt.username { lines.append("  username: \(Self.quoted(username))") }
        if let password = mqtt.password { lines.append("  password: \(Self.quoted(password))") }
        return lines
    }

    private static func mapping(_ keys: [(String, String?)]) -> String {
        let entries = keys.compactMap { key, value in value.map { "\(key): \(quoted($0))" } }
        return "{\(entries.joined(separator: ", "))}"
    }

    /// A text in double quotes, which YAML reads as only that text.
    static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\t": result += "\\t"
            case "\n": result += "\\n"
            case _ where isInvisible(scalar): result += "\\U" + padded(scalar.value)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// A text that stays on one line and changes the direction of no other.
    static func comment(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isInvisible($0) ? " " : $0 }))
    }

    private static func padded(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// Control characters, line ends, and those that change the direction of text.
    static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
        default: false
        }
    }
}

extension ImportedConfiguration.Remark: CustomStringConvertible {
    /// The remark as a line of text.
    public var description: String {
        let place = [line == 0 ? "" : "line \(line)", key].filter { !$0.isEmpty }.joined(separator: ", ")
        return place.isEmpty ? text : "\(place): \(text)"
    }
}
