/// Answers a viewer's offer with a camera's tracks (RFC 3264, RFC 8829). It is a value without state: the same offer
/// gives the same answer.
///
/// What it decides, and why:
/// - One transport is used. Without a BUNDLE group one media description is used, video before audio.
/// - `setup:passive` wherever the offer allows it: as DTLS server this side chooses the SRTP profile.
/// - Each track goes to the first `m=` line of its kind that suits it.
/// - An `m=` line without a track is kept where it shares the transport of one that has a track: audio and video as
///   `inactive`, a data channel without any function. The first tag of the group carries the transport of all (RFC
///   9143, section 7.3), and a peer with `max-bundle` cannot go on without it. The peer's transceiver stays alive. And
///   some peers require credentials in every media description, which a rejected one does not have.
/// - All other `m=` lines are rejected with port 0: outside of that group, switched off by the offer itself, or of a
///   protocol that cannot be answered.
/// - Of tracks that form a choice (``LocalTrack/choice``), only the first that the peer can play is used.
/// - The first data channel `m=` line that shares the transport is used where this side has ``dataChannels``. An offer with
///   data channels alone is answered too.
/// - A camera with video is not answered without it, unless ``allowsMissingVideo`` is set. A black picture with sound
///   does not show what is wrong; a codec mismatch does. A missing audio codec never stops the picture.
/// - Credentials, fingerprints and setup are in every media description, although RFC 9143 requires them in one only:
///   older peers look for them in each.
public struct LiveViewAnswerer: Sendable {
    /// This side's transport.
    public var local: LocalTransportDescription
    /// What the camera has, in the order of preference.
    public var tracks: [LocalTrack]
    /// The number of the session in `o=`.
    public var sessionID: UInt64
    /// The version in `o=`; each further answer of the same session uses the next one.
    public var sessionVersion: UInt64
    /// The feedback that this side understands.
    public var feedback: FeedbackMessages
    /// Whether an offer is answered with only sound where the video codecs do not match.
    public var allowsMissingVideo: Bool
    /// This side's data channels; nil if it has none.
    public var dataChannels: LocalDataChannels?

    /// Describes an answering side.
    public init(
        local: LocalTransportDescription, tracks: [LocalTrack], sessionID: UInt64 = 1, sessionVersion: UInt64 = 1,
        feedback: FeedbackMessages = .all, allowsMissingVideo: Bool = false, dataChannels: LocalDataChannels? = nil
    ) {
        self.local = local
        self.tracks = tracks
        self.sessionID = sessionID
        self.sessionVersion = sessionVersion
        self.feedback = feedback
        self.allowsMissingVideo = allowsMissingVideo
        self.dataChannels = dataChannels
    }

    /// Answers an offer.
    public func answer(_ offer: SessionDescription) throws(NegotiationError) -> NegotiatedSession {
        guard !offer.media.isEmpty else { throw .invalidDescription(.noMedia) }
        try offer.requireWholeMediaLines()
        try checkMids(of: offer)
        let sections = try assign(offer)
        let order = transportOrder(of: offer, sections)
        let remote = try RemoteTransportDescription(offer, media: order)
        let setup: DTLSSetup = remote.setup == .passive ? .active : .passive

        var answer = SessionDescription(origin: Origin(sessionID: sessionID, sessionVersion: sessionVersion))
        // The first tag names the description with the transport (RFC 9143, section 7.3.1).
        let bundled = Set(offer.bundledMedia.joined())
        let answered = order.filter { !sections[$0].isRejected }
        let shared = answered.filter(bundled.contains)
        if !shared.isEmpty {
            answer.append("group", (["BUNDLE"] + shared.compactMap { offer.media[$0].mid }).joined(separator: " "))
        }
        answer.append("msid-semantic", "WMS *")
        var media: [NegotiatedMedia] = []
        var notes: [NegotiationNote] = []
        for section in sections {
            if let note = section.note { notes.append(NegotiationNote(note, ofMediaAt: section.index, in: offer)) }
            let offered = offer.media[section.index]
            let carries = section.index == answered.first
            if let use = section.use {
                let negotiated = negotiate(use, offered: offered, index: section.index)
                media.append(negotiated)
                answer.media.append(
                    describe(negotiated, use, offered: offered, setup: setup, withCandidates: carries))
            } else if let local = dataChannels, section.data != nil {
                answer.media.append(describe(local, offered: offered, setup: setup, withCandidates: carries))
            } else if section.isKept {
                answer.media.append(keeping(offered, setup: setup, withCandidates: carries))
            } else {
                answer.media.append(.rejecting(offered))
            }
        }
        return NegotiatedSession(
            answer: answer, media: media, remote: remote, localSetup: setup, notes: notes,
            dataChannels: sections.lazy.compactMap(\.data).first)
    }
}

extension LiveViewAnswerer {
    struct Use {
        var track: LocalTrack
        var selection: MediaSelection
        /// Every payload type of the offered media description.
        var offered: [RTPPayload]
        /// The feedback offered for them.
        var feedback: OfferedFeedback
    }

    struct Section {
        var index: Int
        var use: Use?
        /// The data channels that were agreed on here.
        var data: NegotiatedDataChannels?
        /// Whether it stays in the session though nothing is sent or received.
        var isKept = false
        /// Why it is not used, or what a person should know about its use.
        var note: NegotiationNote.Reason?

        /// Whether something flows in it.
        var isUsed: Bool { use != nil || data != nil }

        var isRejected: Bool { !isUsed && !isKept }
    }

    private func checkMids(of offer: SessionDescription) throws(NegotiationError) {
        var seen: Set<String> = []
        for (index, section) in offer.media.enumerated() {
            guard let mid = section.mid, !seen.insert(mid).inserted else { continue }
            throw .invalidDescription(.repeatedTag(mid), line: offer.lineNumber(of: "mid", inMediaAt: index))
        }
    }

    /// The media descriptions whose transport attributes count, in order. First come those of the group that are
    /// answered, in the order of their group, then others that are used, then the rest of the group: with max-bundle
    /// only its first has a transport, answered or not.
    private func transportOrder(of offer: SessionDescription, _ sections: [Section]) -> [Int] {
        let used = sections.indices.filter { sections[$0].isUsed }
        let members = group(of: used, in: offer.bundledMedia)
        let first = members.filter { !sections[$0].isRejected }
        return first + used.filter { !first.contains($0) } + members.filter { sections[$0].isRejected }
    }

    /// The first BUNDLE group that contains one of `used`; empty where none does.
    func group(of used: [Int], in groups: [[Int]]) -> [Int] {
        groups.first { group in used.contains(where: group.contains) } ?? []
    }

    /// Gives each track to the first media description that suits it. The direction of a track that a description does
    /// not use stays free: a peer may talk in one and listen in another. Inactive descriptions come last, since they
    /// use nothing.
    private func assign(_ offer: SessionDescription) throws(NegotiationError) -> [Section] {
        let payloads = offer.media.map(\.payloads)
        let groups = offer.bundledMedia
        let bundled = Set(groups.joined())
        let choose = { (index: Int, free: [LocalTrack]) in
            self.choose(offer, index, payloads[index], isBundled: bundled.contains(index), among: free)
        }
        let usable = Set(
            transportMembers(
                of: offer, groups,
                suitable: offer.media.indices.filter {
                    if case .success = choose($0, tracks) { true } else { false }
                }))
        var free = tracks
        var refusedVideo: [CodecMismatch] = []
        var refusedAudio: [CodecMismatch] = []
        var sections = offer.media.indices.map { Section(index: $0) }
        let isInactive = offer.media.map { offer.direction(of: $0) == .inactive }
        for index in offer.media.indices.filter({ !isInactive[$0] }) + offer.media.indices.filter({ isInactive[$0] }) {
            switch choose(index, free) {
            case .success((let position, let selection)) where usable.contains(index):
                let choice = tracks[position].choice
                for other in free.indices where other == position || choice != nil && tracks[other].choice == choice {
                    if selection.direction.sends { free[other].sends = false }
                    if selection.direction.receives { free[other].receives = false }
                }
                sections[index].use = Use(
                    track: tracks[position], selection: selection, offered: payloads[index],
                    feedback: offer.media[index].feedbackMessages)
                sections[index].note = selection.doubts.isEmpty ? nil : .doubts(selection.doubts)
            case .success:
                sections[index].note = .notUsed(.outsideBundle)
            case .failure(let refusal):
                if !isInactive[index], case .noCommonCodec(let mismatch) = refusal {
                    if offer.media[index].kind == .video {
                        refusedVideo.append(mismatch)
                    } else {
                        refusedAudio.append(mismatch)
                    }
                }
                sections[index].note = .notUsed(refusal)
            }
        }
        let hasVideo = sections.contains { $0.use?.track.kind == .video }
        if !hasVideo, let mismatch = refusedVideo.first, !allowsMissingVideo {
            throw .codecMismatch(.video, mismatch, remedy: .otherViewerOrStream)
        }
        assignData(offer, groups, &sections)
        guard sections.contains(where: \.isUsed) else {
            let asksForVideo = offer.media.contains { $0.kind == .video && !$0.isRejected }
            if !asksForVideo, let mismatch = refusedAudio.first {
                throw .codecMismatch(.audio, mismatch, remedy: nil)
            }
            // Every media description that is not used has a note.
            throw .noUsableMedia(
                sections.compactMap { section in
                    section.note.map { NegotiationNote($0, ofMediaAt: section.index, in: offer) }
                })
        }
        let members = group(of: sections.indices.filter { sections[$0].isUsed }, in: groups)
        for index in members where !sections[index].isUsed { sections[index].isKept = offer.media[index].isKeepable }
        return sections
    }

    /// The media descriptions that can share one transport: the first BUNDLE group with a usable one, or a single one.
    private func transportMembers(
        of offer: SessionDescription, _ groups: [[Int]], suitable: [Int]
    ) -> [Int] {
        for group in groups {
            let members = suitable.filter(group.contains)
            if !members.isEmpty { return members }
        }
        // A single description needs RTP and RTCP on its own port.
        let alone = suitable.filter { offer.media[$0].hasRTCPMux && !offer.media[$0].isBundleOnly }
        return Array((alone.filter { offer.media[$0].kind == .video } + alone).prefix(1))
    }

    private func choose(
        _ offer: SessionDescription, _ index: Int, _ payloads: [RTPPayload], isBundled: Bool, among free: [LocalTrack]
    ) -> Result<(Int, MediaSelection), MediaRefusal> {
        let section = offer.media[index]
        guard section.kind == .audio || section.kind == .video else {
            return .failure(.unsupportedKind(section.kind))
        }
        if section.isRejected { return .failure(.disabled) }
        guard section.isWebRTCProfile else { return .failure(.unusableProfile(section.transportProtocol)) }
        guard isBundled || section.hasRTCPMux else { return .failure(.noRTCPMux) }
        let sameKind = free.indices.filter { free[$0].kind == section.kind && (free[$0].sends || free[$0].receives) }
        let isUsed = MediaRefusal.alreadyUsed(section.kind)
        guard !sameKind.isEmpty else {
            let hasAny = tracks.contains { $0.kind == section.kind }
            return .failure(hasAny ? isUsed : .noTrack(section.kind))
        }
        let payloads = payloads.filter { !$0.codec.isAuxiliary }
        var refusal: MediaRefusal?
        var receiving: (Int, MediaSelection)?
        for position in sameKind {
            switch MediaSelection.select(from: payloads, direction: offer.direction(of: section), for: free[position])
            {
            case .success(let selection):
                if selection.direction.sends || !free[position].sends { return .success((position, selection)) }
                // This one can only receive talk. Another one may also be able to play sound.
                if receiving == nil { receiving = (position, selection) }
            case .failure(let reason): refusal = refusal ?? reason
            }
        }
        if let receiving { return .success(receiving) }
        if case .direction = refusal, offer.direction(of: section).receives,
            tracks.contains(where: { $0.kind == section.kind && $0.sends })
        {
            return .failure(isUsed)
        }
        if sameKind.count > 1, case .noCommonCodec = refusal {
            let ours = sameKind.flatMap { tracks[$0].codecs.isEmpty ? tracks[$0].receiveCodecs : tracks[$0].codecs }
            return .failure(MediaSelection.noCommonCodec(ours, payloads))
        }
        return .failure(refusal ?? .noMatchingTrack)
    }
}

extension LiveViewAnswerer {
    /// Negotiates one media description that is used.
    private func negotiate(_ use: Use, offered: MediaDescription, index: Int) -> NegotiatedMedia {
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
    private func describe(
        _ media: NegotiatedMedia, _ use: Use, offered: MediaDescription, setup: DTLSSetup, withCandidates: Bool
    ) -> MediaDescription {
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
        var section = beginning(
            offered, formats: payloads.map { "\($0.payload.payloadType)" }, setup: setup, withCandidates: withCandidates
        )
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
    private func keeping(_ offered: MediaDescription, setup: DTLSSetup, withCandidates: Bool) -> MediaDescription {
        let payload = offered.isRTP ? offered.payloads.first { !$0.codec.isAuxiliary } ?? offered.payloads.first : nil
        // A payload type without a mapping is better than none: an m= line needs a format.
        let format = payload.map { "\($0.payloadType)" } ?? offered.formats.first ?? "0"
        var section = beginning(offered, formats: [format], setup: setup, withCandidates: withCandidates)
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

    /// Writes what begins the answer to each media description that stays in the session.
    func beginning(
        _ offered: MediaDescription, formats: [String], setup: DTLSSetup, withCandidates: Bool
    ) -> MediaDescription {
        let usual = local.candidates.first { $0.transport == .udp }
        var section = MediaDescription(
            kind: offered.kind, port: usual?.port ?? 9, transportProtocol: offered.transportProtocol, formats: formats)
        section.appendConnection(usual)
        if offered.isRTP { section.append("rtcp", "9 IN IP4 0.0.0.0") }
        section.appendTransport(local, setup: setup, withCandidates: withCandidates)
        if let mid = offered.mid { section.append("mid", mid) }
        return section
    }
}

extension MediaDescription {
    /// The answer to a media description that is not used (RFC 3264, section 6).
    fileprivate static func rejecting(_ offered: MediaDescription) -> MediaDescription {
        var section = MediaDescription(
            kind: offered.kind, port: 0, transportProtocol: offered.transportProtocol,
            formats: offered.formats.isEmpty ? ["0"] : offered.formats)
        section.appendConnection(nil)
        if let mid = offered.mid { section.append("mid", mid) }
        section.append(MediaDirection.inactive.rawValue)
        return section
    }
}
