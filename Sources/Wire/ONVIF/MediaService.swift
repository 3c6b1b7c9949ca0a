import HTTPMedia
import XML

/// One of a device's media profiles (ONVIF Media, section 5.2), reduced to what distinguishes streams.
public struct MediaProfile: Sendable, Hashable {
    /// The token by which requests name it.
    public var token: String
    /// The name for people.
    public var name: String
    /// The encoding of the picture as ONVIF writes it: `H264`, `H265`, `JPEG`; empty for a profile without video.
    public var videoEncoding: String
    /// The width in pixels; 0 where the device does not state it.
    public var width: Int
    /// The height in pixels; 0 where the device does not state it.
    public var height: Int
    /// The token of the configuration of its video source; nil for a profile without video.
    public var videoSourceConfiguration: String?
    /// The token of its video source, the sensor; nil for a profile without video.
    public var videoSource: String?

    /// Describes a profile.
    public init(
        token: String, name: String, videoEncoding: String, width: Int, height: Int,
        videoSourceConfiguration: String? = nil, videoSource: String? = nil
    ) {
        self.videoSourceConfiguration = videoSourceConfiguration
        self.videoSource = videoSource
        self.token = token
        self.name = name
        self.videoEncoding = videoEncoding
        self.width = width
        self.height = height
    }

    /// The profiles with video, the best first: those that every browser plays before the others, then by size. The
    /// first is a camera's main stream, the last its sub-stream.
    public static func ranked(_ profiles: [MediaProfile]) -> [MediaProfile] {
        func rank(_ profile: MediaProfile) -> Int {
            switch profile.videoEncoding.uppercased() {
            case "H264", "MPEG4-AVC": 2
            case "H265", "HEVC": 1
            default: 0
            }
        }
        return profiles.filter { !$0.videoEncoding.isEmpty }.enumerated().sorted { left, right in
            let pixels = (
                left.element.width.multipliedReportingOverflow(by: left.element.height).partialValue,
                right.element.width.multipliedReportingOverflow(by: right.element.height).partialValue
            )
            return (rank(left.element), pixels.0, -left.offset) > (rank(right.element), pixels.1, -right.offset)
        }.map(\.element)
    }
}

extension String {
    /// The token (ONVIF Core, `tt:ReferenceToken`: at most 64 characters), or nil if this is none.
    var asToken: String? { isEmpty || unicodeScalars.count > 64 ? nil : self }
}

/// The requests to the media service, and their answers (ONVIF Media, version 1).
public enum MediaService {
    /// Asks for the profiles.
    public static func getProfiles(_ address: HTTPAddress) -> ONVIFRequest {
        make(address, "GetProfiles", "")
    }

    /// Asks for the RTSP address of a profile's stream.
    public static func getStreamURI(_ address: HTTPAddress, profile: String) -> ONVIFRequest {
        make(
            address, "GetStreamUri",
            "<trt:StreamSetup><tt:Stream xmlns:tt=\"\(XMLNamespace.schema)\">RTP-Unicast</tt:Stream>"
                + "<tt:Transport xmlns:tt=\"\(XMLNamespace.schema)\"><tt:Protocol>RTSP</tt:Protocol></tt:Transport>"
                + "</trt:StreamSetup><trt:ProfileToken>\(profile.escapedForXML)</trt:ProfileToken>")
    }

    static func make(_ address: HTTPAddress, _ operation: String, _ content: String) -> ONVIFRequest {
        ONVIFRequest(
            address: address, action: "\(XMLNamespace.media)/\(operation)",
            body: "<trt:\(operation) xmlns:trt=\"\(XMLNamespace.media)\">\(content)</trt:\(operation)>")
    }

    /// Reads the answer to `GetProfiles`.
    public static func profiles(_ answer: XMLElement) -> [MediaProfile] {
        answer.all("Profiles").prefix(64).compactMap { element in
            guard let token = element.attribute("token"), !token.isEmpty else { return nil }
            let encoder = element["VideoEncoderConfiguration"]
            let source = element["VideoSourceConfiguration"]
            let resolution = encoder?["Resolution"]
            func size(_ name: String) -> Int {
                min(max(resolution?[name].flatMap { Int($0.text) } ?? 0, 0), 65_535)
            }
            return MediaProfile(
                token: token, name: (element["Name"]?.text ?? "").printable(upTo: 64),
                videoEncoding: (encoder?["Encoding"]?.text ?? "").printable(upTo: 16),
                width: size("Width"), height: size("Height"),
                videoSourceConfiguration: source?.attribute("token")?.asToken,
                videoSource: source?["SourceToken"]?.text.asToken)
        }
    }

    /// Reads the answer to `GetStreamUri`.
    public static func uri(_ answer: XMLElement) throws(ONVIFError) -> String {
        guard let uri = answer.firstDescendant("Uri")?.text, !uri.isEmpty else {
            throw .missing(element: "Uri", in: answer.name.local.printable(upTo: 64))
        }
        guard uri.utf8.count <= 2048 else { throw .tooLarge(what: "an address", limit: 2048) }
        return uri
    }
}
