// The sentences of a negotiation.

extension NegotiationNote: CustomStringConvertible {
    /// The words, after the label of the media description if the note is about one.
    public var description: String { (media.map { $0.label + ": " } ?? "") + words }

    /// What a person should know, without the media description.
    public var words: String { reason.words }
}

extension NegotiationNote.Reason {
    /// The reason in words.
    public var words: String {
        switch self {
        case .notUsed(let refusal): "not used" + (refusal == .outsideBundle ? ", since " : ": ") + refusal.words
        case .doubts(let doubts): doubts.map(\.words).joined(separator: "; ")
        case .oneLayer(let count): "one of its \(count) layers is used; simulcast is not used"
        case .notReceivable: "it cannot be received"
        case .onlyAsAWhole: "a camera accepts one video and one audio track, and an offer only as a whole"
        case .rejected: "the answer rejects it"
        case .noOfferedCodec: "the answer names no codec of the offer"
        case .nothingFlows: "nothing flows in either direction"
        case .assumedSetup: "the answer has no a=setup:active or a=setup:passive; active is assumed"
        }
    }
}

extension MediaRefusal {
    /// The reason in words, about the media description as "it".
    public var words: String {
        switch self {
        case .unsupportedKind(let kind): "\(kind.name) is not supported, only audio and video are"
        case .disabled: "the offer itself disables it (port 0)"
        case .unusableProfile(let name): "\(name) is not an RTP profile with DTLS"
        case .noRTCPMux: "it has no a=rtcp-mux, and RTCP on a separate port is not supported"
        case .outsideBundle: "it does not share a transport by BUNDLE"
        case .noSCTPPort: "a=sctp-port is missing, or is not a port"
        case .noTrack(let kind): "the camera has no \(kind.name)"
        case .alreadyUsed(let kind): "the camera's \(kind.name) is used by an earlier m= line"
        case .noMatchingTrack: "no track matches it"
        case .direction(let direction, let sends):
            "the peer offers \(direction.rawValue), and this side has "
                + (sends ? "only media to send" : "nothing to send")
        case .noCommonCodec(let mismatch): mismatch.words
        }
    }
}

extension CodecMismatch {
    /// The codecs of both sides.
    public var words: String {
        let theirs = offered.isEmpty ? "none" : Self.names(of: offered)
        return "no common codec: this side has \(Self.names(of: own)), the peer offers \(theirs)"
    }

    private static func names(of codecs: [MediaCodec]) -> String {
        codecs.map(\.summary).joined(separator: ", ")
    }
}

extension CodecMismatch.Remedy {
    /// What would help, in words.
    public var words: String {
        switch self {
        case .otherViewerOrStream: "a viewer with that codec is needed, or a camera stream with another"
        case .publishOwnCodec: "publish one of those that this side has"
        }
    }
}

extension CodecDoubt {
    /// The doubt in words.
    public var words: String {
        switch self {
        case .packetizationModeZero:
            "the receiver asks for packetization-mode 0, but large pictures are sent in fragments"
        case .h264Profile(let own, let theirs):
            "the stream is H.264 \(own.rawValue) and the receiver names \(theirs.rawValue) only; "
                + "most decoders play it all the same"
        case .h264Level(let own, let theirs): "the stream has level \(own) and the receiver names level \(theirs)"
        case .unreadableH264Profile: "the receiver's profile-level-id cannot be read"
        case .h265Level(let own, let theirs):
            "the stream has H.265 level \(Double(own) / 30) and the receiver names level \(Double(theirs) / 30)"
        case .av1Level(let own, let theirs):
            "the stream has AV1 level index \(own) and the receiver names \(theirs)"
        }
    }
}
