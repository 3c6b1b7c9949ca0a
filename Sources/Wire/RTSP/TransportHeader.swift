/// The `Transport` header (RFC 2326, section 12.39) as far as RTP over the RTSP connection needs it.
public struct TransportHeader: Equatable, Sendable {
    /// The channel of the RTP packets; nil where the header names none.
    public var rtpChannel: UInt8?
    /// The channel of the RTCP packets; nil where the header names none.
    public var rtcpChannel: UInt8?
    /// The synchronization source that the camera announces.
    public var ssrc: UInt32?
    /// Whether the header speaks of UDP: ports are given, and no channel is.
    public var isDatagram: Bool

    /// Asks for RTP on `rtpChannel` and RTCP on the one after it.
    public init(rtpChannel: UInt8) {
        self.rtpChannel = rtpChannel
        rtcpChannel = rtpChannel &+ 1
        ssrc = nil
        isDatagram = false
    }

    /// Reads an answer.
    ///
    /// Cameras leave out `/TCP`, name one channel instead of two, answer with other channels than asked for, and put
    /// space in front of the SSRC; none of this is an error. Of several transports the first counts.
    public init(parsing text: String) {
        rtpChannel = nil
        rtcpChannel = nil
        ssrc = nil
        var namesPorts = false
        for part in text.cut(at: ",").head.split(separator: ";") {
            let (name, value) = part.cut(at: "=")
            let trimmed = value?.trimmedASCII ?? ""
            switch name.trimmedASCII.lowercased() {
            case "interleaved":
                let (first, second) = trimmed.cut(at: "-")
                rtpChannel = UInt8(first.trimmedASCII)
                rtcpChannel = second.flatMap { UInt8($0.trimmedASCII) } ?? rtpChannel.map { $0 &+ 1 }
            case "ssrc":
                ssrc = UInt32(trimmed, radix: 16)
            case "server_port", "client_port", "port":
                namesPorts = true
            default:
                break
            }
        }
        isDatagram = namesPorts && rtpChannel == nil
    }

    /// The header's value in a SETUP request.
    public var encoded: String {
        guard let rtpChannel, let rtcpChannel else { return "RTP/AVP/TCP;unicast" }
        return "RTP/AVP/TCP;unicast;interleaved=\(rtpChannel)-\(rtcpChannel)"
    }
}
