/// One segment in the store.
public struct StoredSegment: Hashable, Sendable, Codable {
    /// The index of its track in ``RecordingSession/tracks``.
    public var track: Int
    /// Its number in the track, from 1.
    public var number: UInt32
    /// The decode time of its first sample, and how long it lasts, in the track's timescale.
    public var decodeTime: Int64
    public var duration: Int64
    /// When its first sample was captured, in microseconds since 1970, UTC.
    public var wallTime: Int64
    /// How many bytes of its file are whole chunks on the disk. A file may be longer while a chunk is being written.
    public var byteCount: Int64
    /// Whether no more chunks will come.
    public var isComplete = true

    /// Describes a segment.
    public init(
        track: Int, number: UInt32, decodeTime: Int64, duration: Int64, wallTime: Int64, byteCount: Int64,
        isComplete: Bool = true
    ) {
        self.track = track
        self.number = number
        self.decodeTime = decodeTime
        self.duration = duration
        self.wallTime = wallTime
        self.byteCount = byteCount
        self.isComplete = isComplete
    }

    private enum CodingKeys: String, CodingKey { case track, number, decodeTime, duration, wallTime, byteCount }
}

/// What lists and timelines show of a recording.
public struct RecordingSummary: Hashable, Sendable {
    /// The session.
    public var id: RecordingSession.ID
    /// The connection that it belongs to, and the number of its CMAF session.
    public var connection: UInt16
    public var number: UInt64
    /// Why it was recorded, and when the trigger came (milliseconds since 1970, UTC). Its events include those of later
    /// triggers.
    public var trigger: RecordingSession.Trigger
    public var triggeredAt: Int64
    /// When its first and its last sample were captured, in microseconds since 1970, UTC. Both are the start when nothing
    /// was recorded.
    public var from: Int64
    public var until: Int64
    /// The bytes of its segments.
    public var byteCount: Int64
    /// How many segments it has, of all tracks.
    public var segmentCount: Int
    /// How many gaps it has.
    public var gapCount: Int
    /// How it ended; nil while it is being recorded.
    public var end: RecordingEnd?

    /// Summarises a recording.
    public init(
        id: RecordingSession.ID, connection: UInt16, number: UInt64, trigger: RecordingSession.Trigger,
        triggeredAt: Int64, from: Int64, until: Int64, byteCount: Int64, segmentCount: Int, gapCount: Int,
        end: RecordingEnd?
    ) {
        self.id = id
        self.connection = connection
        self.number = number
        self.trigger = trigger
        self.triggeredAt = triggeredAt
        self.from = from
        self.until = until
        self.byteCount = byteCount
        self.segmentCount = segmentCount
        self.gapCount = gapCount
        self.end = end
    }

    /// From its first sample to its last one, in microseconds since 1970, UTC.
    var span: Range<Int64> { from..<max(from, until) }
}

/// All that the store knows of one recording.
public struct StoredRecording: Equatable, Sendable {
    /// The session with its tracks, and their initialization segments.
    public var session: RecordingSession
    /// The segments of all tracks, ordered by track and number. The last ones of a running session may grow.
    public var segments: [StoredSegment]
    /// The gaps, and the triggers that came later.
    public var gaps: [RecordingGap]
    public var triggers: [RecordingSession.Trigger]
    /// How it ended; nil while it is being recorded.
    public var end: RecordingEnd?
    /// Where its files are.
    public var layout: RecordingLayout

    /// Describes a recording.
    public init(
        session: RecordingSession, segments: [StoredSegment], gaps: [RecordingGap],
        triggers: [RecordingSession.Trigger], end: RecordingEnd?, layout: RecordingLayout
    ) {
        self.session = session
        self.segments = segments
        self.gaps = gaps
        self.triggers = triggers
        self.end = end
        self.layout = layout
    }

    /// The file of one of its segments. Only its first ``StoredSegment/byteCount`` bytes belong to it.
    public func path(of segment: StoredSegment) -> String {
        layout.segment(segment.number, of: session.tracks[segment.track].name, in: session.id)
    }

    /// Whether playing a range of time needs a segment, in microseconds since 1970, UTC.
    public func needs(_ segment: StoredSegment, for range: Range<Int64>) -> Bool {
        let from = max(range.lowerBound, .min + RecordedRange.lead) - RecordedRange.lead
        return segment.wallTime < range.upperBound
            && segment.end(timescale: session.tracks[segment.track].timescale) > from
    }

    /// What lists show of it.
    public var summary: RecordingSummary {
        var from: Int64?
        var until: Int64?
        var byteCount: Int64 = 0
        for segment in segments {
            byteCount += segment.byteCount
            guard session.tracks.indices.contains(segment.track) else { continue }
            from = min(from ?? .max, segment.wallTime)
            until = max(
                until ?? .min, segment.end(timescale: session.tracks[segment.track].timescale))
        }
        let start = session.id.start * 1_000
        var trigger = session.trigger
        for event in triggers.flatMap(\.events) where !trigger.events.contains(event) {
            trigger.events.append(event)
        }
        return RecordingSummary(
            id: session.id, connection: session.connection, number: session.number, trigger: trigger,
            triggeredAt: session.triggeredAt, from: from ?? start, until: until ?? start, byteCount: byteCount,
            segmentCount: segments.count, gapCount: gaps.count, end: end)
    }
}

extension StoredSegment {
    /// When its last sample ends, in microseconds since 1970, UTC.
    public func end(timescale: Int) -> Int64 {
        let (product, overflow) = duration.multipliedReportingOverflow(by: 1_000_000)
        let length = overflow ? 0 : product / Int64(max(1, timescale))
        let (sum, tooLarge) = wallTime.addingReportingOverflow(length)
        return tooLarge ? wallTime : sum
    }
}

/// The segments of one recording that a time range needs.
public struct RecordingPart: Equatable, Sendable {
    /// The recording.
    public var id: RecordingSession.ID
    /// Its segments that overlap the range, ordered by track and number.
    public var segments: [StoredSegment]

    /// Describes a part.
    public init(id: RecordingSession.ID, segments: [StoredSegment]) {
        self.id = id
        self.segments = segments
    }
}

/// A day with footage.
public struct RecordingDay: Hashable, Sendable {
    /// Days since 1970 in the time zone that was asked for.
    public var day: Int
    /// How many recordings touch it.
    public var recordings: Int
    /// How many microseconds of it they cover together; recordings of several connections count each.
    public var recorded: Int64

    /// Describes a day.
    public init(day: Int, recordings: Int, recorded: Int64) {
        self.day = day
        self.recordings = recordings
        self.recorded = recorded
    }
}

/// How much a device has in the store.
public struct RecordingTotals: Hashable, Sendable {
    /// How many recordings, and the bytes of their segments.
    public var recordings: Int
    public var byteCount: Int64
    /// The start of the oldest one, in milliseconds since 1970, UTC; nil without recordings.
    public var oldest: Int64?

    /// Describes totals.
    public init(recordings: Int = 0, byteCount: Int64 = 0, oldest: Int64? = nil) {
        self.recordings = recordings
        self.byteCount = byteCount
        self.oldest = oldest
    }

    mutating func add(start: Int64, byteCount: Int64) {
        recordings += 1
        self.byteCount += byteCount
        oldest = min(oldest ?? start, start)
    }
}
