/// The part of an offered media description that one local track can use.
struct MediaSelection {
    var direction: MediaDirection
    /// The codec that is sent; nil where this side only receives.
    var send: RTPPayload?
    /// The codecs that are received, the most preferred first.
    var receive: [RTPPayload]
    /// What a person should know about the codec that is sent.
    var doubts: [CodecDoubt]

    /// The payload types of the answer's `m=` line: the sent codec first, since a peer that may choose chooses the
    /// first.
    var payloads: [RTPPayload] {
        var result = send.map { [$0] } ?? []
        if direction.receives {
            result += receive.filter { payload in !result.contains { $0.payloadType == payload.payloadType } }
        }
        return result
    }

    /// The offered payload type for the first of `codecs` that matches any.
    static func best(of codecs: [MediaCodec], in offered: [RTPPayload]) -> (payload: RTPPayload, match: CodecMatch)? {
        for codec in codecs {
            var best: (payload: RTPPayload, match: CodecMatch)?
            for payload in offered {
                guard let match = CodecMatch.match(sending: codec, accepting: payload.codec) else { continue }
                if let found = best, found.match.rank <= match.rank { continue }
                best = (payload, match)
            }
            if let best { return best }
        }
        return nil
    }

    /// Selects from an offered media description; the reason says why nothing can be used.
    static func select(
        from offered: [RTPPayload], direction theirs: MediaDirection, for track: LocalTrack
    ) -> Result<MediaSelection, MediaRefusal> {
        let wantsToSend = track.sends && theirs.receives
        let wantsToReceive = track.receives && theirs.sends
        guard wantsToSend || wantsToReceive || theirs == .inactive else {
            return .failure(.direction(theirs, sends: track.sends))
        }
        let send = best(of: track.codecs, in: offered)
        var receive: [RTPPayload] = []
        if wantsToReceive {
            for codec in track.receiveCodecs {
                for payload in offered where CodecMatch.match(sending: codec, accepting: payload.codec) != nil {
                    if !receive.contains(payload) { receive.append(payload) }
                }
            }
        }
        let direction = MediaDirection(
            sends: wantsToSend && send != nil, receives: wantsToReceive && !receive.isEmpty)
        if direction == .inactive, theirs != .inactive || send == nil {
            return .failure(noCommonCodec(track.codecs.isEmpty ? track.receiveCodecs : track.codecs, offered))
        }
        return .success(
            MediaSelection(
                direction: direction, send: send?.payload, receive: receive,
                doubts: direction.sends ? send?.match.doubts ?? [] : []))
    }

    /// Says that nothing of `ours` suits what is offered.
    static func noCommonCodec(_ ours: [MediaCodec], _ offered: [RTPPayload]) -> MediaRefusal {
        .noCommonCodec(CodecMismatch(own: ours, offered: offered.map(\.codec)))
    }
}

extension MediaCodec {
    /// The codec for a sentence: `H264 (Main level 3.1)`, `VP8`, `PCMU`.
    public var summary: String {
        if isVideo, clockRate != 90_000 { return mapping }
        if isNamed("H264") {
            return H264Profile(formatParameters).map { "H264 (\($0))" } ?? "H264"
        }
        if let profile = formatParameters["profile-id"], !isNamed("H264") { return "\(name) (profile \(profile))" }
        if isNamed("AV1"), let profile = formatParameters["profile"], profile != "0" {
            return "\(name) (profile \(profile))"
        }
        return clockRate == 90000 || isNamed("opus") || clockRate == 8000 ? name : mapping
    }

    /// Whether it is not a codec for media: retransmission, redundancy, error correction, comfort noise, telephone
    /// events.
    public var isAuxiliary: Bool {
        ["rtx", "red", "ulpfec", "flexfec", "flexfec-03", "cn", "telephone-event"].contains(name.lowercased())
    }
}

extension MediaCodec {
    /// Whether a peer that accepts `offered` can play a stream of this codec.
    public func suits(_ offered: MediaCodec) -> Bool {
        CodecMatch.match(sending: self, accepting: offered) != nil
    }
}
