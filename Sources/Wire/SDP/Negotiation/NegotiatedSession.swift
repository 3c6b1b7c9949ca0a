/// What an offer and its answer agreed on.
public struct NegotiatedSession: Hashable, Sendable {
    /// The answer: made here, or received.
    public var answer: SessionDescription
    /// The media descriptions that are used, in order.
    public var media: [NegotiatedMedia]
    /// The peer's transport.
    public var remote: RemoteTransportDescription
    /// This side's DTLS role: ``DTLSSetup/active`` is the client, ``DTLSSetup/passive`` the server.
    public var localSetup: DTLSSetup
    /// What is not used and why, and what a person should know about what is used.
    public var notes: [NegotiationNote]
    /// The data channels; nil if there are none.
    public var dataChannels: NegotiatedDataChannels?

    /// Describes an agreement.
    public init(
        answer: SessionDescription, media: [NegotiatedMedia], remote: RemoteTransportDescription,
        localSetup: DTLSSetup, notes: [NegotiationNote] = [], dataChannels: NegotiatedDataChannels? = nil
    ) {
        self.answer = answer
        self.media = media
        self.remote = remote
        self.localSetup = localSetup
        self.notes = notes
        self.dataChannels = dataChannels
    }
}

/// Feedback messages that both sides agreed on (RFC 4585, RFC 5104).
public struct FeedbackMessages: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Generic NACK: asks for lost packets again.
    public static let nack = FeedbackMessages(rawValue: 1 << 0)
    /// Picture loss indication: asks for a key frame.
    public static let pli = FeedbackMessages(rawValue: 1 << 1)
    /// Full intra request: asks for a key frame.
    public static let fir = FeedbackMessages(rawValue: 1 << 2)
    /// Receiver estimated maximum bitrate.
    public static let remb = FeedbackMessages(rawValue: 1 << 3)
    /// Transport-wide congestion control feedback.
    public static let transportCC = FeedbackMessages(rawValue: 1 << 4)

    /// All that the project understands.
    public static let all: FeedbackMessages = [.nack, .pli, .fir, .remb, .transportCC]

    /// Each message and its text in `a=rtcp-fb`, in the order in which they are written.
    static let texts: [(FeedbackMessages, String)] = [
        (.remb, "goog-remb"), (.transportCC, "transport-cc"), (.fir, "ccm fir"), (.nack, "nack"), (.pli, "nack pli"),
    ]
}

/// The numbers of the RTP header extensions that both sides agreed on (RFC 8285); nil where one is not used.
public struct NegotiatedHeaderExtensions: Hashable, Sendable {
    /// `urn:ietf:params:rtp-hdrext:sdes:mid`.
    public var mid: UInt8?
    /// Absolute send time.
    public var absoluteSendTime: UInt8?
    /// The sequence number of transport-wide congestion control.
    public var transportWideCC: UInt8?
    /// `urn:ietf:params:rtp-hdrext:ssrc-audio-level`.
    public var audioLevel: UInt8?
    /// How long the peer may hold back the pictures that this side sends.
    public var playoutDelay: UInt8?

    /// No extension.
    public init() {}

    static let playoutDelayURI = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"

    /// The extensions that the project understands, by their URI.
    static var known: [(uri: String, member: WritableKeyPath<NegotiatedHeaderExtensions, UInt8?>)] {
        [
            ("urn:ietf:params:rtp-hdrext:sdes:mid", \.mid),
            ("http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time", \.absoluteSendTime),
            (
                "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
                \.transportWideCC
            ),
            ("urn:ietf:params:rtp-hdrext:ssrc-audio-level", \.audioLevel),
            (playoutDelayURI, \.playoutDelay),
        ]
    }

    /// The number of each extension by its URI.
    public var byURI: [String: UInt8] {
        var result: [String: UInt8] = [:]
        for (uri, member) in Self.known { result[uri] = self[keyPath: member] }
        return result
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

/// One media description that both sides agreed on.
public struct NegotiatedMedia: Hashable, Sendable {
    /// The position of its `m=` line, from 0.
    public var index: Int
    /// Its identification tag; nil where the offer gave none.
    public var mid: String?
    /// Audio or video.
    public var kind: MediaKind
    /// The direction of media, as this side sees it.
    public var direction: MediaDirection
    /// The codec that this side sends, as the peer wrote it; the first that it receives where it only receives.
    public var codec: MediaCodec
    /// The payload type of ``codec``.
    public var payloadType: UInt8
    /// The payload type of retransmissions of ``payloadType`` (RFC 4588).
    public var rtxPayloadType: UInt8?
    /// The source of what this side sends.
    public var ssrc: UInt32
    /// The source of this side's retransmissions; nil where ``rtxPayloadType`` is nil.
    public var rtxSSRC: UInt32?
    /// The feedback for ``payloadType``.
    public var feedback: FeedbackMessages
    /// The RTP header extensions.
    public var headerExtensions: NegotiatedHeaderExtensions
    /// The codecs that this side receives, by payload type; empty where it only sends.
    public var receivePayloadTypes: [UInt8: MediaCodec]
    /// For each retransmission payload type that this side receives, the payload type that it repeats.
    public var receiveRetransmissionPayloadTypes: [UInt8: UInt8]
    /// The sources that the peer announced, retransmissions left out; often empty.
    public var remoteSSRCs: [UInt32]
    /// For each retransmission source that the peer announced, the source that it repeats.
    public var remoteRetransmissionSSRCs: [UInt32: UInt32]
    /// Whether RTCP packets need not be compound (RFC 5506).
    public var reducedSizeRTCP: Bool
    /// The peer's MediaStream and track, where it named them.
    public var remoteStream: MediaStreamIdentifier?

    /// Describes an agreed media description.
    public init(
        index: Int, mid: String?, kind: MediaKind, direction: MediaDirection, codec: MediaCodec, payloadType: UInt8,
        rtxPayloadType: UInt8? = nil, ssrc: UInt32, rtxSSRC: UInt32? = nil, feedback: FeedbackMessages = [],
        headerExtensions: NegotiatedHeaderExtensions = .init(), receivePayloadTypes: [UInt8: MediaCodec] = [:],
        receiveRetransmissionPayloadTypes: [UInt8: UInt8] = [:], remoteSSRCs: [UInt32] = [],
        remoteRetransmissionSSRCs: [UInt32: UInt32] = [:], reducedSizeRTCP: Bool = false,
        remoteStream: MediaStreamIdentifier? = nil
    ) {
        self.index = index
        self.mid = mid
        self.kind = kind
        self.direction = direction
        self.codec = codec
        self.payloadType = payloadType
        self.rtxPayloadType = rtxPayloadType
        self.ssrc = ssrc
        self.rtxSSRC = rtxSSRC
        self.feedback = feedback
        self.headerExtensions = headerExtensions
        self.receivePayloadTypes = receivePayloadTypes
        self.receiveRetransmissionPayloadTypes = receiveRetransmissionPayloadTypes
        self.remoteSSRCs = remoteSSRCs
        self.remoteRetransmissionSSRCs = remoteRetransmissionSSRCs
        self.reducedSizeRTCP = reducedSizeRTCP
        self.remoteStream = remoteStream
    }
}
