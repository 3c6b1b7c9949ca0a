import Cameras

/// The state of a talker's sound on its way from the microphone through the gateway to the camera.
public struct TalkbackSnapshot: Sendable, Codable, Equatable {
    /// The state of a talk.
    public enum State: String, Sendable, Codable {
        /// The gateway is asking the camera.
        case opening
        /// The sound reaches the camera.
        case talking
        /// The camera does not accept the sound; see ``TalkbackSnapshot/reason``.
        case refused
        /// The talk is over.
        case ended
    }

    /// The talk's state.
    public var state: State
    /// In words, why the talk was refused or ended; nil while it continues.
    public var reason: String?
    /// The codec of the camera's speaker, for example `PCMU/8000`.
    public var codec: String?
    /// How long it took to open the back channel, in milliseconds.
    public var millisecondsToOpen: Double?
    /// Packets of the microphone that were decoded; none for a clip.
    public var packetsReceived: UInt64 = 0
    /// Packets of the microphone that were lost, and restored, concealed or left silent.
    public var packetsLost: UInt64 = 0
    /// Milliseconds of lost packets that were restored from the redundancy of the packets after them.
    public var millisecondsRestored: Double = 0
    /// Milliseconds of lost packets that were replaced by a guess from the sound around them.
    public var millisecondsConcealed: Double = 0
    /// Milliseconds of sound that arrived, with what was restored and concealed.
    public var millisecondsReceived: Double = 0
    /// Milliseconds that wait to be sent to the camera.
    public var millisecondsQueued: Double = 0
    /// Milliseconds that were sent, including silence that filled gaps.
    public var millisecondsSent: Double = 0
    /// Milliseconds that were dropped because they had become too old.
    public var millisecondsDropped: Double = 0
    /// Milliseconds of silence that filled gaps.
    public var millisecondsOfSilence: Double = 0
    /// Packets that were sent to the camera.
    public var packetsSent: UInt64 = 0
    /// Packets that the connection to the camera did not accept in time.
    public var packetsDropped: UInt64 = 0

    /// A talk in `state`.
    public init(state: State, reason: String? = nil) {
        self.state = state
        self.reason = reason
    }

    /// Copies the speaker's counters.
    mutating func count(_ delivery: SpeakerDelivery) {
        codec = delivery.codec
        millisecondsToOpen = delivery.millisecondsToOpen
        millisecondsReceived = delivery.millisecondsReceived
        millisecondsQueued = delivery.millisecondsQueued
        millisecondsSent = delivery.millisecondsSent
        millisecondsDropped = delivery.millisecondsDropped
        millisecondsOfSilence = delivery.millisecondsOfSilence
        packetsSent = delivery.packetsSent
        packetsDropped = delivery.packetsDropped
    }
}

/// A device's speaker and who has it.
public struct SpeakerSnapshot: Sendable, Codable, Equatable {
    /// The kinds of talkers.
    public enum Talker: String, Sendable, Codable {
        /// A viewer.
        case session
        /// A clip.
        case clip
    }

    /// The holder of the floor; nil if it is free.
    public var talker: Talker?
    /// The clip that is playing or was played last, and its state.
    public var clip: TalkClipSnapshot?
    /// The current talk; nil if there is none.
    public var talkback: TalkbackSnapshot?

    /// Describes a speaker.
    public init(talker: Talker? = nil, clip: TalkClipSnapshot? = nil, talkback: TalkbackSnapshot? = nil) {
        self.talker = talker
        self.clip = clip
        self.talkback = talkback
    }
}

/// A clip that a camera's speaker plays.
public struct TalkClipSnapshot: Sendable, Codable, Equatable {
    /// The clip's name.
    public var id: String
    /// Its duration in seconds.
    public var durationSeconds: Double
    /// Its state.
    public var talkback: TalkbackSnapshot

    /// Describes a clip.
    public init(id: String, durationSeconds: Double, talkback: TalkbackSnapshot) {
        self.id = id
        self.durationSeconds = durationSeconds
        self.talkback = talkback
    }
}
