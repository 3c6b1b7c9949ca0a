import Foundation

/// Where a camera's pictures come from, as another gateway writes it.
struct CameraSource: Equatable {
    /// What Gatehouse makes of it.
    enum Kind: Equatable {
        /// It pulls this RTSP or ONVIF URL.
        case url(String)
        /// A publisher sends the pictures.
        case publisher
        /// Another stream of the same file, by its name.
        case stream(String)
        /// Nothing, for this reason.
        case unsupported(Reason)
    }

    /// Why an address cannot be taken over.
    enum Reason: Equatable {
        /// It starts a program, or reads what one prints.
        case program
        /// A protocol that Gatehouse does not read.
        case scheme(String)
        /// It has no scheme.
        case unreadable
        /// A stream of the other gateway itself that its config does not have.
        case missingStream
        /// A stream that waits for a publisher.
        case publisher

        private static let knownSchemes: Set<String> = [
            "alsa", "bubble", "doorbird", "dvrip", "eseecloud", "file", "flussonic", "gopro", "hass", "hls", "homekit",
            "http", "https", "isapi", "ivideon", "kasa", "mjpeg", "mpegts", "multitrans", "nest", "ring", "roborock",
            "rtmp", "rtmps", "rtp", "srt", "tapo", "tcp", "tuya", "udp", "unix", "v4l2", "webrtc", "webtorrent", "whep",
            "wheps", "wyze", "xiaomi", "yandex",
        ]

        /// The reason, and what to do.
        var advice: String {
            switch self {
            case .program:
                "this starts a program, and no source of Gatehouse can do that. Let the program publish by RTSP, RTMP or "
                    + "WHIP instead (source: publisher; see the document whip.md)"
            case .scheme("http"), .scheme("https"):
                "an http:// address may send many things, and this one does not say what. If it sends JPEG pictures, which "
                    + "gatehouse camera probe says, write it as source; hls+, mpegts+ or flv+ in front says that it sends a "
                    + "stream"
            case .scheme("rtmp"), .scheme("rtmps"):
                "Gatehouse reads RTMP with the user and the password in the query (?user=…&password=…), not in front of the "
                    + "host. If the camera takes them there, write that address as source"
            case .scheme("tcp"), .scheme("udp"):
                "of tcp:// and udp:// addresses Gatehouse reads those of MPEG-TS with a port. If this is one, write it as "
                    + "source"
            case .scheme("v4l2"):
                "from this machine's cameras Gatehouse reads H.264 and JPEG: write v4l2:/dev/video0 as source, with "
                    + "its number"
            case .scheme("alsa"): "this has only sound, and a camera needs pictures"
            case .scheme(let scheme):
                // The part before a colon may be a user's name.
                "Gatehouse does not read \(Self.knownSchemes.contains(scheme) ? scheme : "such addresses"). Most cameras offer RTSP or ONVIF as well: gatehouse camera discover "
                    + "finds those of the network"
            case .unreadable: "this is not an address"
            case .missingStream:
                "this is an address of the other gateway itself, and its config has no stream of this name. Write the "
                    + "camera's own address as source"
            case .publisher:
                "the stream that this names waits for a publisher. Write source: publisher, and let it publish to the "
                    + "address of the camera (see the document whip.md)"
            }
        }
    }

    var kind: Kind
    /// `tcp`, `udp` or `http`, where the address says so.
    var transport: String?
    /// Whether it says that nobody may talk to the camera.
    var isSilent = false
    /// What is different about it.
    var remarks: [String] = []

    init(_ kind: Kind, remarks: [String] = []) {
        self.kind = kind
        self.remarks = remarks
    }

    /// The host and its port, to tell whether two addresses are of one camera.
    var host: Substring? {
        guard let url, let host = Self.host(of: url[...]) else { return nil }
        return url.hasPrefix("rtsp://") && host.hasSuffix(":554") ? host.dropLast(4) : host
    }

    /// What follows `://` and a login, up to the path.
    static func host(of address: Substring) -> Substring? {
        guard let start = address.range(of: "://")?.upperBound else { return nil }
        let authority = address[start...].prefix { $0 != "/" && $0 != "?" }
        return authority[(authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex)...]
    }

    /// The stream's name in an address of the other gateway's own RTSP server, which is on the same machine; nil for any
    /// other address.
    static func ownStream(_ address: Substring, port: Int) -> String? {
        guard scheme(of: address) == "rtsp", let place = Self.host(of: address)?.lowercased(),
            ["127.0.0.1", "localhost", "[::1]"].contains(where: { place == "\($0):\(port)" }),
            let end = address.range(of: "://")?.upperBound, let slash = address[end...].firstIndex(of: "/")
        else { return nil }
        let name = String(address[slash...].dropFirst().prefix { !"?#".contains($0) })
        return name.removingPercentEncoding ?? name
    }

    /// The URL that Gatehouse pulls; nil for anything else.
    var url: String? {
        guard case .url(let url) = kind else { return nil }
        return url
    }

    /// The stream of the same file that it names.
    var reference: String? {
        guard case .stream(let name) = kind else { return nil }
        return name
    }

    /// Whether a camera with this source can have a substream.
    var canHaveSubstream: Bool { url?.isRTSP == true || url?.hasPrefix("onvif://") == true }

    /// The URL with the changes of `body`.
    func mapping(_ body: (String) -> String) -> CameraSource {
        guard case .url(let url) = kind else { return self }
        var result = self
        result.kind = .url(body(url))
        return result
    }

    /// A literal text as Gatehouse's config writes it, where `${` would begin the name of a variable.
    static func literal(_ text: String) -> String { text.replacing("${", with: "$${") }

    /// The scheme in front of a colon, in lower case; nil without one.
    static func scheme(of address: Substring) -> String? {
        guard let colon = address.firstIndex(of: ":") else { return nil }
        let scheme = address[..<colon].lowercased()
        let isScheme = scheme.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "+-._".utf8.contains(byte)
        }
        return isScheme && !scheme.isEmpty ? scheme : nil
    }
}
