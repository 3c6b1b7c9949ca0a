/// `a=rtcp-fb`: feedback that a receiver may send (RFC 4585, section 4.2).
public struct RTCPFeedback: Hashable, Sendable {
    /// The payload type; nil for `*`, all payload types of the media description.
    public var payloadType: UInt8?
    /// The kind and its parameters in lower case, for example `nack pli`.
    public var feedback: String

    init?(parsing value: String) {
        let words = value.words
        guard words.count >= 2 else { return nil }
        if words[0] != "*" {
            guard let payloadType = UInt8(words[0]), payloadType <= 127 else { return nil }
            self.payloadType = payloadType
        }
        self.feedback = words.dropFirst().joined(separator: " ").lowercased()
    }

    static func isReadable(_ value: String) -> Bool {
        let (word, rest) = value.firstWord
        return !rest.isEmpty && (word == "*" || (UInt8(word) ?? 255) <= 127)
    }
}

/// `a=extmap`: the number of an RTP header extension (RFC 8285, section 5).
public struct HeaderExtension: Hashable, Sendable {
    /// 1 to 14 fit the one-byte form, up to 255 the two-byte form.
    public var id: UInt8
    /// Where it may be used; nil for every direction.
    public var direction: MediaDirection?
    /// What it is.
    public var uri: String

    /// Describes an extension.
    public init(id: UInt8, direction: MediaDirection? = nil, uri: String) {
        self.id = id
        self.direction = direction
        self.uri = uri
    }

    init?(parsing value: String) {
        let words = value.words
        guard words.count >= 2 else { return nil }
        let parts = words[0].parts(separatedBy: "/", atMost: 2)
        // Numbers from 4096 on mean "more extensions than there are numbers" and are of no use to an answerer.
        guard let id = UInt8(parts[0]), id != 0 else { return nil }
        self.id = id
        if parts.count == 2 {
            guard let direction = MediaDirection(rawValue: parts[1].lowercased()) else { return nil }
            self.direction = direction
        }
        uri = String(words[1])
    }

    /// The value of the attribute.
    public var text: String { "\(id)\(direction.map { "/" + $0.rawValue } ?? "") \(uri)" }
}

/// `a=ssrc`: an attribute of one source (RFC 5576, section 4.1).
public struct SourceAttribute: Hashable, Sendable {
    /// The synchronization source.
    public var ssrc: UInt32
    /// The attribute's name, for example `cname`.
    public var name: String
    /// The attribute's value.
    public var value: String?

    init?(parsing value: String) {
        let words = value.words
        guard let first = words.first, let ssrc = UInt32(first), words.count >= 2 else { return nil }
        let parts = words.dropFirst().joined(separator: " ").parts(separatedBy: ":", atMost: 2)
        self.ssrc = ssrc
        self.name = String(parts[0])
        self.value = parts.count == 2 ? String(parts[1]) : nil
    }

    static func isReadable(_ value: String) -> Bool {
        let (word, rest) = value.firstWord
        return !rest.isEmpty && UInt32(word) != nil
    }
}

/// `a=ssrc-group`: sources that belong together, for example a stream and its retransmissions (RFC 5576, section 4.2).
public struct SourceGroup: Hashable, Sendable {
    /// `FID` for retransmission, `SIM` for simulcast, `FEC-FR` for error correction.
    public var semantics: String
    /// The sources in order.
    public var ssrcs: [UInt32]

    init?(parsing value: String) {
        let words = value.words
        guard let semantics = words.first else { return nil }
        let ssrcs = words.dropFirst().compactMap { UInt32($0) }
        guard !ssrcs.isEmpty, ssrcs.count == words.count - 1 else { return nil }
        self.semantics = String(semantics)
        self.ssrcs = ssrcs
    }
}

/// `a=msid`: the MediaStream and the track that the media becomes (RFC 8830).
public struct MediaStreamIdentifier: Hashable, Sendable {
    /// The stream; `-` for none.
    public var streamID: String
    /// The track, where it is named.
    public var trackID: String?

    /// Describes a track of a stream.
    public init(streamID: String, trackID: String?) {
        self.streamID = streamID
        self.trackID = trackID
    }

    init?(parsing value: String) {
        let words = value.words
        guard let stream = words.first else { return nil }
        streamID = String(stream)
        trackID = words.dropFirst().first.map(String.init)
    }

    /// The value of the attribute.
    public var text: String { trackID.map { "\(streamID) \($0)" } ?? streamID }
}

/// `a=rid`: one restricted encoding of a source (RFC 8851).
public struct RestrictionIdentifier: Hashable, Sendable {
    /// The encoding's name.
    public var id: String
    /// Whether the maker of the description sends it; otherwise it receives it.
    public var isSent: Bool
    /// The payload types, formats and limits, as written.
    public var restrictions: String

    init?(parsing value: String) {
        let words = value.words
        guard words.count >= 2, words[1] == "send" || words[1] == "recv" else { return nil }
        self.id = String(words[0])
        self.isSent = words[1] == "send"
        self.restrictions = words.dropFirst(2).joined(separator: " ")
    }
}

/// `a=simulcast`: several encodings of one source at once (RFC 8853).
public struct SimulcastDescription: Hashable, Sendable {
    /// The streams that the maker of the description sends; of each, the alternatives in order of preference.
    public var send: [[String]] = []
    /// The streams that the maker of the description receives.
    public var receive: [[String]] = []

    init?(parsing value: String) {
        let words = value.words
        guard words.count == 2 || words.count == 4 else { return nil }
        for index in stride(from: 0, to: words.count, by: 2) {
            let streams = words[index + 1].parts(separatedBy: ";").map {
                $0.parts(separatedBy: ",").map { String($0.first == "~" ? $0.dropFirst() : $0) }
            }
            switch words[index] {
            case "send": send = streams
            case "recv": receive = streams
            default: return nil
            }
        }
    }
}
