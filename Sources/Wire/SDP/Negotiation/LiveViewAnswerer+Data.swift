extension LiveViewAnswerer {
    /// Uses the first media description of data channels that shares the transport of the media. Without media, it is the
    /// transport, provided that the offer asks for none.
    func assignData(_ offer: SessionDescription, _ groups: [[Int]], _ sections: inout [Section]) {
        guard dataChannels != nil,
            let index = offer.media.indices.first(where: { offer.media[$0].isKeepable && offer.media[$0].isDataChannel }
            )
        else { return }
        let used = sections.indices.filter { sections[$0].isUsed }
        if used.isEmpty {
            guard !offer.asksForMedia else { return }
        } else {
            guard group(of: used, in: groups).contains(index) else {
                sections[index].note = .notUsed(.outsideBundle)
                return
            }
        }
        let offered = offer.media[index]
        guard let port = offered.sctpPort else {
            sections[index].note = .notUsed(.noSCTPPort)
            return
        }
        sections[index].data = NegotiatedDataChannels(
            index: index, mid: offered.mid, remotePort: port, maximumMessageSize: offered.maximumMessageSize)
        sections[index].note = nil
    }

    /// Writes the answer to a media description of data channels (RFC 8841, section 10.3).
    func describe(
        _ data: LocalDataChannels, offered: MediaDescription, setup: DTLSSetup, withCandidates: Bool
    ) -> MediaDescription {
        let isOldForm = offered.value(of: "sctpmap") != nil
        var section = beginning(
            offered, formats: [isOldForm ? "\(data.port)" : offered.formats.first ?? "webrtc-datachannel"],
            setup: setup, withCandidates: withCandidates)
        if isOldForm {
            section.append("sctpmap", "\(data.port) webrtc-datachannel \(data.streams)")
        } else {
            section.append("sctp-port", "\(data.port)")
        }
        section.append("max-message-size", "\(data.maximumMessageSize)")
        return section
    }
}

/// This side's data channels, as an answer describes them.
public struct LocalDataChannels: Hashable, Sendable {
    /// The SCTP port.
    public var port: UInt16
    /// How many streams there are in each direction.
    public var streams: UInt16
    /// The largest message that this side accepts, in bytes.
    public var maximumMessageSize: Int

    /// Describes data channels.
    public init(port: UInt16, streams: UInt16, maximumMessageSize: Int) {
        self.port = port
        self.streams = streams
        self.maximumMessageSize = maximumMessageSize
    }
}

/// Data channels that both sides agreed on (RFC 8841).
public struct NegotiatedDataChannels: Hashable, Sendable {
    /// The position of their `m=` line, from 0.
    public var index: Int
    /// Its identification tag; nil where the offer gave none.
    public var mid: String?
    /// The peer's SCTP port.
    public var remotePort: UInt16
    /// The largest message that the peer accepts, in bytes; nil for any.
    public var maximumMessageSize: Int?

    /// Describes agreed data channels.
    public init(index: Int, mid: String?, remotePort: UInt16, maximumMessageSize: Int?) {
        self.index = index
        self.mid = mid
        self.remotePort = remotePort
        self.maximumMessageSize = maximumMessageSize
    }
}

extension MediaDescription {
    /// Whether it describes data channels (RFC 8841).
    public var isDataChannel: Bool {
        let parts = transportProtocol.uppercased().parts(separatedBy: "/")
        return kind == .application && parts.contains("DTLS") && parts.contains("SCTP")
    }

    /// The SCTP port of data channels: `a=sctp-port`, or the number in the older `a=sctpmap`. Port 0 means that there is no
    /// association (RFC 8841, section 5.1).
    var sctpPort: UInt16? {
        let text = value(of: "sctp-port") ?? value(of: "sctpmap").map { String($0.firstWord.word) }
        guard let text, let port = UInt16(text.trimmed), port > 0 else { return nil }
        return port
    }

    /// The largest message that its side accepts, in bytes; nil for any (RFC 8841, section 6.1).
    var maximumMessageSize: Int? {
        guard let text = value(of: "max-message-size"), let size = Int(text.trimmed), size >= 0 else { return 65_536 }
        return size == 0 ? nil : size
    }
}
