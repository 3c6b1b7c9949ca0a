/// One `m=` line and what follows it (RFC 8866, section 5.14).
public struct MediaDescription: Hashable, Sendable, DescriptionSection {
    /// What it carries.
    public var kind: MediaKind { didSet { unreadLine = nil } }
    /// The transport port. 0 means rejected, except together with `a=bundle-only`: see ``isRejected``.
    public var port: UInt16 { didSet { unreadLine = nil } }
    /// The number of ports, for hierarchical streams; 1 where the line names none.
    public var portCount: Int { didSet { unreadLine = nil } }
    /// The transport protocol, for example `UDP/TLS/RTP/SAVPF`.
    public var transportProtocol: String { didSet { unreadLine = nil } }
    /// The formats: RTP payload types, or other names.
    public var formats: [String] { didSet { unreadLine = nil } }
    /// The lines after the `m=` line, in order.
    public var lines: [SessionDescription.Line]
    /// The value of an `m=` line that was not read in full. It is written as it came.
    private var unreadLine: String?

    /// A media description without further lines.
    public init(kind: MediaKind, port: UInt16, transportProtocol: String, formats: [String]) {
        self.kind = kind
        self.port = port
        portCount = 1
        self.transportProtocol = transportProtocol
        self.formats = formats
        self.lines = []
        self.unreadLine = nil
    }

    /// Reads the value of an `m=` line as far as possible. The reason says what could not be read.
    static func reading(mediaLine value: String) -> (MediaDescription, reason: String?) {
        let words = value.words
        var section = MediaDescription(
            kind: MediaKind(words.first ?? ""), port: 0,
            transportProtocol: words.count > 2 ? String(words[2]) : "", formats: words.dropFirst(3).map(String.init))
        var reason: String?
        let ports = words.count > 1 ? words[1].parts(separatedBy: "/", atMost: 2) : []
        if let first = ports.first, let port = UInt16(first) {
            section.port = port
            if ports.count == 2 {
                if let count = Int(ports[1]), count > 0 {
                    section.portCount = count
                } else {
                    reason = "the number of ports is not a number"
                }
            }
        } else {
            reason = "the port is not a number from 0 to 65535"
        }
        if words.count < 4 {
            reason = "does not have the form m=<media> <port> <protocol> <format>…"
        } else if section.isRTP, let format = section.formats.first(where: { (UInt8($0) ?? 255) > 127 }) {
            reason = "payload type \(format) is not a number from 0 to 127"
        }
        if section.mediaLine != "m=" + value { section.unreadLine = value }
        return (section, reason)
    }

    /// Why the `m=` line is too damaged to be answered; nil for a line that is whole. An answer repeats its kind and
    /// its protocol, and a port 0 would read as a media description that is switched off.
    var damage: DescriptionFault? {
        guard let unreadLine else { return nil }
        let words = unreadLine.words
        if words.count < 3 { return .incompleteMediaLine(unreadLine) }
        let port = words[1].parts(separatedBy: "/", atMost: 2)[0]
        return UInt16(port) == nil ? .unusablePort(mediaLine: unreadLine) : nil
    }

    /// The `m=` line without its end.
    var mediaLine: String {
        if let unreadLine { return "m=" + unreadLine }
        let ports = portCount == 1 ? "\(port)" : "\(port)/\(portCount)"
        return (["m=" + kind.name, ports, transportProtocol] + formats).joined(separator: " ")
    }
}

extension MediaDescription {
    /// Whether RTP is carried, by any profile.
    public var isRTP: Bool {
        transportProtocol.parts(separatedBy: "/").contains { $0.equalsIgnoringCase("RTP") }
    }

    /// Whether the profile is one that an RTP answerer with DTLS accepts (RFC 8829, section 5.1.2): any of AVP, AVPF,
    /// SAVP and SAVPF, since what really protects the media follows from the fingerprint.
    public var isWebRTCProfile: Bool {
        let parts = transportProtocol.uppercased().parts(separatedBy: "/")
        return parts.contains("RTP") && ["AVP", "AVPF", "SAVP", "SAVPF"].contains(parts.last ?? "")
    }

    /// Whether the description is switched off: port 0 without `a=bundle-only` (RFC 9143, section 6).
    public var isRejected: Bool { port == 0 && !isBundleOnly }

    /// `a=mid`: the identification tag (RFC 5888).
    public var mid: String? { value(of: "mid").map { String($0.trimmed) } }

    /// `a=bundle-only`: the description does not have a separate transport (RFC 9143, section 6).
    public var isBundleOnly: Bool { hasAttribute("bundle-only") }

    /// `a=rtcp-mux`: RTP and RTCP share a port (RFC 5761).
    public var hasRTCPMux: Bool { hasAttribute("rtcp-mux") || hasAttribute("rtcp-mux-only") }

    /// `a=rtcp-rsize`: RTCP packets need not be compound (RFC 5506).
    public var hasReducedSizeRTCP: Bool { hasAttribute("rtcp-rsize") }

    /// All readable `a=rtcp-fb` lines.
    public var rtcpFeedback: [RTCPFeedback] { values(of: "rtcp-fb").compactMap(RTCPFeedback.init(parsing:)) }

    /// All readable `a=ssrc` lines.
    public var sourceAttributes: [SourceAttribute] { values(of: "ssrc").compactMap(SourceAttribute.init(parsing:)) }

    /// The sources that `a=ssrc` lines name, in order, each once.
    public var sources: [UInt32] {
        var seen: Set<UInt32> = []
        return sourceAttributes.map(\.ssrc).filter { seen.insert($0).inserted }
    }

    /// All readable `a=ssrc-group` lines.
    public var sourceGroups: [SourceGroup] { values(of: "ssrc-group").compactMap(SourceGroup.init(parsing:)) }

    /// The source of retransmissions of each source that has one (`a=ssrc-group:FID`, RFC 4588).
    public var retransmissionSources: [UInt32: UInt32] {
        var result: [UInt32: UInt32] = [:]
        for group in sourceGroups where group.semantics.equalsIgnoringCase("FID") && group.ssrcs.count == 2 {
            result[group.ssrcs[0]] = group.ssrcs[1]
        }
        return result
    }

    /// For each source of retransmissions, the source that it repeats; the first where several groups name it.
    var repeatedSources: [UInt32: UInt32] {
        var result: [UInt32: UInt32] = [:]
        for group in sourceGroups where group.semantics.equalsIgnoringCase("FID") && group.ssrcs.count == 2 {
            if result[group.ssrcs[1]] == nil { result[group.ssrcs[1]] = group.ssrcs[0] }
        }
        return result
    }

    /// All `a=msid` lines, in order.
    public var mediaStreams: [MediaStreamIdentifier] {
        values(of: "msid").compactMap(MediaStreamIdentifier.init(parsing:))
    }

    /// All readable `a=rid` lines.
    public var restrictionIdentifiers: [RestrictionIdentifier] {
        values(of: "rid").compactMap(RestrictionIdentifier.init(parsing:))
    }

    /// `a=simulcast`.
    public var simulcast: SimulcastDescription? { value(of: "simulcast").flatMap(SimulcastDescription.init(parsing:)) }
}
