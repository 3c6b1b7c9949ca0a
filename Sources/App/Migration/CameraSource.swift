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
                "this starts a program, which no source of Gatehouse can. Let the program publish to the gateway over WHIP "
                    + "instead (source: whip)"
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
                "of cameras of this machine Gatehouse takes H.264 and JPEG: write v4l2:/dev/video0 as source, with the number "
                    + "of the device"
            case .scheme(let scheme):
                // What stands in front of a colon may be a user's name.
                "Gatehouse does not read \(Self.knownSchemes.contains(scheme) ? scheme : "such addresses"). Most cameras offer RTSP or ONVIF as well: gatehouse camera discover "
                    + "finds those of the network"
            case .unreadable: "this is not an address"
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
        guard case .url(let url) = kind, let start = url.range(of: "://")?.upperBound else { return nil }
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" }
        return authority[(authority.lastIndex(of: "@").map(authority.index(after:)) ?? authority.startIndex)...]
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
