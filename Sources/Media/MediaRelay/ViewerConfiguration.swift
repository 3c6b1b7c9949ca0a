import PeerConnection
import RTP
import Transport

/// How one track is sent to one viewer, as agreed in offer and answer.
public struct EgressConfiguration: Sendable {
    /// What is sent.
    public var track: TrackID
    /// Whether the track is video: it starts at a key frame, and whole frames of it may be delayed and dropped.
    public var isVideo: Bool
    /// The synchronisation source of the media packets.
    public var ssrc: UInt32
    /// The payload type of the media packets.
    public var payloadType: UInt8
    /// Synchronisation source and payload type of retransmissions (RFC 4588); nil if the viewer does not accept any.
    public var retransmission: (ssrc: UInt32, payloadType: UInt8)?
    /// The identifier of the transport-wide sequence number extension; nil if it was not agreed on.
    public var transportSequenceExtension: UInt8?
    /// The identifier of the playout delay extension, 1 to 14; nil if it was not agreed on. Only video uses it.
    public var playoutDelayExtension: UInt8?
    /// The canonical name in the sender's reports.
    public var canonicalName: String

    /// Describes how a track is sent.
    public init(
        track: TrackID, isVideo: Bool, ssrc: UInt32, payloadType: UInt8,
        retransmission: (ssrc: UInt32, payloadType: UInt8)?, transportSequenceExtension: UInt8?, canonicalName: String
    ) {
        self.track = track
        self.isVideo = isVideo
        self.ssrc = ssrc
        self.payloadType = payloadType
        self.retransmission = retransmission
        self.transportSequenceExtension = transportSequenceExtension
        self.canonicalName = canonicalName
    }
}

/// A viewer as signalling passes it to the relay.
public struct ViewerConfiguration: Sendable {
    /// The session's name.
    public var sessionID: String
    /// How to connect.
    public var peer: PeerConnectionConfiguration
    /// What to send.
    public var egress: [EgressConfiguration]
    /// What the viewer may send: the payload types of its microphone. Empty if talkback was not agreed on.
    public var talkbackPayloadTypes: [UInt8]
    /// When the offer was received.
    public var offerReceived: Instant
    /// When the answer was ready.
    public var answerReady: Instant
    /// Whose session it is: all sessions of one principal share a ``CheckBudget``.
    public var principal = ""
    /// Takes what comes for the viewer's data channels; nil if none were agreed on.
    public var dataSink: (any ViewerDataSink)?

    /// Describes a viewer.
    public init(
        sessionID: String, peer: PeerConnectionConfiguration, egress: [EgressConfiguration],
        talkbackPayloadTypes: [UInt8], offerReceived: Instant, answerReady: Instant
    ) {
        self.sessionID = sessionID
        self.peer = peer
        self.egress = egress
        self.talkbackPayloadTypes = talkbackPayloadTypes
        self.offerReceived = offerReceived
        self.answerReady = answerReady
    }
}

/// Why a viewer switches to another track, and when it does.
public enum TrackSwitch: Sendable, Equatable {
    /// Somebody has chosen the track: as soon as it has a key frame.
    case chosen
    /// The path is too slow for the track before: as soon as what has come since the newest key frame can be sent in a moment,
    /// or at the next key frame.
    case smaller
    /// The path carries a larger stream: at the next key frame, because everything since the newest one would be too much for
    /// the path at once.
    case larger
}

/// How often viewers switched between a camera's streams because of their paths.
public struct StreamSwitches: Sendable, Equatable {
    /// To a smaller stream.
    public var smaller: UInt64 = 0
    /// Back to the larger one.
    public var larger: UInt64 = 0

    static func += (left: inout StreamSwitches, right: StreamSwitches) {
        left.smaller += right.smaller
        left.larger += right.larger
    }
}

/// Takes the packets of a viewer's data channels.
public protocol ViewerDataSink: AnyObject, Sendable {
    /// One SCTP packet, valid only during the call. Called on the shard's thread; must not wait.
    func receive(_ packet: UnsafeRawBufferPointer)
}

/// Receives the packets of a viewer's microphone. Called on the shard's thread; must not wait.
public protocol TalkbackSink: AnyObject, Sendable {
    /// One packet; `payload` is valid only during the call.
    func receive(
        _ payload: UnsafeRawBufferPointer, payloadType: UInt8, sequenceNumber: UInt16, timestamp: UInt32,
        at now: Instant)
}
