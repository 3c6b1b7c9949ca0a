import Transport

/// Finds recordings without reading their files. It holds recordings that have ended; the store itself knows those that
/// are being made.
///
/// An index is a cache: ``RecordingStore/recover()`` compares it with the names of the folders, and reads what it does not
/// know. All methods block until the disk has answered.
public protocol RecordingIndexing: Sendable {
    /// Adds recordings that have ended, or replaces them. A power cut may take the newest from the index again.
    func add(_ recordings: [IndexedRecording]) throws(RecordingIndexFault)
    /// Removes recordings. When it returns, this survives a power cut.
    func remove(_ ids: [RecordingSession.ID]) throws(RecordingIndexFault)
    /// The ids of all recordings.
    func ids() throws(RecordingIndexFault) -> Set<RecordingSession.ID>
    /// The recordings of a time range, ordered by start.
    func recordings(_ query: RecordingQuery) throws(RecordingIndexFault) -> [RecordingSummary]
    /// One recording; nil when it is not known.
    func recording(_ id: RecordingSession.ID) throws(RecordingIndexFault) -> IndexedRecording?
    /// When the recordings of a device begin and end, in microseconds since 1970, UTC.
    func spans(of device: String) throws(RecordingIndexFault) -> [Range<Int64>]
    /// How much each device has.
    func totals() throws(RecordingIndexFault) -> [String: RecordingTotals]
}

/// The index cannot answer. Recording continues without it.
public struct RecordingIndexFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file of the index.
    public var path: String
    /// What is wrong, and what to do about it.
    public var reason: String

    /// Describes a fault.
    public init(path: String, reason: String) {
        self.path = path
        self.reason = reason
    }

    public var description: String { "\(path): \(reason)" }
}

/// What the index holds of a recording.
public struct IndexedRecording: Equatable, Sendable {
    /// What lists show.
    public var summary: RecordingSummary
    /// The timescale of each track.
    public var timescales: [Int]
    /// The segments, ordered by track and number.
    public var segments: [StoredSegment]

    /// Describes a recording for the index.
    public init(summary: RecordingSummary, timescales: [Int], segments: [StoredSegment]) {
        self.summary = summary
        self.timescales = timescales
        self.segments = segments
    }

    /// What the index holds of a recording that has ended.
    public init(_ recording: StoredRecording) {
        self.init(
            summary: recording.summary, timescales: recording.session.tracks.map(\.timescale),
            segments: recording.segments)
    }

    /// The segments that overlap a time range.
    func segments(from: Int64, until: Int64) -> [StoredSegment] {
        segments.filter { segment in
            let timescale = timescales.indices.contains(segment.track) ? timescales[segment.track] : 1
            return segment.wallTime < until && segment.end(timescale: timescale) > from
        }
    }
}

/// An index in memory: for tests, and for a gateway whose index file cannot be used.
public final class MemoryRecordingIndex: RecordingIndexing {
    private let recordings = Locked<[RecordingSession.ID: IndexedRecording]>([:])

    /// An empty index.
    public init() {}

    public func add(_ recordings: [IndexedRecording]) throws(RecordingIndexFault) {
        self.recordings.withLock { all in for one in recordings { all[one.summary.id] = one } }
    }

    public func remove(_ ids: [RecordingSession.ID]) throws(RecordingIndexFault) {
        recordings.withLock { all in for id in ids { all[id] = nil } }
    }

    public func ids() throws(RecordingIndexFault) -> Set<RecordingSession.ID> {
        recordings.withLock { Set($0.keys) }
    }

    public func recordings(_ query: RecordingQuery) throws(RecordingIndexFault) -> [RecordingSummary] {
        query.apply(to: recordings.withLock { $0.values.map(\.summary) })
    }

    public func recording(_ id: RecordingSession.ID) throws(RecordingIndexFault) -> IndexedRecording? {
        recordings.withLock { $0[id] }
    }

    public func spans(of device: String) throws(RecordingIndexFault) -> [Range<Int64>] {
        recordings.withLock { all in
            all.values.filter { $0.summary.id.device == device }.map(\.summary.span)
        }
    }

    public func totals() throws(RecordingIndexFault) -> [String: RecordingTotals] {
        recordings.withLock { all in
            var totals: [String: RecordingTotals] = [:]
            for one in all.values {
                totals[one.summary.id.device, default: RecordingTotals()].add(
                    start: one.summary.id.start, byteCount: one.summary.byteCount)
            }
            return totals
        }
    }
}

extension RecordingQuery {
    /// Whether a recording is wanted.
    func matches(_ summary: RecordingSummary) -> Bool {
        (device == nil || device == summary.id.device) && summary.from < until
            && max(summary.until, summary.from + 1) > from
    }

    /// The wanted ones, in order.
    func apply(to summaries: [RecordingSummary]) -> [RecordingSummary] {
        let sorted = summaries.filter(matches).sorted { RecordingSession.ID.isOrdered($0.id, $1.id) }
        return Array((newestFirst ? sorted.reversed() : sorted).prefix(max(0, limit)))
    }
}

extension RecordingSession.ID {
    /// The order of recordings: by start, then by device, epoch and sequence.
    static func isOrdered(_ left: Self, _ right: Self) -> Bool {
        (left.start, left.device, left.epoch, left.sequence) < (right.start, right.device, right.epoch, right.sequence)
    }
}
