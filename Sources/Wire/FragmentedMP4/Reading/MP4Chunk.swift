import Transport

/// One movie fragment of one track, as a CMAF chunk has it: where its samples are, and when (ISO/IEC 14496-12, section
/// 8.8). The samples' bytes are not read.
public struct MP4Chunk: Equatable, Sendable {
    /// One sample.
    public struct Sample: Equatable, Sendable {
        /// Its bytes.
        public var size: UInt32
        /// How long it lasts, in the track's timescale.
        public var duration: UInt32
        /// How much later than decoded it is shown.
        public var compositionOffset: Int32
        /// Whether decoding can begin here.
        public var isSync: Bool

        /// Describes a sample.
        public init(size: UInt32, duration: UInt32, compositionOffset: Int32 = 0, isSync: Bool) {
            self.size = size
            self.duration = duration
            self.compositionOffset = compositionOffset
            self.isSync = isSync
        }
    }

    /// Samples whose bytes follow each other in the file.
    public struct Run: Equatable, Sendable {
        /// Where the bytes of the first sample begin in the file.
        public var offset: Int64
        /// The samples in the order of decoding.
        public var samples: [Sample]

        /// Describes a run.
        public init(offset: Int64, samples: [Sample]) {
            self.offset = offset
            self.samples = samples
        }

        /// The bytes of all samples.
        public var length: Int64 { samples.reduce(0) { $0 + Int64($1.size) } }
    }

    /// When the media were captured (ISO/IEC 14496-12, section 8.16.5).
    public struct ProducerTime: Equatable, Sendable {
        /// Microseconds since 1970, UTC.
        public var wallTime: Int64
        /// The time in the track to which it belongs.
        public var mediaTime: Int64

        /// Names both.
        public init(wallTime: Int64, mediaTime: Int64) {
            self.wallTime = wallTime
            self.mediaTime = mediaTime
        }
    }

    /// The number of its track.
    public var track: UInt32
    /// The decode time of the first sample, in the track's timescale.
    public var decodeTime: Int64
    /// The samples.
    public var runs: [Run]
    /// The time of capture, if the chunk states it.
    public var producerTime: ProducerTime?
    /// Where the chunk ends: behind its media data.
    public var end: Int64

    /// How long all samples last.
    public var duration: Int64 { runs.reduce(0) { $0 + $1.samples.reduce(0) { $0 + Int64($1.duration) } } }
    /// How many samples there are.
    public var sampleCount: Int { runs.reduce(0) { $0 + $1.samples.count } }
    /// Whether the first sample can be shown without others.
    public var beginsWithSync: Bool { runs.first?.samples.first?.isSync ?? false }

    /// Describes a chunk.
    public init(track: UInt32, decodeTime: Int64, runs: [Run], producerTime: ProducerTime? = nil, end: Int64) {
        self.track = track
        self.decodeTime = decodeTime
        self.runs = runs
        self.producerTime = producerTime
        self.end = end
    }
}
