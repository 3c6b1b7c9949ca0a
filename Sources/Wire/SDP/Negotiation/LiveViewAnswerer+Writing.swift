extension LiveViewAnswerer {
    /// Negotiates one media description that is used.
    func negotiate(_ use: Use, offered: MediaDescription, index: Int) -> NegotiatedMedia {
        let selection = use.selection
        let direction = selection.direction
        // An inactive description keeps the codec that would be sent. One that only receives has the first codec that
        // it receives.
        let main = selection.send ?? selection.receive.first ?? RTPPayload(payloadType: 0, codec: .pcmu)
        let retransmissions = use.offered.retransmissions
        let rtxPayloadType = retransmissions.filter { $0.value == main.payloadType }.keys.min()
        let hasRTX = rtxPayloadType != nil && use.track.rtxSSRC != nil && selection.send != nil
        let repeated = offered.repeatedSources
        let received = direction.receives ? selection.receive : []
        var extensions = NegotiatedHeaderExtensions(offered: offered, kind: offered.kind)
        // It is for the side that shows pictures. This side only sends them.
        if !direction.sends { extensions.playoutDelay = nil }
        var messages = use.feedback[main.payloadType].intersection(feedback)
        // The feedback reports the numbers in the header extension. Without the extension there is nothing to report.
        if extensions.transportWideCC == nil { messages.remove(.transportCC) }
        return NegotiatedMedia(
            index: index, mid: offered.mid, kind: offered.kind, direction: direction, codec: main.codec,
            payloadType: main.payloadType, rtxPayloadType: hasRTX ? rtxPayloadType : nil, ssrc: use.track.ssrc,
            rtxSSRC: hasRTX ? use.track.rtxSSRC : nil,
            feedback: messages, headerExtensions: extensions,
            receivePayloadTypes: Dictionary(
                received.map { ($0.payloadType, $0.codec) }, uniquingKeysWith: { first, _ in first }),
            receiveRetransmissionPayloadTypes: direction.receives
                ? retransmissions.filter { pair in received.contains { $0.payloadType == pair.value } } : [:],
            remoteSSRCs: offered.sources.filter { repeated[$0] == nil }, remoteRetransmissionSSRCs: repeated,
            reducedSizeRTCP: offered.hasReducedSizeRTCP, remoteStream: offered.mediaStreams.first)
    }

    /// Writes the answer's media description.
    func describe(
        _ media: NegotiatedMedia, _ use: Use, offered: MediaDescription, setup: DTLSSetup, withCandidates: Bool
    ) -> MediaDescription {
        let usual = local.candidates.first { $0.transport == .udp }
        let retransmissions = media.receiveRetransmissionPayloadTypes.merging(
            media.rtxPayloadType.map { [$0: media.payloadType] } ?? [:], uniquingKeysWith: { first, _ in first })
        var payloads: [(payload: RTPPayload, feedback: FeedbackMessages)] = []
        for payload in use.selection.payloads {
            var messages = use.feedback[payload.payloadType].intersection(feedback)
            if media.headerExtensions.transportWideCC == nil { messages.remove(.transportCC) }
            payloads.append((payload.answering, messages))
            for (rtx, _) in retransmissions.filter({ $0.value == payload.payloadType }).sorted(by: { $0.key < $1.key })
            {
                payloads.append(
                    (
                        RTPPayload(
                            payloadType: rtx,
                            codec: MediaCodec(
                                name: "rtx", clockRate: payload.codec.clockRate,
                                formatParameters: [.init(name: "apt", value: "\(payload.payloadType)")])), []
                    ))
            }
        }
        var section = MediaDescription(
            kind: offered.kind, port: usual?.port ?? 9, transportProtocol: offered.transportProtocol,
            formats: payloads.map { "\($0.payload.payloadType)" })
        section.appendConnection(usual)
        section.append("rtcp", "9 IN IP4 0.0.0.0")
        section.appendTransport(local, setup: setup, withCandidates: withCandidates)
        if let mid = media.mid { section.append("mid", mid) }
        var numbers: Set<UInt8> = []
        for known in offered.headerExtensions
        where media.headerExtensions.byURI[known.uri] == known.id && numbers.insert(known.id).inserted {
            section.append(
                "extmap",
                HeaderExtension(id: known.id, direction: known.direction?.reversed, uri: known.uri).text)
        }
        section.append(media.direction.rawValue)
        if media.direction.sends { section.append("msid", "\(use.track.streamID) \(use.track.trackID)") }
        section.append("rtcp-mux")
        if media.reducedSizeRTCP { section.append("rtcp-rsize") }
        for (payload, feedback) in payloads { section.append(payload, feedback: feedback) }
        if media.direction.sends { section.appendSources(of: use.track, rtxSSRC: media.rtxSSRC) }
        return section
    }

    /// Writes the answer to a media description that stays in the session though nothing flows in it.
    func keeping(_ offered: MediaDescription, setup: DTLSSetup, withCandidates: Bool) -> MediaDescription {
        let usual = local.candidates.first { $0.transport == .udp }
        let payload = offered.isRTP ? offered.payloads.first { !$0.codec.isAuxiliary } ?? offered.payloads.first : nil
        // A payload type without a mapping is better than none: an m= line needs a format.
        let format = payload.map { "\($0.payloadType)" } ?? offered.formats.first ?? "0"
        var section = MediaDescription(
            kind: offered.kind, port: usual?.port ?? 9, transportProtocol: offered.transportProtocol,
            formats: [format])
        section.appendConnection(usual)
        if offered.isRTP { section.append("rtcp", "9 IN IP4 0.0.0.0") }
        section.appendTransport(local, setup: setup, withCandidates: withCandidates)
        if let mid = offered.mid { section.append("mid", mid) }
        guard offered.isRTP else {
            // RFC 8841, section 5, and the older form.
            if let map = offered.value(of: "sctpmap") {
                section.append("sctpmap", map)
            } else {
                section.append("sctp-port", "5000")
            }
            return section
        }
        section.append(MediaDirection.inactive.rawValue)
        section.append("rtcp-mux")
        if offered.hasReducedSizeRTCP { section.append("rtcp-rsize") }
        if let payload { section.append(payload.answering, feedback: []) }
        return section
    }
}

extension NegotiatedHeaderExtensions {
    /// The offered extensions that the project understands and that fit the one-byte form (RFC 8285, section 4.2).
    init(offered: MediaDescription, kind: MediaKind) {
        self.init()
        var taken: Set<UInt8> = []
        for offered in offered.headerExtensions where (1...14).contains(offered.id) {
            guard let known = Self.known.first(where: { $0.uri == offered.uri }), self[keyPath: known.member] == nil,
                offered.direction != .inactive, Self.isUsable(offered, in: kind), taken.insert(offered.id).inserted
            else { continue }
            self[keyPath: known.member] = offered.id
        }
    }

    /// The playout delay is about pictures only, and its direction must let the peer receive it.
    private static func isUsable(_ offered: HeaderExtension, in kind: MediaKind) -> Bool {
        offered.uri != playoutDelayURI || kind == .video && offered.direction != .sendonly
    }
}

extension RTPPayload {
    /// The payload as an answer writes it: the peer's own parameters where they must be the same on both sides.
    var answering: RTPPayload {
        var answer = self
        switch codec.name.lowercased() {
        case "h264":
            // Profile and packetization mode must be the peer's (RFC 6184, section 8.2.2); parameters that only
            // describe the peer's own decoder or stream are not repeated.
            let kept = ["level-asymmetry-allowed", "packetization-mode", "profile-level-id"]
            answer.codec.formatParameters.parameters.removeAll { !kept.contains($0.name) }
        case "opus":
            let kept = ["minptime", "useinbandfec"]
            answer.codec.formatParameters.parameters.removeAll { !kept.contains($0.name) }
        case "vp9", "av1", "h265":
            let kept = ["profile-id", "profile", "level-id", "tier-flag", "tx-mode", "level-idx", "tier"]
            answer.codec.formatParameters.parameters.removeAll { !kept.contains($0.name) }
        default:
            answer.codec.formatParameters = []
        }
        return answer
    }
}

extension MediaDescription {
    /// Whether an answer can keep the description without using it: RTP of any kind, or a data channel.
    var isKeepable: Bool {
        guard !isRejected, !formats.isEmpty else { return false }
        return isWebRTCProfile || isDataChannel
    }

    /// The answer to a media description that is not used (RFC 3264, section 6).
    static func rejecting(_ offered: MediaDescription) -> MediaDescription {
        var section = MediaDescription(
            kind: offered.kind, port: 0, transportProtocol: offered.transportProtocol,
            formats: offered.formats.isEmpty ? ["0"] : offered.formats)
        section.appendConnection(nil)
        if let mid = offered.mid { section.append("mid", mid) }
        section.append(MediaDirection.inactive.rawValue)
        return section
    }
}
