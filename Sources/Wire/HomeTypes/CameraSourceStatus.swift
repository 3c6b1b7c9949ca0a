import Foundation

/// The state of a camera's source, in the order of a start.
public enum CameraSourceState: String, Sendable, Codable, CaseIterable {
    case idle, resolving, connecting, authenticating, describing, settingUp
    /// Media arrives.
    case flowing
    /// The connection is up, but a track has stopped.
    case stalled
    /// The last attempt failed, and the source waits for the next one.
    case backingOff
    /// It failed in the same way so often that the gateway waits longer before it tries again; `retryAt` says until
    /// when.
    case givenUp
    case stopped
}

/// One track that a camera's source delivers.
public struct CameraTrack: Sendable, Codable, Hashable {
    /// `video` or `audio`.
    public var kind: String
    /// The codec's encoding name, for example `VP8` or `opus`.
    public var codec: String

    /// Describes a track.
    public init(kind: String, codec: String) {
        self.kind = kind
        self.codec = codec
    }
}

/// The state of a camera's source.
public struct CameraSourceStatus: Sendable, Codable, Hashable {
    /// The state itself.
    public var state: CameraSourceState
    /// Why it is not flowing, if there is a reason. It never contains a password.
    public var trouble: SourceTrouble?
    /// The same as a text.
    public var reason: String? { trouble?.words }
    /// What kind of reason it is: while the source waits after a failure, has stalled or cannot be used, and while nothing may
    /// leave the camera.
    public var cause: CameraSourceCause?
    /// What it delivers; empty until the camera has described itself.
    public var tracks: [CameraTrack]
    /// When a source that was given up is retried.
    public var retryAt: Date?
    /// Whether it rests while nobody needs it; nil for a camera that is pulled all the time.
    public var isOnDemand: Bool?
    /// Whether the camera runs on a battery, so that programs should not wake it up for pictures that nobody asked for;
    /// nil if it does not.
    public var isOnBattery: Bool?

    private enum CodingKeys: String, CodingKey {
        case state, cause, tracks, retryAt, isOnDemand, isOnBattery
        case trouble = "reason"
    }

    /// Describes a source with a reason that is the same for each attempt.
    public init(
        state: CameraSourceState, reason: String? = nil, cause: CameraSourceCause? = nil, tracks: [CameraTrack] = [],
        retryAt: Date? = nil
    ) {
        self.init(
            state: state, trouble: reason.map { SourceTrouble($0) }, cause: cause, tracks: tracks, retryAt: retryAt)
    }

    /// Describes a source.
    public init(
        state: CameraSourceState, trouble: SourceTrouble?, cause: CameraSourceCause? = nil, tracks: [CameraTrack] = [],
        retryAt: Date? = nil
    ) {
        self.retryAt = retryAt
        self.state = state
        self.trouble = trouble
        self.cause = cause
        self.tracks = tracks
    }
}

/// What the speaker of the built-in camera received during talkback.
public struct SpeakerReading: Sendable, Codable, Hashable {
    /// Samples received since the start, at 48 kHz.
    public var samples: UInt64
    /// Loudness of the latest stretch, root mean square, 0 to 1.
    public var rootMeanSquare: Double
    /// The strongest tone of the latest stretch in hertz, or nil in silence.
    public var dominantFrequency: Double?

    /// Describes a reading.
    public init(samples: UInt64, rootMeanSquare: Double, dominantFrequency: Double?) {
        self.samples = samples
        self.rootMeanSquare = rootMeanSquare
        self.dominantFrequency = dominantFrequency
    }
}
