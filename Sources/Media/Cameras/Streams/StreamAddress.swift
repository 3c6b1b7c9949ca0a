import HTTPMedia
import RTSP
import StreamFormats

/// The address of a camera that sends a stream other than RTP.
///
/// | Address | What comes |
/// |---|---|
/// | `http://host/live.m3u8`, `hls+http://host/live` | HTTP Live Streaming (RFC 8216) |
/// | `http://host/live.ts`, `mpegts+http://host/live` | an MPEG transport stream in one answer |
/// | `http://host/live.flv`, `http://host/flv?…`, `flv+http://host/live` | FLV in one answer |
/// | `rtmp://host/application/stream` | RTMP |
/// | `tcp://host:port` | an MPEG transport stream over a connection |
/// | `udp://address:port` | an MPEG transport stream in datagrams to this address, which may be a multicast group |
///
/// `https` and `rtmps` go over TLS.
public struct StreamAddress: Sendable {
    /// What carries the stream.
    enum Carrier: Sendable {
        case playlist(HTTPAddress)
        case transportStream(HTTPAddress)
        case flash(HTTPAddress)
        case rtmp(RTMPAddress)
        case tcp(host: String, port: UInt16)
        case udp(host: String, port: UInt16)
    }

    /// What comes, and over what.
    public enum Form: Sendable, Hashable, CaseIterable {
        /// HTTP Live Streaming (RFC 8216).
        case playlist
        /// An MPEG transport stream in one answer.
        case transportStreamOverHTTP
        /// FLV in one answer.
        case flashOverHTTP
        /// RTMP.
        case rtmp
        /// An MPEG transport stream over TCP.
        case transportStreamOverTCP
        /// An MPEG transport stream in datagrams.
        case transportStreamOverUDP
    }

    let carrier: Carrier
    let credentials: RTSPCredentials?

    /// The schemes that always mean such a stream.
    public static let schemes =
        ["rtmp", "rtmps", "tcp", "udp"] + ["hls", "mpegts", "flv"].flatMap { ["\($0)+http", "\($0)+https"] }

    /// Whether a URL is the address of such a stream, and not of JPEG pictures or of an RTSP camera.
    public static func isStream(_ text: String) -> Bool {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        if schemes.contains(scheme) { return true }
        guard scheme == "http" || scheme == "https" else { return false }
        return Kind(path: text) != nil
    }

    private enum Kind: String {
        case hls, mpegts, flv

        /// What the end of a path says.
        init?(path: String) {
            let name = path.prefix { $0 != "?" && $0 != "#" }.split(separator: "/").last?.lowercased() ?? ""
            if name.hasSuffix(".m3u8") || name.hasSuffix(".m3u") {
                self = .hls
            } else if name.hasSuffix(".ts") {
                self = .mpegts
            } else if name.hasSuffix(".flv") || name == "flv" {
                self = .flv
            } else {
                return nil
            }
        }
    }

    /// Reads an address.
    public init(_ text: String) throws(HTTPAddressError) {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        let rest = text.dropFirst(scheme.count)
        guard rest.hasPrefix("://") else { throw .invalidAddress("it has no ://") }
        if scheme == "http" || scheme == "https" || scheme.contains("+") {
            let prefix = scheme.contains("+") ? String(scheme.prefix { $0 != "+" }) : ""
            let transport = prefix.isEmpty ? scheme : String(scheme.dropFirst(prefix.count + 1))
            let (address, credentials) = try HTTPAddress.parse(transport + rest, defaultPath: "/")
            self.credentials = credentials
            switch Kind(rawValue: prefix) ?? (prefix.isEmpty ? Kind(path: address.path) : nil) {
            case .hls: carrier = .playlist(address)
            case .mpegts: carrier = .transportStream(address)
            case .flv: carrier = .flash(address)
            case nil: throw .invalidAddress("nothing says what it sends: write hls+, mpegts+ or flv+ in front")
            }
            return
        }
        // Players write `udp://@group:port`.
        let place = rest.dropFirst(3)
        let url: RTSPURL
        do {
            url = try RTSPURL(parsing: "rtsp://" + (place.hasPrefix("@") ? place.dropFirst() : place))
        } catch {
            guard case .invalidURL(let reason) = error else { throw .invalidAddress("it cannot be read") }
            throw .invalidAddress(reason)
        }
        guard url.credentials == nil else {
            throw .invalidAddress(
                scheme.hasPrefix("rtmp")
                    ? "RTMP takes the user and the password from the query, for example ?user=admin&password=…"
                    : "\(scheme):// has no user and no password")
        }
        credentials = nil
        switch scheme {
        case "rtmp", "rtmps":
            let address = RTMPAddress(
                host: url.host, port: url.namesPort ? url.port : nil, path: url.path, isSecure: scheme == "rtmps")
            guard !address.application.isEmpty else { throw .invalidAddress("it names no stream after the host") }
            carrier = .rtmp(address)
        case "tcp", "udp":
            guard url.namesPort else { throw .invalidAddress("it names no port") }
            guard url.path.isEmpty || url.path == "/" else {
                throw .invalidAddress("nothing can follow the port of a \(scheme):// address")
            }
            carrier = scheme == "tcp" ? .tcp(host: url.host, port: url.port) : .udp(host: url.host, port: url.port)
        default: throw .invalidAddress("it begins with none of \(Self.schemes.joined(separator: ", "))")
        }
    }

    /// The host that is connected to, or the address that is listened on.
    var host: String {
        switch carrier {
        case .playlist(let address), .transportStream(let address), .flash(let address): address.host
        case .rtmp(let address): address.host
        case .tcp(let host, _), .udp(let host, _): host
        }
    }

    /// Whether the connection goes through TLS.
    var isSecure: Bool {
        switch carrier {
        case .playlist(let address), .transportStream(let address), .flash(let address): address.isSecure
        case .rtmp(let address): address.isSecure
        case .tcp, .udp: false
        }
    }

    /// What comes, and over what.
    var form: Form {
        switch carrier {
        case .playlist: .playlist
        case .transportStream: .transportStreamOverHTTP
        case .flash: .flashOverHTTP
        case .rtmp: .rtmp
        case .tcp: .transportStreamOverTCP
        case .udp: .transportStreamOverUDP
        }
    }
}

extension StreamAddress: CustomStringConvertible {
    /// The address without credentials.
    public var description: String {
        func name(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }
        return switch carrier {
        case .playlist(let address), .transportStream(let address), .flash(let address):
            address.description.prefix { $0 != "?" }.description
        case .rtmp(let address): address.description
        case .tcp(let host, let port): "tcp://\(name(host)):\(port)"
        case .udp(let host, let port): "udp://\(name(host)):\(port)"
        }
    }
}
