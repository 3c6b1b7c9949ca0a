// The lines that offers and answers share.

extension MediaDescription {
    /// Writes the transport. ICE credentials and DTLS go into every description, as browsers do; candidates go into
    /// one.
    mutating func appendTransport(
        _ transport: LocalTransportDescription, setup: DTLSSetup, withCandidates: Bool
    ) {
        if withCandidates {
            for candidate in transport.candidates { append("candidate", candidate.text) }
            if transport.isComplete, !transport.candidates.isEmpty { append("end-of-candidates") }
        }
        append("ice-ufrag", transport.usernameFragment)
        append("ice-pwd", transport.password)
        if !transport.iceOptions.isEmpty { append("ice-options", transport.iceOptions.joined(separator: " ")) }
        for fingerprint in transport.fingerprints { append("fingerprint", fingerprint.text) }
        append("setup", setup.rawValue)
    }

    /// Writes `a=rtpmap`, `a=rtcp-fb` and `a=fmtp` of a payload type.
    mutating func append(_ payload: RTPPayload, feedback: FeedbackMessages) {
        append("rtpmap", "\(payload.payloadType) \(payload.codec.mapping)")
        for (message, text) in FeedbackMessages.texts where feedback.contains(message) {
            append("rtcp-fb", "\(payload.payloadType) \(text)")
        }
        let parameters = payload.codec.formatParameters.text
        if !parameters.isEmpty { append("fmtp", "\(payload.payloadType) \(parameters)") }
    }

    /// Writes the sources of a track. Firefox drops a frame when a retransmission comes from a source that was not
    /// named.
    mutating func appendSources(of track: LocalTrack, rtxSSRC: UInt32?) {
        if let rtxSSRC { append("ssrc-group", "FID \(track.ssrc) \(rtxSSRC)") }
        for ssrc in [track.ssrc, rtxSSRC].compactMap({ $0 }) {
            append("ssrc", "\(ssrc) cname:\(track.cname)")
            append("ssrc", "\(ssrc) msid:\(track.streamID) \(track.trackID)")
        }
    }

    /// The connection line of a description: its default candidate's address, or none.
    mutating func appendConnection(_ candidate: ICECandidate?) {
        lines.insert(.field(type: "c", value: ConnectionData(address: candidate?.host ?? "0.0.0.0").text), at: 0)
    }

    /// The feedback of each payload type that `a=rtcp-fb` names.
    var feedbackMessages: OfferedFeedback {
        var result = OfferedFeedback()
        for case .attribute(let attribute) in lines where attribute.name.equalsIgnoringCase("rtcp-fb") {
            let (word, rest) = (attribute.value ?? "").firstWord
            guard let message = FeedbackMessages.texts.first(where: { rest.equalsIgnoringCase($0.1) })?.0 else {
                continue
            }
            if word == "*" {
                result.forAll.insert(message)
            } else if let payloadType = UInt8(word) {
                result.byPayloadType[payloadType, default: []].insert(message)
            }
        }
        return result
    }
}

/// The feedback that a media description offers.
struct OfferedFeedback {
    var forAll: FeedbackMessages = []
    var byPayloadType: [UInt8: FeedbackMessages] = [:]

    subscript(payloadType: UInt8) -> FeedbackMessages {
        forAll.union(byPayloadType[payloadType] ?? [])
    }
}

extension [RTPPayload] {
    /// For each retransmission payload type, the payload type that it repeats (RFC 4588, section 8.6).
    var retransmissions: [UInt8: UInt8] {
        var result: [UInt8: UInt8] = [:]
        for payload in self where payload.codec.isNamed("rtx") {
            guard let text = payload.codec.formatParameters["apt"], let original = UInt8(text) else { continue }
            result[payload.payloadType] = original
        }
        return result
    }
}
