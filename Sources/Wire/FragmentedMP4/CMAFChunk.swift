/// How a CMAF track is cut into segments and chunks.
public struct CMAFParameters: Equatable, Sendable {
    /// The shortest duration of a segment. One of pictures ends before the first key frame after that, so it lasts
    /// longer where key frames are rare.
    public var segmentDuration: Duration
    /// The duration of a chunk; zero for one chunk in each segment.
    public var chunkDuration: Duration
    /// The most bytes of samples in a chunk, unless a single sample is larger. A segment without a key frame in sight
    /// is cut into several chunks by it, whatever ``chunkDuration`` says.
    public var maximumChunkLength: Int

    /// Durations from 500 ms to 65.5 s, as in the Matter cluster "Push AV Stream Transport"; others become the nearest
    /// of these.
    public init(
        segmentDuration: Duration = .seconds(4), chunkDuration: Duration = .seconds(1),
        maximumChunkLength: Int = 16 << 20
    ) {
        let (shortest, longest) = (Duration.milliseconds(500), Duration.milliseconds(65_500))
        self.segmentDuration = min(max(segmentDuration, shortest), longest)
        self.chunkDuration = chunkDuration <= .zero ? .zero : min(max(chunkDuration, shortest), longest)
        self.maximumChunkLength = max(maximumChunkLength, 1)
    }

    /// For somebody who watches now: chunks as short as `chunkDuration`, down to a single sample in each.
    public static func live(segmentDuration: Duration, chunkDuration: Duration) -> CMAFParameters {
        var parameters = CMAFParameters(segmentDuration: segmentDuration)
        parameters.chunkDuration = max(chunkDuration, .milliseconds(1))
        return parameters
    }
}

/// A chunk of a CMAF track (ISO/IEC 23000-19, section 7.3.2.3).
public struct CMAFChunk: Equatable, Sendable {
    /// The number of its segment, from 1.
    public var segment: UInt32
    /// Whether it begins its segment. Then it begins with a key frame.
    public var beginsSegment: Bool
    /// Whether its first sample can be decoded alone.
    public var beginsWithKeyFrame: Bool
    /// The decode time of its first sample, and how long all of them last, in the track's timescale.
    public var decodeTime: Int64
    public var duration: Int64
    /// When its first sample was captured, in nanoseconds since 1970.
    public var wallTime: Int64
    /// `styp` where it begins its segment, `prft`, `emsg` for each event, `moof` and `mdat`.
    public var bytes: [UInt8]
}

/// A segment of a CMAF track whose chunks are all there.
public struct CMAFSegment: Equatable, Sendable {
    /// Its number, from 1.
    public var number: UInt32
    /// The decode time of its first sample, and how long it lasts, in the track's timescale. If it holds a gap, that
    /// is part of the duration.
    public var decodeTime: Int64
    public var duration: Int64

    /// Describes a segment.
    public init(number: UInt32, decodeTime: Int64, duration: Int64) {
        self.number = number
        self.decodeTime = decodeTime
        self.duration = duration
    }
}

/// What ``CMAFTrackWriter`` produces.
public enum CMAFOutput: Equatable, Sendable {
    case chunk(CMAFChunk)
    case segmentEnd(CMAFSegment)
}

/// An event that a track carries (ISO/IEC 23009-1, section 5.10.3.3: `emsg`, version 1).
public struct CMAFEvent: Equatable, Sendable {
    /// What kind of event it is: a URI, and a value whose meaning the URI defines.
    public var scheme: String
    public var value: String
    /// When it happened, in the track's timescale, and how long it lasts; nil for an unknown duration.
    public var time: Int64
    public var duration: UInt32?
    /// Its number: two events with the same scheme, value and number are one.
    public var number: UInt32
    /// Its content.
    public var message: [UInt8]

    /// Describes an event.
    public init(
        scheme: String, value: String, time: Int64, duration: UInt32? = nil, number: UInt32, message: [UInt8]
    ) {
        self.scheme = scheme
        self.value = value
        self.time = time
        self.duration = duration
        self.number = number
        self.message = message
    }
}
