/// A transport that a client offers for a track in its `Transport` header (RFC 2326, section 12.39).
struct TransportOffer: Equatable {
    /// What carries the packets.
    enum Lower: Equatable {
        /// Over the RTSP connection; the channels are nil where the client leaves them to the server.
        case interleaved(rtp: UInt8?, rtcp: UInt8?)
        /// As datagrams to these ports of the client.
        case datagrams(rtp: UInt16, rtcp: UInt16)
    }

    /// What the client wants to do with the track (`mode`).
    enum Mode: Equatable {
        case play, record
    }

    var lower: Lower
    /// The mode; nil where the client names none, which means playing.
    var mode: Mode?
    /// The protocol as the client wrote it, which the answer repeats.
    var specification: String

    /// The offers that the server can accept, in the client's order.
    ///
    /// It leaves out profiles other than `RTP/AVP` (the server has no keys to encrypt with) and multicast. A publisher may
    /// send with feedback (`RTP/AVPF`, RFC 4585). It ignores a `destination`: media goes only to the host that asked for it. Otherwise the gateway could be aimed
    /// at a third party.
    static func list(_ header: String) -> [TransportOffer] {
        header.splitOutsideQuotes(UInt8(ascii: ",")).prefix(16).compactMap(TransportOffer.init(parsing:))
    }

    private init?(parsing text: String) {
        let parts = text.split(separator: ";").map(\.trimmedASCII)
        guard let specification = parts.first else { return nil }
        let isInterleaved: Bool
        let hasFeedback: Bool
        switch specification.uppercased() {
        case "RTP/AVP", "RTP/AVP/UDP": (isInterleaved, hasFeedback) = (false, false)
        case "RTP/AVP/TCP": (isInterleaved, hasFeedback) = (true, false)
        case "RTP/AVPF", "RTP/AVPF/UDP": (isInterleaved, hasFeedback) = (false, true)
        case "RTP/AVPF/TCP": (isInterleaved, hasFeedback) = (true, true)
        default: return nil
        }
        var ports: (UInt16, UInt16)?
        var channels: (UInt8?, UInt8?)
        for part in parts.dropFirst() {
            let (name, value) = part.cut(at: "=")
            switch name.trimmedASCII.lowercased() {
            case "multicast":
                return nil
            case "mode":
                switch value?.unquoted.uppercased() {
                case "PLAY": mode = .play
                // Publishers of the time before RFC 2326 write the second word.
                case "RECORD", "RECEIVE": mode = .record
                default: return nil
                }
            case "client_port":
                guard let first = Self.pair(value, UInt16.self), first.0 != 0, first.1 != 0 else { return nil }
                ports = first
            case "interleaved":
                guard let first = Self.pair(value, UInt8.self) else { return nil }
                channels = first
            default:
                break
            }
        }
        guard !hasFeedback || mode == .record else { return nil }
        self.specification = specification
        if isInterleaved {
            // Two kinds of packets on one channel could not be distinguished.
            guard channels.0 == nil || channels.0 != channels.1 else { return nil }
            lower = .interleaved(rtp: channels.0, rtcp: channels.1)
        } else {
            guard let ports else { return nil }
            lower = .datagrams(rtp: ports.0, rtcp: ports.1)
        }
    }

    /// `4-5`, or `4`, which means `4-5`.
    private static func pair<Number: FixedWidthInteger>(_ text: String?, _ type: Number.Type) -> (Number, Number)? {
        guard let (head, tail) = text?.cut(at: "-"), let first = Number(head.trimmedASCII) else { return nil }
        guard let tail else { return first == .max ? nil : (first, first + 1) }
        guard let second = Number(tail.trimmedASCII) else { return nil }
        return (first, second)
    }
}

/// The agreed transport of a session's track.
public enum RTSPTransport: Hashable, Sendable {
    /// Over the RTSP connection, on two channels.
    case interleaved(rtp: UInt8, rtcp: UInt8)
    /// As datagrams to two ports of the client.
    case datagrams(rtp: UInt16, rtcp: UInt16)
}
