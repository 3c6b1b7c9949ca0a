/// What an RTMP client wants to publish.
///
/// The address is `rtmp://gateway/KEY?token=TOKEN`, or has one or more names in front of the key, as in
/// `rtmp://gateway/live/KEY?token=TOKEN`. Clients send it in two parts, the application and the stream's name, and cut it in
/// different places: ffmpeg sends the first one as an application without a name. OBS sends its server as the application, and
/// its stream key as the name.
public struct RTMPPublishRequest: Hashable, Sendable {
    /// The camera's key or identifier; empty where the address names none.
    public let camera: String
    /// The token; nil where the address has none.
    public let token: String?
    /// What the client calls itself, as one printable line.
    public let program: String

    private static let longestText = 1024

    init(application: String, stream: String, program: String) {
        let name = Self.split(Self.withoutKind(stream))
        let place = Self.split(application)
        camera = (Self.last(of: name.path) ?? Self.last(of: place.path) ?? "").decodingPercents
        token = Self.token(in: name.query) ?? Self.token(in: place.query)
        self.program = RTMPServerSession.printable(program)
    }

    /// ffmpeg puts a kind of file in front of some names, as Flash's servers expected.
    private static func withoutKind(_ stream: String) -> Substring {
        for kind in ["mp4:", "flv:", "mp3:"] where stream.hasPrefix(kind) { return stream.dropFirst(kind.count) }
        return stream[...]
    }

    private static func split(_ text: some StringProtocol) -> (path: String, query: String) {
        let text = String(text.prefix(longestText))
        let mark = text.firstIndex(of: "?") ?? text.endIndex
        return (String(text[..<mark]), String(text[mark...].dropFirst()))
    }

    private static func last(of path: String) -> String? { path.split(separator: "/").last.map(String.init) }

    private static func token(in query: String) -> String? {
        for field in query.split(separator: "&") where field.hasPrefix("token=") {
            let value = String(field.dropFirst("token=".count)).decodingPercents
            if !value.isEmpty { return value }
        }
        return nil
    }
}

extension RTMPPublishRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// The request without its token.
    public var description: String { "\(camera.debugDescription) by \(program.debugDescription)" }
    public var debugDescription: String { description }
}

extension String {
    /// The text with `%41` replaced by `A` (RFC 3986, section 2.1). What is not such an escape stays.
    fileprivate var decodingPercents: String {
        guard contains("%") else { return self }
        let bytes = Array(utf8)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = bytes[index + 1].hexadecimalValue, let low = bytes[index + 2].hexadecimalValue
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
