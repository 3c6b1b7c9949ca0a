import SDP
import Signalling

extension FuzzTarget {
    static let sdp = FuzzTarget(
        "sdp", "a session description: read, written, read again, and every value of it", maximumLength: 8192,
        dictionary: sdpWords, seeds: { descriptionSeeds }
    ) { bytes throws(FuzzFailure) in
        let text = String(fuzzed: bytes)
        guard let description = try? SessionDescription(parsing: text) else { return }
        let written = description.encoded()
        guard let again = try? SessionDescription(parsing: written) else {
            throw FuzzFailure("what was written cannot be read")
        }
        try require(again.encoded() == written, "a description changes each time that it is written")
        try require(again.media.count == description.media.count, "a media description was lost or made up")
        for media in description.media.indices {
            for payload in description.payloads(ofMediaAt: media) {
                try require(payload.payloadType <= 127, "payload type \(payload.payloadType)")
                let parameters = payload.codec.formatParameters
                observe((parameters.parameterSets, parameters.h265ParameterSets, H264Profile(parameters)))
                observe((payload.codec.summary, payload.codec.passThroughRank, payload.codec.isOfUse))
            }
            let section = description.media[media]
            observe(
                (section.simulcast, section.restrictionIdentifiers, section.retransmissionSources, section.mediaStreams)
            )
            for candidate in section.candidates {
                try require(ICECandidate(parsing: candidate.text) == candidate, "candidate \(candidate.text)")
            }
        }
        observe((description.cameraTracks, description.bundleGroups, description.origin))
    }

    static let negotiation = FuzzTarget(
        "negotiation", "an offer or answer: explained, answered for viewers and publishers, accepted",
        maximumLength: 8192, dictionary: sdpWords, seeds: { descriptionSeeds }
    ) { bytes throws(FuzzFailure) in
        guard let description = try? SessionDescription(parsing: String(fuzzed: bytes)) else { return }
        try require(!DescriptionExplainer().explain(description).lines.isEmpty, "an explanation without words")
        for tracks in cameras {
            let answerer = LiveViewAnswerer(local: local, tracks: tracks, sessionID: 42)
            guard let session = try? answerer.answer(description) else { continue }
            try check(session.answer, answers: description)
            try require(
                (try? answerer.answer(description))?.answer.encoded() == session.answer.encoded(),
                "the same offer is answered in two ways")
        }
        if let session = try? PublisherAnswerer(local: local).answer(description) {
            try check(session.answer, answers: description)
        }
        let offerer = LiveViewOfferer(viewing: local, talks: true, sessionID: 1, ssrc: 1, cname: "c")
        observe(try? offerer.accept(answer: description))
    }

    private static func check(_ answer: SessionDescription, answers offer: SessionDescription) throws(FuzzFailure) {
        guard let again = try? SessionDescription(parsing: answer.encoded()) else {
            throw FuzzFailure("the answer cannot be read")
        }
        try require(again.media.count == offer.media.count, "the answer has another number of m-lines")
        for (mine, yours) in zip(again.media, offer.media) {
            try require(mine.kind == yours.kind, "an m-line of another kind")
            try require(mine.mid == yours.mid, "an m-line of another mid")
        }
    }

    static let trickle = FuzzTarget(
        "trickle", "a fragment of trickled candidates: read, written, read again", maximumLength: 4096,
        dictionary: sdpWords, seeds: { SampleFiles.all(in: "fragments") + [[UInt8](text: fragment)] }
    ) { bytes throws(FuzzFailure) in
        let text = String(fuzzed: bytes)
        if let candidate = ICECandidate(parsing: text) {
            try require(ICECandidate(parsing: candidate.text) == candidate, "candidate \(candidate.text)")
        }
        guard let fragment = try? TrickleFragment(parsing: text) else { return }
        observe((fragment.allCandidates, fragment.credentials, fragment.endsCandidates))
        let written = fragment.encoded()
        // A fragment in which nothing is useful is written as nothing.
        guard !written.isEmpty else { return }
        guard let again = try? TrickleFragment(parsing: written) else {
            throw FuzzFailure("what was written cannot be read")
        }
        try require(again.encoded() == written, "a fragment changes each time that it is written")
        try require(again.allCandidates == fragment.allCandidates, "candidates were lost or made up")
    }

    private static let fragment =
        "a=ice-ufrag:view\r\na=ice-pwd:0123456789abcdefghijkl\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:0\r\n"
        + "a=candidate:1 1 udp 2130706431 192.0.2.7 5000 typ host ufrag view\r\n"
        + "a=candidate:2 1 tcp 1 fe80::1 9 typ srflx raddr 0.0.0.0 rport 9 tcptype active\r\na=end-of-candidates\r\n"

    static let descriptionSeeds: [[UInt8]] = ["offers", "answers", "cameras"].flatMap(SampleFiles.all)

    static let sdpWords = [
        "a=", "m=video ", "m=audio ", "m=application ", "c=IN IP4 ", "o=- 1 1 IN IP4 ", "v=0", "t=0 0", "b=AS:",
        "a=rtpmap:", "a=fmtp:", "a=rtcp-fb:", "a=extmap:", "a=mid:", "a=group:BUNDLE ", "a=setup:active", "a=sendonly",
        "a=recvonly", "a=inactive", "a=ice-ufrag:", "a=ice-pwd:", "a=fingerprint:sha-256 ", "a=ssrc:", "a=ssrc-group:",
        "a=candidate:", "a=end-of-candidates", "a=control:", "a=rtcp-mux", "a=rid:", "a=simulcast:", "a=msid:",
        "a=bundle-only", "a=ice-lite", "UDP/TLS/RTP/SAVPF", "RTP/AVP", "H264/90000", "H265/90000", "VP8/90000",
        "VP9/90000", "AV1/90000", "JPEG/90000", "opus/48000/2", "PCMU/8000", "G722/8000", "mpeg4-generic/48000/2",
        "rtx/90000", "apt=", "profile-level-id=", "packetization-mode=1", "sprop-parameter-sets=", "config=", "\r\n",
    ]

    private static let local = LocalTransportDescription(
        usernameFragment: "gate", password: "0123456789abcdefghijkl",
        fingerprints: [Fingerprint(algorithm: "sha-256", bytes: (0..<32).map { UInt8($0) })],
        candidates: [ICECandidate(foundation: "1", priority: 2_130_706_431, host: "192.0.2.10", port: 8189)])

    /// What cameras send: with sound, without, and with codecs that hardly any viewer plays.
    private static let cameras: [[LocalTrack]] = {
        func video(_ codecs: [MediaCodec]) -> LocalTrack {
            LocalTrack(
                kind: .video, codecs: codecs, ssrc: 1111, rtxSSRC: 1112, cname: "c", streamID: "s", trackID: "video")
        }
        func audio(_ codecs: [MediaCodec], talks: Bool) -> LocalTrack {
            LocalTrack(
                kind: .audio, codecs: codecs, receives: talks, receiveCodecs: talks ? [.opus, .pcmu, .pcma] : [],
                ssrc: 2222, cname: "c", streamID: "s", trackID: "audio")
        }
        return [
            [video([.vp8]), audio([.opus], talks: true)],
            [video([.h264(profileLevelID: "42e01f"), .vp8])],
            [video([MediaCodec(name: "H265", clockRate: 90_000)]), audio([.pcmu], talks: false)],
        ]
    }()
}
