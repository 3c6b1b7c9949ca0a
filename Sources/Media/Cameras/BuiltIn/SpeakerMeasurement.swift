import Transport

/// The result of a speaker that measures sound instead of playing it.
public struct SpeakerMeasurement: Sendable, Hashable {
    /// The number of talks that have begun.
    public var talks = 0
    /// Whether a talk is in progress: samples have come, and the end has not.
    public var isTalking = false
    /// The number of samples that came, at 48 kHz.
    public var samples: UInt64 = 0
    /// The number of samples that were louder than silence.
    public var loudSamples: UInt64 = 0
    /// The loudness of the newest 50 ms, 0 to 1 (the root of the mean square; 1 for a full-scale square wave).
    public var rootMeanSquare = 0.0
    /// The loudest 50 ms since the talk began, on the same scale.
    public var loudest = 0.0
    /// The newest tone that stood out from the rest of the sound, in hertz; nil when none has.
    public var dominantTone: Double?
    /// When sound louder than silence last came, on the monotonic clock; nil when it never has.
    public var lastHeard: Instant?

    /// The measurement before any sound.
    public init() {}
}
