extension LiveViewOfferer {
    /// Reads the answer to ``offer()``.
    ///
    /// It tolerates what cameras on the market do. Google's cameras answer `sendrecv` to `recvonly`, which is read as
    /// what was asked for. An answer may leave out identification tags, and may hold no candidate.
    public func accept(answer: SessionDescription) throws(NegotiationError) -> NegotiatedSession {
        let offer = offer()
        guard answer.media.count == offer.media.count else {
            throw .invalidDescription(.mediaCount(answer: answer.media.count, offer: offer.media.count))
        }
        var accepted: [NegotiatedMedia] = []
        var notes: [NegotiationNote] = []
        for index in offer.media.indices {
            let section = answer.media[index]
            let place = NegotiationNote.Media(index: index, label: answer.label(ofMediaAt: index))
            guard section.kind == media[index].track.kind else {
                throw .invalidDescription(.answersKind(place, media[index].track.kind))
            }
            if let mid = section.mid, mid != media[index].mid {
                throw .invalidDescription(.answersTag(place, media[index].mid))
            }
            // In an answer port 0 means rejected, bundle-only or not (RFC 9143, section 7.3.2).
            guard section.port != 0 || section.isBundleOnly else {
                notes.append(NegotiationNote(.rejected, ofMediaAt: index, in: answer))
                continue
            }
            guard let negotiated = accept(section, index: index, answer: answer, offered: offer.media[index]) else {
                notes.append(NegotiationNote(.noOfferedCodec, ofMediaAt: index, in: answer))
                continue
            }
            if negotiated.direction == .inactive {
                notes.append(NegotiationNote(.nothingFlows, ofMediaAt: index, in: answer))
            }
            accepted.append(negotiated)
        }
        guard !accepted.isEmpty else { throw .noUsableMedia(notes) }
        try checkBundle(of: answer, accepted: accepted)
        let remote = try RemoteTransportDescription(answer, media: transportSections(of: answer, accepted: accepted))
        let localSetup: DTLSSetup
        switch remote.setup {
        case .passive: localSetup = .active
        case .active: localSetup = .passive
        case .actpass, .holdconn:
            // An answer must choose (RFC 8842, section 5.3); for one that does not, the default of RFC 4145 applies.
            localSetup = .passive
            notes.append(NegotiationNote(.assumedSetup))
        }
        return NegotiatedSession(
            answer: answer, media: accepted, remote: remote, localSetup: localSetup, notes: notes)
    }

    private func transportSections(of answer: SessionDescription, accepted: [NegotiatedMedia]) -> [Int] {
        (answer.bundledMedia.first ?? []).filter { !answer.media[$0].isRejected } + accepted.map(\.index)
    }

    private func checkBundle(
        of answer: SessionDescription, accepted: [NegotiatedMedia]
    ) throws(NegotiationError) {
        guard accepted.count > 1 else { return }
        let bundled = answer.bundledMedia.first ?? []
        let outside = accepted.filter { !bundled.contains($0.index) }
        guard outside.isEmpty else {
            throw .invalidDescription(.outsideBundle(index: outside[0].index))
        }
    }

    private func accept(
        _ section: MediaDescription, index: Int, answer: SessionDescription, offered: MediaDescription
    ) -> NegotiatedMedia? {
        let track = media[index].track
        let offeredTypes = Set(offered.payloadTypes)
        let all = section.payloads
        let payloads = all.filter { offeredTypes.contains($0.payloadType) && !$0.codec.isAuxiliary }
        guard let first = payloads.first else { return nil }
        let theirs = answer.direction(of: section)
        let direction = MediaDirection(
            sends: track.sends && theirs.receives, receives: track.receives && theirs.sends)
        let retransmissions = all.retransmissions.filter { offeredTypes.contains($0.key) }
        let repeated = section.repeatedSources
        let offeredExtensions = NegotiatedHeaderExtensions(offered: offered, kind: track.kind).byURI
        var extensions = NegotiatedHeaderExtensions(offered: section, kind: track.kind)
        for (uri, member) in NegotiatedHeaderExtensions.known
        where extensions[keyPath: member] != offeredExtensions[uri] {
            extensions[keyPath: member] = nil
        }
        let sendable = payloads.first { payload in
            track.codecs.contains { CodecMatch.match(sending: $0, accepting: payload.codec) != nil }
        }
        let main = direction.sends ? sendable ?? first : first
        return NegotiatedMedia(
            index: index, mid: media[index].mid, kind: track.kind, direction: direction, codec: main.codec,
            payloadType: main.payloadType, ssrc: track.ssrc,
            feedback: section.feedbackMessages[main.payloadType].intersection(feedback),
            headerExtensions: extensions,
            receivePayloadTypes: direction.receives
                ? Dictionary(payloads.map { ($0.payloadType, $0.codec) }, uniquingKeysWith: { first, _ in first })
                : [:],
            receiveRetransmissionPayloadTypes: direction.receives ? retransmissions : [:],
            remoteSSRCs: section.sources.filter { repeated[$0] == nil }, remoteRetransmissionSSRCs: repeated,
            reducedSizeRTCP: section.hasReducedSizeRTCP, remoteStream: section.mediaStreams.first)
    }
}
