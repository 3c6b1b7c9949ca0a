/// Answers a viewer's offer with a camera's tracks (RFC 3264, RFC 8829). It is a value and has no state: the same offer
/// gives the same answer.
///
/// What it decides, and why:
/// - One transport is used. Without a BUNDLE group one media description is taken, video before audio.
/// - `setup:passive` wherever the offer allows it: as DTLS server this side chooses the SRTP profile.
/// - Each track goes to the first `m=` line of its kind that suits it; all others are rejected with port 0.
/// - A camera with video is not answered without it, unless ``allowsMissingVideo`` says so: a black picture with sound
///   tells nobody what is wrong, a codec mismatch does. A missing audio codec never stops the picture.
/// - Credentials, fingerprints and setup stand in every media description although RFC 9143 asks for them in one only:
///   older peers look for them in each.
public struct LiveViewAnswerer: Sendable {
    /// This side's transport.
    public var local: LocalTransportDescription
    /// What the camera has, in the order of preference.
    public var tracks: [LocalTrack]
    /// The number of the session in `o=`.
    public var sessionID: UInt64
    /// The version in `o=`; each further answer of the same session takes the next one.
    public var sessionVersion: UInt64
    /// The feedback that this side understands.
    public var feedback: FeedbackMessages
    /// Whether an offer is answered with sound alone where the video codecs do not match.
    public var allowsMissingVideo: Bool

    /// Describes an answering side.
    public init(
        local: LocalTransportDescription, tracks: [LocalTrack], sessionID: UInt64 = 1, sessionVersion: UInt64 = 1,
        feedback: FeedbackMessages = .all, allowsMissingVideo: Bool = false
    ) {
        self.local = local
        self.tracks = tracks
        self.sessionID = sessionID
        self.sessionVersion = sessionVersion
        self.feedback = feedback
        self.allowsMissingVideo = allowsMissingVideo
    }

    /// Answers an offer.
    public func answer(_ offer: SessionDescription) throws(NegotiationError) -> NegotiatedSession {
        guard !offer.media.isEmpty else { throw .invalidDescription("the offer has no m= line") }
        try checkMids(of: offer)
        let sections = try assign(offer)
        let used = sections.filter { $0.use != nil }
        let tagged = transportOrder(of: offer, used: used.map(\.index))
        let remote = try RemoteTransportDescription(offer, sections: tagged.map { offer.media[$0] })
        let setup: DTLSSetup = remote.setup == .passive ? .active : .passive

        var answer = SessionDescription(origin: Origin(sessionID: sessionID, sessionVersion: sessionVersion))
        let isBundled = !offer.bundleGroups.isEmpty
        if isBundled {
            // The first tag names the description with the transport (RFC 9143, section 7.3.1).
            let mids = tagged.filter { index in used.contains { $0.index == index } }.compactMap { offer.media[$0].mid }
            answer.append("group", (["BUNDLE"] + mids).joined(separator: " "))
        }
        answer.append("msid-semantic", "WMS *")
        let carrier = tagged.first { index in used.contains { $0.index == index } }
        var media: [NegotiatedMedia] = []
        var notes: [String] = []
        for section in sections {
            if let note = section.note { notes.append(offer.label(ofMediaAt: section.index) + ": " + note) }
            let offered = offer.media[section.index]
            guard let use = section.use else {
                answer.media.append(.rejecting(offered))
                continue
            }
            let negotiated = negotiate(use, offered: offered, index: section.index)
            media.append(negotiated)
            answer.media.append(
                describe(
                    negotiated, use, offered: offered, setup: setup,
                    withCandidates: section.index == carrier))
        }
        return NegotiatedSession(answer: answer, media: media, remote: remote, localSetup: setup, notes: notes)
    }
}

extension LiveViewAnswerer {
    struct Use {
        var track: LocalTrack
        var selection: MediaSelection
        /// Every payload type of the offered media description.
        var offered: [RTPPayload]
        /// What feedback they are offered.
        var feedback: OfferedFeedback
    }

    struct Section {
        var index: Int
        var use: Use?
        /// Why it is rejected, or what is to be known about its use.
        var note: String?
    }

    private func checkMids(of offer: SessionDescription) throws(NegotiationError) {
        var seen: Set<String> = []
        for mid in offer.media.compactMap(\.mid) where !seen.insert(mid).inserted {
            throw .invalidDescription("two media descriptions have the identification tag \(mid)")
        }
    }

    /// The media descriptions whose transport attributes count, in order: those of the group that are used, then the
    /// rest of the group, then the rest.
    private func transportOrder(of offer: SessionDescription, used: [Int]) -> [Int] {
        let mids = used.compactMap { offer.media[$0].mid }
        let group = offer.bundleGroups.first { group in mids.contains { group.contains($0) } } ?? []
        let members = group.compactMap { mid in offer.media.firstIndex { $0.mid == mid } }
        let first = members.filter(used.contains)
        let order = first + used.filter { !first.contains($0) } + members.filter { !used.contains($0) }
        // The values of the description that carries the bundle come first even where it is not used itself: with
        // max-bundle only that one has a transport.
        return order
    }

    /// Gives each track to the first media description that suits it.
    private func assign(_ offer: SessionDescription) throws(NegotiationError) -> [Section] {
        let payloads = offer.media.map(\.payloads)
        let usable = Set(transportMembers(of: offer, payloads))
        var free = Array(tracks.indices)
        var refusedVideo: [String] = []
        var sections: [Section] = []
        for index in offer.media.indices {
            let kind = offer.media[index].kind
            switch choose(offer, index, payloads[index], among: free) {
            case .success((let position, let selection)) where usable.contains(index):
                free.removeAll { $0 == position }
                sections.append(
                    Section(
                        index: index,
                        use: Use(
                            track: tracks[position], selection: selection, offered: payloads[index],
                            feedback: offer.media[index].feedbackMessages),
                        note: selection.note)
                )
            case .success:
                sections.append(Section(index: index, note: "not used, since it does not share a transport by BUNDLE"))
            case .failure(let refusal):
                if kind == .video, case .codecs(let reason) = refusal { refusedVideo.append(reason) }
                sections.append(Section(index: index, note: "not used: " + refusal.reason))
            }
        }
        let hasVideo = sections.contains { $0.use?.track.kind == .video }
        if !hasVideo, let reason = refusedVideo.first, !allowsMissingVideo {
            throw .codecMismatch(
                "video has " + reason + "; a viewer with that codec is needed, or a camera stream with another")
        }
        guard sections.contains(where: { $0.use != nil }) else {
            throw .noUsableMedia(
                sections.map { offer.label(ofMediaAt: $0.index) + ": " + ($0.note ?? "not used") })
        }
        return sections
    }

    /// The media descriptions that can share one transport: the first BUNDLE group with anything of use, or one alone.
    private func transportMembers(of offer: SessionDescription, _ payloads: [[RTPPayload]]) -> [Int] {
        let suitable = offer.media.indices.filter {
            if case .success = choose(offer, $0, payloads[$0], among: Array(tracks.indices)) { true } else { false }
        }
        for group in offer.bundleGroups {
            let members = suitable.filter { index in offer.media[index].mid.map(group.contains) ?? false }
            if !members.isEmpty { return members }
        }
        // Alone, a description needs RTP and RTCP on one port of its own.
        let alone = suitable.filter { offer.media[$0].hasRTCPMux && !offer.media[$0].isBundleOnly }
        return Array((alone.filter { offer.media[$0].kind == .video } + alone).prefix(1))
    }

    private func choose(
        _ offer: SessionDescription, _ index: Int, _ payloads: [RTPPayload], among candidates: [Int]
    ) -> Result<(Int, MediaSelection), MediaRefusal> {
        let section = offer.media[index]
        guard section.kind == .audio || section.kind == .video else {
            return .failure(.other("\(section.kind.name) is not carried, only audio and video"))
        }
        if section.isRejected { return .failure(.other("the offer itself has it switched off (port 0)")) }
        guard section.isWebRTCProfile else {
            return .failure(.other("\(section.transportProtocol) is not an RTP profile with DTLS"))
        }
        let isBundled = section.mid.map { mid in offer.bundleGroups.contains { $0.contains(mid) } } ?? false
        guard isBundled || section.hasRTCPMux else {
            return .failure(.other("it has no a=rtcp-mux, and RTCP on a port of its own is not supported"))
        }
        let sameKind = candidates.filter { tracks[$0].kind == section.kind }
        guard !sameKind.isEmpty else {
            let hasAny = tracks.contains { $0.kind == section.kind }
            return .failure(
                .other(
                    hasAny
                        ? "the camera's \(section.kind.name) is used by an earlier m= line"
                        : "the camera has no \(section.kind.name)"))
        }
        let payloads = payloads.filter { !$0.codec.isAuxiliary }
        var refusal: MediaRefusal?
        for position in sameKind {
            switch MediaSelection.select(from: payloads, direction: offer.direction(of: section), for: tracks[position])
            {
            case .success(let selection): return .success((position, selection))
            case .failure(let reason): refusal = refusal ?? reason
            }
        }
        return .failure(refusal ?? .other("no track suits it"))
    }
}

extension SessionDescription {
    /// A media description for a sentence: `m-line 1 (video, mid 0)`, numbered from 1.
    func label(ofMediaAt index: Int) -> String {
        let section = media[index]
        return "m-line \(index + 1) (\(section.kind.name)\(section.mid.map { ", mid \($0)" } ?? ""))"
    }
}
