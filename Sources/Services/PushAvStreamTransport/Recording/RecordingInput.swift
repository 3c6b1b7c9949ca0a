import FragmentedMP4
import Transport

/// A picture as it comes from a camera.
struct RecordedPicture: Sendable {
    /// The frame as `VideoFrameAssembler` makes it.
    var data: [UInt8]
    /// The RTP timestamp on the track's timeline.
    var timestamp: UInt32
    /// Whether decoding can start here.
    var isKeyFrame: Bool
    /// When it was captured, and when it arrived.
    var capture: Instant
    var arrival: Instant
}

/// A piece of sound as it comes from a camera, or from the encoder of the recorder.
struct RecordedSound: Sendable {
    /// One access unit of AAC, or one packet of Opus.
    var data: [UInt8]
    /// The RTP timestamp on the track's timeline.
    var timestamp: UInt32
    /// How long it lasts, in ticks of the track's clock.
    var duration: Int64
    /// What it is.
    var description: MP4Track
    /// When it was captured, and when it arrived.
    var capture: Instant
    var arrival: Instant
}

/// A sample with its place in time, on its way to the session.
struct TimedSample: Sendable {
    var data: [UInt8]
    /// In ticks since the origin of the monotonic clock.
    var decodeTime: Int64
    var compositionOffset: Int32 = 0
    var isKeyFrame: Bool
    /// How long it lasts by default; nil if only the next sample shows it.
    var duration: Int64?
    /// What its track is from here on.
    var description: MP4Track
    /// Why samples before it are missing.
    var missing: RecordingGap.Reason?
    /// When it came to the recorder.
    var queued: Instant
}

/// Samples that wait for those of the other track, in their order. Taking the first moves nothing.
struct TimedSampleQueue: Sendable {
    private var samples: [TimedSample] = []
    private var first = 0
    private(set) var byteCount = 0

    var isEmpty: Bool { first == samples.count }
    var head: TimedSample? { first < samples.count ? samples[first] : nil }

    mutating func append(_ sample: TimedSample) {
        byteCount += sample.data.count
        samples.append(sample)
    }

    mutating func removeFirst() -> TimedSample? {
        guard first < samples.count else { return nil }
        let sample = samples[first]
        // The place must not keep the bytes.
        samples[first].data = []
        first += 1
        byteCount -= sample.data.count
        if first == samples.count {
            samples.removeAll(keepingCapacity: true)
            first = 0
        } else if first >= 256, first * 2 >= samples.count {
            samples.removeFirst(first)
            first = 0
        }
        return sample
    }
}
