/// The `Transport` header (RFC 2326, section 12.39) for RTP over the RTSP connection and over UDP.
public struct TransportHeader: Equatable, Sendable {
    /// The channel of the RTP packets; nil where the header names none.
    public var rtpChannel: UInt8?
    /// The channel of the RTCP packets; nil where the header names none.
    public var rtcpChannel: UInt8?
    /// The client's port for RTP over UDP; RTCP uses the one after it.
    public var clientPort: UInt16?
    /// The camera's port for RTP; nil where the header names none.
    public var serverPort: UInt16?
    /// The camera's port for RTCP; nil where the header names none.
    public var serverControlPort: UInt16?
    /// The address that the camera says its packets come from. Cameras name addresses of other interfaces, or 0.0.0.0.
    public var source: String?
    /// The synchronization source that the camera announces.
    public var ssrc: UInt32?
    /// Whether the header means UDP: it names ports and no channel.
    public var isDatagram: Bool
    /// Whether the packets would go to a multicast group.
    public var isMulticast: Bool

    private init() {
        isDatagram = false
        isMulticast = false
    }

    /// Asks for RTP on `rtpChannel` and RTCP on the one after it.
    public init(rtpChannel: UInt8) {
        self.init()
        self.rtpChannel = rtpChannel
        rtcpChannel = rtpChannel &+ 1
    }

    /// Asks for RTP over UDP to `clientPort` and RTCP to the one after it.
    public init(clientPort: UInt16) {
        self.init()
        self.clientPort = clientPort
        isDatagram = true
    }

    /// Reads an answer.
    ///
    /// Cameras leave out `/TCP`, name one channel instead of two, answer with other channels than requested, leave out
    /// their own port, and put space in front of the SSRC. None of this is an error. Of several transports the first
    /// counts.
    public init(parsing text: String) {
        self.init()
        var namesPorts = false
        var isConnection = false
        for part in text.cut(at: ",").head.split(separator: ";") {
            let (name, value) = part.cut(at: "=")
            let trimmed = value?.unquoted ?? ""
            switch name.trimmedASCII.lowercased() {
            case "rtp/avp/tcp":
                isConnection = true
            case "multicast":
                isMulticast = true
            case "interleaved":
                let (first, second) = trimmed.cut(at: "-")
                rtpChannel = UInt8(first.trimmedASCII)
                rtcpChannel = second.flatMap { UInt8($0.trimmedASCII) } ?? rtpChannel.map { $0 &+ 1 }
            case "ssrc":
                ssrc = UInt32(trimmed, radix: 16)
            case "client_port", "port":
                clientPort = Self.ports(trimmed).first
                namesPorts = true
            case "server_port":
                (serverPort, serverControlPort) = Self.ports(trimmed)
                namesPorts = true
            case "source":
                source = trimmed.isEmpty ? nil : trimmed
            default:
                break
            }
        }
        isDatagram = (namesPorts || isMulticast) && rtpChannel == nil && !isConnection
    }

    /// A pair of ports, of which the second may be missing. Port 0 is treated as none.
    private static func ports(_ text: String) -> (first: UInt16?, second: UInt16?) {
        let (head, tail) = text.cut(at: "-")
        guard let first = UInt16(head.trimmedASCII), first != 0 else { return (nil, nil) }
        let second = tail.flatMap { UInt16($0.trimmedASCII) } ?? first &+ 1
        return (first, second == 0 ? nil : second)
    }

    /// The header's value in a SETUP request.
    public var encoded: String {
        if let clientPort, isDatagram {
            return "RTP/AVP;unicast;client_port=\(clientPort)-\(clientPort &+ 1)"
        }
        guard let rtpChannel, let rtcpChannel else { return "RTP/AVP/TCP;unicast" }
        return "RTP/AVP/TCP;unicast;interleaved=\(rtpChannel)-\(rtcpChannel)"
    }
}
