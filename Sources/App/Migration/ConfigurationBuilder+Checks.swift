import Foundation
import RTSP

/// What Gatehouse's config does not take is left out with a remark: one value that it refuses would refuse the whole file.
extension ConfigurationBuilder {
    /// Whether a text is a URL with one of some schemes, a host, a port that exists, and no space.
    static func isAddress(_ text: String, _ schemes: [String]) -> Bool {
        guard let colon = text.firstIndex(of: ":"), schemes.contains(text[..<colon].lowercased()),
            text[colon...].hasPrefix("://")
        else { return false }
        let host = authority(of: text).split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        guard !host.isEmpty, !host.hasPrefix(":"), hasNoSpace(text) else { return false }
        // The port may be in a variable; `$${` is a literal `${`.
        return text.replacing("$${", with: "").contains("${")
            || (try? RTSPURL(parsing: "rtsp://" + text[colon...].dropFirst(3))) != nil
    }

    private static func authority(of text: String) -> Substring {
        guard let start = text.range(of: "://")?.upperBound else { return "" }
        return text[start...].prefix { !"/?#".contains($0) }
    }

    private static func hasNoSpace(_ text: String) -> Bool { text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F } }

    /// What the address of a camera can begin with.
    static let schemes = [
        "rtsp", "rtsps", "onvif", "http", "https", "rtmp", "rtmps", "tcp", "udp", "hls+http", "hls+https",
        "mpegts+http", "mpegts+https", "flv+http", "flv+https",
    ]

    /// Leaves out what a camera's entry could not have.
    mutating func check(_ camera: inout ImportedConfiguration.Camera, at place: ForeignNode) {
        if camera.substream != nil, !Self.isAddress(camera.source, ["rtsp", "rtsps", "onvif"]) {
            camera.substream = nil
            remark("its substream is left out: only a camera with RTSP or ONVIF can have one", at: place)
        }
        if let substream = camera.substream, !Self.isAddress(substream, ["rtsp", "rtsps"]) {
            camera.substream = nil
            remark("its substream is left out, because the address has no host or contains a space", at: place)
        }
        if let onvif = camera.onvif,
            !Self.isAddress(onvif.url, ["http", "https"]) || Self.authority(of: onvif.url).contains("@")
                || onvif.username == nil && onvif.password != nil
        {
            camera.onvif = nil
            remark(
                "its ONVIF service is left out: write its URL, user and password under onvif of the camera", at: place)
        }
        camera.name = Self.visible(camera.name)
        if camera.name.isEmpty { camera.name = "Camera" }
    }

    /// Leaves out a broker that cannot be reached as it is written.
    static func check(_ result: inout ImportedConfiguration) {
        guard let mqtt = result.mqtt else { return }
        let isHost = !mqtt.host.isEmpty && hasNoSpace(mqtt.host) && !mqtt.host.contains("/")
        guard !isHost || mqtt.username == nil && mqtt.password != nil else { return }
        result.mqtt = nil
        result.remarks.append(
            .init(
                line: 0, key: "mqtt",
                text: "the broker is left out: write its host, user and password under mqtt"))
    }

    /// A name without characters that nobody sees, on one line.
    static func visible(_ name: String) -> String {
        String(String.UnicodeScalarView(name.unicodeScalars.filter { !ImportedConfiguration.isInvisible($0) }))
    }
}
