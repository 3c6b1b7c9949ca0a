extension LiveWindow {
    /// How a stream is cut.
    public struct Configuration: Sendable {
        /// How long a part is at most, unless a single picture lasts longer.
        public var partDuration = 0.5
        /// The shortest length of a segment. It ends before the first key frame after that.
        public var segmentDuration = 2.0
        /// How many complete segments are kept.
        public var segments = 6
        /// The most bytes that are kept. A segment that would need more ends, and the next key frame begins another.
        public var bytes = 48 << 20

        /// The usual values.
        public init() {}
    }

    /// A part of a segment.
    public struct Part: Sendable, Equatable {
        /// In seconds.
        public var duration: Double
        /// Whether a player can begin with it.
        public var isIndependent: Bool
        /// CMAF chunks of all tracks, in the order in which they were made.
        public var bytes: [UInt8]
    }

    /// A segment.
    public struct Segment: Sendable, Equatable {
        /// Its number in the playlist.
        public var number: UInt64
        /// Which header belongs to it.
        public var header: UInt64
        /// Whether its times do not continue those of the one before.
        public var isDiscontinuous: Bool
        /// Its parts so far.
        public var parts: [Part] = []
        /// Whether no more parts come.
        public var isComplete = false

        /// In seconds.
        public var duration: Double { parts.reduce(0) { $0 + $1.duration } }
    }

    /// What a playlist says.
    public struct Content: Sendable, Equatable {
        /// The segments, oldest first. Only the last may be incomplete.
        public var segments: [Segment] = []
        /// How many discontinuities are no longer in the playlist.
        public var discontinuities: UInt64 = 0
        /// The longest segment so far, in seconds.
        public var longestSegment = 0.0
        /// The longest part so far, in seconds.
        public var longestPart = 0.0

        /// The next part that will come.
        public var next: (segment: UInt64, part: Int) {
            guard let last = segments.last else { return (0, 0) }
            return last.isComplete ? (last.number + 1, 0) : (last.number, last.parts.count)
        }

        /// Whether a part, or a whole segment, is there or was.
        func has(segment: UInt64, part: Int?) -> Bool {
            let next = self.next
            guard let part else { return segment < next.segment }
            return segment < next.segment || segment == next.segment && part < next.part
        }
    }
}
