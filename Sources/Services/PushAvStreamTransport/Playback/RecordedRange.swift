import FragmentedMP4

/// What the store holds of one device in a range of time, put on one line: which part of which recording is shown when.
public struct RecordedRange: Sendable {
    /// A part of a recording.
    public struct Piece: Sendable {
        /// The recording, with the description of its tracks.
        public var recording: StoredRecording
        /// The segments that the range needs, ordered by track and number.
        public var segments: [StoredSegment]
        /// The indices of the tracks that are shown: pictures, then sound.
        public var tracks: [Int]
        /// What is shown of it, in microseconds since 1970, UTC.
        public var range: Range<Int64>
        /// When its decode time 0 was captured, in microseconds since 1970, UTC.
        public var origin: Int64
    }

    /// Sound that begins with the range needs a packet or two from before.
    static let lead: Int64 = 200_000

    /// The parts in the order of time. They do not overlap.
    public var pieces: [Piece]

    /// The footage of a device between two times, in microseconds since 1970, UTC.
    ///
    /// If recordings overlap, as those of two connections do, the one that began earlier is shown until the next
    /// one that lasts longer begins.
    /// - Parameter connection: only recordings of this connection; nil for all.
    /// - Throws: ``PlaybackError/nothingRecorded``, and what the store throws.
    public init(
        of device: String, from: Int64, until: Int64, connection: UInt16? = nil, in store: any RecordingReading
    ) throws(PlaybackError) {
        let lead = Self.lead
        var found: [Piece] = []
        do throws(RecordingFault) {
            let first = from > .min + lead ? from - lead : from
            for part in try store.segments(of: device, from: first, until: until) {
                let recording: StoredRecording
                do throws(RecordingFault) {
                    recording = try store.recording(part.id)
                } catch .unknownSession {
                    // Deleted since the list was made.
                    continue
                }
                guard connection == nil || recording.session.connection == connection,
                    let piece = Piece(recording, part.segments, from: from, until: until)
                else { continue }
                found.append(piece)
            }
        } catch {
            throw .store(error)
        }
        found.sort { ($0.range.lowerBound, $1.range.upperBound) < ($1.range.lowerBound, $0.range.upperBound) }
        pieces = []
        for piece in found {
            if let last = pieces.last {
                guard piece.range.upperBound > last.range.upperBound else { continue }
                let end = min(last.range.upperBound, piece.range.lowerBound)
                pieces[pieces.count - 1].range = last.range.lowerBound..<max(end, last.range.lowerBound)
            }
            pieces.append(piece)
        }
        pieces.removeAll { $0.range.isEmpty }
        guard !pieces.isEmpty else { throw .nothingRecorded }
    }
}

extension RecordedRange.Piece {
    /// Nil when nothing of the recording is in the range.
    init?(_ recording: StoredRecording, _ segments: [StoredSegment], from: Int64, until: Int64) {
        let tracks = recording.session.tracks
        let video = tracks.firstIndex { $0.isVideo }
        let sound = tracks.firstIndex { !$0.isVideo }
        let shown = [video, sound].compactMap { $0 }
        let used = segments.filter { shown.contains($0.track) && $0.byteCount > 0 }
        // Pictures say when something is shown, and sound where there are none.
        let leading = used.filter { $0.track == shown.first }
        guard let anchor = leading.first ?? used.first, tracks.indices.contains(anchor.track) else { return nil }
        let timing = leading.isEmpty ? used : leading
        let begins = timing.map(\.wallTime).min() ?? 0
        let ends = timing.map { $0.end(timescale: tracks[$0.track].timescale) }.max() ?? 0
        let (lower, upper) = (max(from, begins), min(until, ends))
        guard lower < upper else { return nil }
        let scale = Int64(max(1, tracks[anchor.track].timescale))
        let (seconds, rest) = anchor.decodeTime.quotientAndRemainder(dividingBy: scale)
        self.init(
            recording: recording, segments: used, tracks: shown, range: lower..<upper,
            origin: anchor.wallTime - seconds * 1_000_000 - rest * 1_000_000 / scale)
    }

    /// The segments of a track in their order.
    func segments(ofTrack track: Int) -> [StoredSegment] {
        segments.filter { $0.track == track }
    }
}
