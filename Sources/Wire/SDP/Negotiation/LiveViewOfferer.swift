/// Makes a viewer's offer and reads the answer (RFC 3264, RFC 8829): the other side of ``LiveViewAnswerer``.
public struct LiveViewOfferer: Sendable {
    /// One media description of the offer.
    public struct Media: Hashable, Sendable {
        /// What this side sends or receives: ``LocalTrack/codecs`` where it sends, ``LocalTrack/receiveCodecs`` where
        /// it receives.
        public var track: LocalTrack
        /// The identification tag.
        public var mid: String

        /// Describes a media description.
        public init(track: LocalTrack, mid: String) {
            self.track = track
            self.mid = mid
        }
    }

    /// This side's transport.
    public var local: LocalTransportDescription
    /// The media descriptions in order. Google's cameras insist on audio before video.
    public var media: [Media]
    /// The number of the session in `o=`.
    public var sessionID: UInt64
    /// The feedback that this side sends.
    public var feedback: FeedbackMessages

    /// Describes an offering side.
    public init(
        local: LocalTransportDescription, media: [Media], sessionID: UInt64 = 1, feedback: FeedbackMessages = .all
    ) {
        self.local = local
        self.media = media
        self.sessionID = sessionID
        self.feedback = feedback
    }

    /// A viewer of one camera: audio (sent as well where `talks`), then video.
    /// - Parameters:
    ///   - videoCodecs: the video codecs, the most preferred first; none for sound only.
    ///   - audioCodecs: the audio codecs, the most preferred first; none for a picture only.
    ///   - ssrc: the source of talk and of receiver reports about sound. The next number is the source of reports about
    ///     pictures.
    public init(
        viewing local: LocalTransportDescription, talks: Bool, videoCodecs: [MediaCodec] = Self.videoCodecs,
        audioCodecs: [MediaCodec] = Self.audioCodecs, sessionID: UInt64, ssrc: UInt32, cname: String
    ) {
        var media: [Media] = []
        if !audioCodecs.isEmpty {
            let track = LocalTrack(
                kind: .audio, codecs: talks ? audioCodecs : [], sends: talks, receives: true,
                receiveCodecs: audioCodecs, ssrc: ssrc, cname: cname, streamID: "viewer", trackID: "microphone")
            media.append(Media(track: track, mid: "\(media.count)"))
        }
        if !videoCodecs.isEmpty {
            let track = LocalTrack(
                kind: .video, codecs: [], sends: false, receives: true, receiveCodecs: videoCodecs, ssrc: ssrc &+ 1,
                cname: cname, streamID: "-", trackID: "video")
            media.append(Media(track: track, mid: "\(media.count)"))
        }
        self.init(local: local, media: media, sessionID: sessionID)
    }

    /// What this project's own client plays: VP8, and H.264 in fragments of Constrained Baseline, Main and High.
    public static let videoCodecs: [MediaCodec] = [
        .vp8, .h264(profileLevelID: "42e01f"), .h264(profileLevelID: "4d001f"), .h264(profileLevelID: "64001f"),
    ]

    /// What this project's own client plays and sends as sound.
    public static let audioCodecs: [MediaCodec] = [.opus, .pcmu, .pcma]

    /// The offer. Another call gives the same one.
    public func offer() -> SessionDescription {
        var offer = SessionDescription(origin: Origin(sessionID: sessionID, sessionVersion: 1))
        offer.append("group", (["BUNDLE"] + media.map(\.mid)).joined(separator: " "))
        offer.append("msid-semantic", "WMS *")
        for (position, item) in media.enumerated() {
            offer.media.append(describe(item, position: position))
        }
        return offer
    }

    private func describe(_ item: Media, position: Int) -> MediaDescription {
        let usual = local.candidates.first { $0.transport == .udp }
        let payloads = payloads(of: item)
        var section = MediaDescription(
            kind: item.track.kind, port: usual?.port ?? 9, transportProtocol: "UDP/TLS/RTP/SAVPF",
            formats: payloads.map { "\($0.payloadType)" })
        section.appendConnection(usual)
        section.append("rtcp", "9 IN IP4 0.0.0.0")
        section.appendTransport(local, setup: .actpass, withCandidates: position == 0)
        section.append("mid", item.mid)
        for (id, uri) in Self.headerExtensions(of: item.track.kind) {
            section.append("extmap", HeaderExtension(id: id, uri: uri).text)
        }
        section.append(direction(of: item).rawValue)
        if item.track.sends { section.append("msid", "\(item.track.streamID) \(item.track.trackID)") }
        section.append("rtcp-mux")
        section.append("rtcp-rsize")
        let wanted = item.track.kind == .video ? feedback : feedback.intersection(.transportCC)
        for payload in payloads { section.append(payload, feedback: payload.codec.isAuxiliary ? [] : wanted) }
        if item.track.sends { section.appendSources(of: item.track, rtxSSRC: nil) }
        return section
    }

    private func direction(of item: Media) -> MediaDirection {
        MediaDirection(sends: item.track.sends, receives: item.track.receives)
    }

    /// The payload types of one media description: static ones for G.711, dynamic ones from 96 for the rest, and after
    /// each video codec its retransmissions. No number has two meanings in one bundle.
    private func payloads(of item: Media) -> [RTPPayload] {
        let before = media.prefix { $0.mid != item.mid }
        var next = before.reduce(UInt8(96)) { $0 &+ UInt8(clamping: dynamicCount(of: $1)) }
        var payloads: [RTPPayload] = []
        for codec in codecs(of: item) {
            if codec.isNamed("PCMU") || codec.isNamed("PCMA") {
                payloads.append(RTPPayload(payloadType: codec.isNamed("PCMU") ? 0 : 8, codec: codec))
                continue
            }
            guard next < 127 else { break }
            payloads.append(RTPPayload(payloadType: next, codec: codec))
            next += 1
            if item.track.kind == .video {
                let original = next - 1
                payloads.append(
                    RTPPayload(
                        payloadType: next,
                        codec: MediaCodec(
                            name: "rtx", clockRate: codec.clockRate,
                            formatParameters: [.init(name: "apt", value: "\(original)")])))
                next += 1
            }
        }
        return payloads
    }

    private func codecs(of item: Media) -> [MediaCodec] {
        item.track.receives ? item.track.receiveCodecs : item.track.codecs
    }

    private func dynamicCount(of item: Media) -> Int {
        let dynamic = codecs(of: item).filter { !$0.isNamed("PCMU") && !$0.isNamed("PCMA") }.count
        return item.track.kind == .video ? 2 * dynamic : dynamic
    }

    private static func headerExtensions(of kind: MediaKind) -> [(UInt8, String)] {
        let known = NegotiatedHeaderExtensions.known.map(\.uri)
        return known.enumerated().compactMap { position, uri in
            // This client shows each picture as soon as it arrives. The sender has no delay to limit.
            let isLeftOut =
                uri == NegotiatedHeaderExtensions.playoutDelayURI
                || kind == .video && uri.hasSuffix("ssrc-audio-level")
            return isLeftOut ? nil : (UInt8(position + 1), uri)
        }
    }
}
