import Cameras
import RTP
import SDP
import Transport

/// The session description of a camera for readers (RFC 2326, appendix C).
enum ServedDescription {
    /// Writes the description.
    static func text(
        name: String, tracks: [TrackDescription], address: TransportAddress, sessionID: UInt64,
        range: String = "npt=now-"
    ) -> String {
        let isIPv6 = address.family == .ipv6
        var session = SessionDescription(
            origin: Origin(
                sessionID: sessionID, sessionVersion: 1, addressType: isIPv6 ? "IP6" : "IP4", address: address.host),
            name: name.isEmpty ? "-" : name)
        // SETUP agrees on the addresses.
        session.lines.insert(.field(type: "c", value: isIPv6 ? "IN IP6 ::" : "IN IP4 0.0.0.0"), at: 3)
        session.lines += [
            .attribute(.init("tool", "Gatehouse")), .attribute(.init("range", range)),
            .attribute(.init("control", "*")),
        ]
        session.media = tracks.enumerated().map { index, track in media(track, index: index) }
        return session.encoded()
    }

    private static func media(_ track: TrackDescription, index: Int) -> MediaDescription {
        let payloadType = payloadType(of: track.codec, track: index)
        var media = MediaDescription(
            kind: track.kind, port: 0, transportProtocol: "RTP/AVP", formats: ["\(payloadType)"])
        let codec = track.codec
        let channels = track.kind == .audio && codec.channels > 1 ? "/\(codec.channels)" : ""
        media.lines.append(
            .attribute(.init("rtpmap", "\(payloadType) \(codec.name)/\(codec.clockRate)\(channels)")))
        let parameters = formatParameters(of: codec)
        if !parameters.parameters.isEmpty {
            media.lines.append(.attribute(.init("fmtp", "\(payloadType) \(parameters.text)")))
        }
        media.lines.append(.attribute(.init("control", "trackID=\(index)")))
        return media
    }

    /// The parameters of the camera, except that the relay's H.264 always contains fragments and aggregations, whatever
    /// the camera's own packets look like (RFC 6184, section 8.1).
    private static func formatParameters(of codec: MediaCodec) -> FormatParameters {
        var parameters = codec.formatParameters
        if codec.isNamed("H264") {
            parameters.parameters.removeAll { $0.name == "packetization-mode" }
            parameters.parameters.insert(.init(name: "packetization-mode", value: "1"), at: 0)
        }
        return parameters
    }

    /// The payload type of a track: the codec's static one if it has one (RFC 3551, section 6), otherwise one from the
    /// dynamic range. The camera's own is not used, because two of its tracks may have had the same.
    static func payloadType(of codec: MediaCodec, track: Int) -> UInt8 {
        switch (codec.name.uppercased(), codec.clockRate, codec.channels) {
        case ("PCMU", 8000, 1): 0
        case ("PCMA", 8000, 1): 8
        case ("G722", 8000, 1): 9
        case ("L16", 44_100, 2): 10
        case ("L16", 44_100, 1): 11
        case ("JPEG", 90_000, _): 26
        default: UInt8(clamping: 96 + (track & 15))
        }
    }
}
