import FragmentedMP4

/// Reads the samples of a device's footage in the order of time, with a bounded amount of memory. One thread at a time uses
/// it, and waits for the disk.
public struct FootageReader: ~Copyable, Sendable {
    /// One sample.
    public struct Sample: Sendable {
        /// Whether it is a picture.
        public var isVideo: Bool
        /// Whether decoding can begin here.
        public var isSync: Bool
        /// Its bytes, as the file has them.
        public var data: [UInt8]
        /// When it was captured, in microseconds since 1970, UTC: in the order of decoding, and of showing.
        public var decodeTime: Int64
        public var showTime: Int64
        /// The track that it comes from: its format, and what its decoder needs.
        public var track: MP4Header.Track
        /// It is the first of its track, or the first after a time without footage.
        public var beginsSection: Bool
        /// What its track has after it.
        public var following: Following
    }

    /// What comes after a sample on its track.
    public enum Following: Sendable {
        case sample
        /// Half a second or more without footage.
        case gap
        /// Nothing.
        case end
    }

    /// Less is not a gap (`RecordingAssembler`'s `shortestGap`).
    private static let shortestGap: Int64 = 500_000

    /// How much of the index is read at once, in microseconds.
    private static let window: Int64 = 600_000_000
    /// The largest sample that is read.
    private static let maximumSample = 8 << 20

    private let device: String
    private let store: any RecordingReading
    private let until: Int64
    /// Where the next window begins.
    private var cursor: Int64
    private var pieces: ArraySlice<RecordedRange.Piece> = []
    private var tracks: [TrackReader] = []
    /// The recording that is read: decode times of its windows are relative to one moment.
    private var current: (id: RecordingSession.ID, origin: Int64, until: Int64)?
    /// The beginning is the key frame before the time that was asked for.
    private var isFirst = true
    /// When the newest sample of each track ends; nil before the first one.
    private var pictureEnd: Int64?
    private var soundEnd: Int64?

    /// Reads the footage between two times, in microseconds since 1970, UTC. The first picture is the key frame before
    /// `from`, if the recording has one.
    public init(of device: String, from: Int64, until: Int64, in store: any RecordingReading) {
        self.device = device
        self.store = store
        self.until = until
        cursor = from
    }

    /// The next sample; nil at the end.
    /// - Throws: ``PlaybackError``. Footage that was deleted meanwhile is ``PlaybackError/unreadable(path:reason:)`` or
    ///   ``PlaybackError/store(_:)``.
    public mutating func next() throws(PlaybackError) -> Sample? {
        // Each turn returns a sample, or moves on to the next piece or window, of which there are a known number.
        while true {
            var earliest: (index: Int, time: Int64)?
            for index in tracks.indices {
                guard let time = try tracks[index].upcoming() else { continue }
                if earliest.map({ time < $0.time }) ?? true { earliest = (index, time) }
            }
            if let earliest {
                guard var sample = try tracks[earliest.index].take() else { return nil }
                let end = tracks[earliest.index].end
                let before = sample.isVideo ? pictureEnd : soundEnd
                sample.beginsSection = before.map { sample.decodeTime - $0 >= Self.shortestGap } ?? true
                sample.following = following(earliest.index, after: end)
                if sample.isVideo { pictureEnd = end } else { soundEnd = end }
                return sample
            }
            if let piece = pieces.popFirst() {
                try open(piece)
            } else {
                guard try readWindow() else { return nil }
            }
        }
    }

    /// What a track has after the sample that ends at `end`. At the end of a piece the next one is looked for.
    private mutating func following(_ index: Int, after end: Int64) -> Following {
        do throws(PlaybackError) {
            if let next = try tracks[index].upcoming() { return next - end >= Self.shortestGap ? .gap : .sample }
            if pieces.isEmpty, try !readWindow() { return .end }
            guard let next = pieces.first else { return .end }
            let isThere = next.recording.session.tracks.contains { $0.isVideo == tracks[index].isVideo }
            return isThere && next.range.lowerBound - end < Self.shortestGap ? .sample : .gap
        } catch {
            // The next reading throws it.
            return .sample
        }
    }

    private mutating func open(_ piece: RecordedRange.Piece) throws(PlaybackError) {
        let session = piece.recording.session
        var piece = piece
        if let current, current.id == session.id { piece.origin = current.origin }
        let continues = current?.id == session.id && current?.until == piece.range.lowerBound
        current = (session.id, piece.origin, piece.range.upperBound)
        tracks = []
        for track in piece.tracks {
            tracks.append(try TrackReader(piece, track: track))
        }
        guard !continues else { return }
        // Everything begins with a picture that needs no other one: at the beginning the one before, later the next one.
        for index in tracks.indices where tracks[index].isVideo {
            try tracks[index].seek(to: piece.range.lowerBound, orBefore: isFirst)
        }
        isFirst = false
    }

    /// Reads what the index has of the next time; false at the end.
    private mutating func readWindow() throws(PlaybackError) -> Bool {
        while cursor < until {
            let end = min(until, cursor > .max - Self.window ? until : cursor + Self.window)
            // What continues beyond a window must still be there.
            if let current, current.until == cursor {
                do throws(RecordingFault) { _ = try store.recording(current.id) } catch { throw .store(error) }
            }
            do throws(PlaybackError) {
                pieces = try RecordedRange(of: device, from: cursor, until: end, in: store).pieces[...]
                cursor = end
                return true
            } catch .nothingRecorded {
                cursor = end
            }
            guard let next = try nextRecording() else { return false }
            cursor = max(cursor, next)
        }
        return false
    }

    /// When the next footage begins; nil without any.
    private func nextRecording() throws(PlaybackError) -> Int64? {
        do throws(RecordingFault) {
            // One that has begun before may have nothing more, so the first that begins later counts as well.
            let found = try store.recordings(RecordingQuery(device: device, from: cursor, until: until, limit: 2))
            return found.map { max($0.from, cursor) }.min()
        } catch {
            throw .store(error)
        }
    }

    /// One track of one piece.
    private struct TrackReader: Sendable {
        private struct Entry: Sendable {
            var offset: Int64
            var size: Int
            var decodeTime: Int64
            var showTime: Int64
            var end: Int64
            var isSync: Bool
        }

        let track: MP4Header.Track
        var isVideo: Bool { track.isVideo }
        private let reader: MP4ChunkReader
        private let piece: RecordedRange.Piece
        private var segments: ArraySlice<StoredSegment>
        private var entries: ArraySlice<Entry> = []
        private var path = ""
        private var lower: Int64
        /// When the newest sample ends.
        private(set) var end: Int64 = 0

        init(_ piece: RecordedRange.Piece, track index: Int) throws(PlaybackError) {
            let session = piece.recording.session
            let header: MP4Header
            do throws(MP4ReadError) {
                header = try MP4Header(Array(session.tracks[index].initializationSegment))
            } catch {
                throw .unreadable(
                    path: piece.recording.layout.initializationSegment(of: session.tracks[index].name, in: session.id),
                    reason: .format(error))
            }
            track = header.tracks[0]
            reader = MP4ChunkReader(header: header)
            self.piece = piece
            segments = piece.segments(ofTrack: index)[...]
            lower = piece.range.lowerBound
        }

        /// When the next sample is decoded; nil at the end of the piece.
        mutating func upcoming() throws(PlaybackError) -> Int64? {
            while true {
                while let entry = entries.first {
                    if entry.decodeTime >= piece.range.upperBound { return nil }
                    if entry.decodeTime >= lower { return entry.decodeTime }
                    entries.removeFirst()
                }
                guard let segment = segments.popFirst() else { return nil }
                try load(segment)
            }
        }

        /// Moves to a key frame: the last one that is not after `time` where `orBefore` is set and there is one, otherwise
        /// the next one.
        mutating func seek(to time: Int64, orBefore: Bool) throws(PlaybackError) {
            if orBefore {
                lower = .min
                // The piece has some segments from before. Each one begins with a key frame.
                while let next = segments.dropFirst().first, next.wallTime <= time { segments.removeFirst() }
                guard let first = segments.popFirst() else { return }
                try load(first)
                if let start = entries.lastIndex(where: { $0.isSync && $0.showTime <= time }) {
                    entries = entries[start...]
                    return
                }
            }
            for _ in 0...segments.count {
                if let start = entries.firstIndex(where: { $0.isSync && $0.showTime >= time }) {
                    entries = entries[start...]
                    return
                }
                guard let segment = segments.popFirst() else { break }
                try load(segment)
            }
            entries = []
        }

        mutating func take() throws(PlaybackError) -> Sample? {
            guard let entry = entries.popFirst() else { return nil }
            guard entry.size <= FootageReader.maximumSample else {
                throw .unreadable(path: path, reason: .largeSample)
            }
            let data = try RecordedFile(path: path).read(entry.size, at: entry.offset)
            guard data.count == entry.size else { throw .unreadable(path: path, reason: .shortened) }
            end = entry.end
            return Sample(
                isVideo: isVideo, isSync: entry.isSync, data: data, decodeTime: entry.decodeTime,
                showTime: entry.showTime, track: track, beginsSection: false, following: .sample)
        }

        private mutating func load(_ segment: StoredSegment) throws(PlaybackError) {
            path = piece.recording.path(of: segment)
            var found: [Entry] = []
            let (origin, scale) = (piece.origin, Int64(max(1, track.timescale)))
            func time(_ ticks: Int64) -> Int64 {
                let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: scale)
                return origin &+ seconds &* 1_000_000 &+ rest &* 1_000_000 / scale
            }
            try RecordedFile(path: path).chunks(reader, length: segment.byteCount) { chunk in
                var ticks = chunk.decodeTime
                for run in chunk.runs {
                    var place = run.offset
                    for sample in run.samples {
                        found.append(
                            Entry(
                                offset: place, size: Int(sample.size), decodeTime: time(ticks),
                                showTime: time(ticks &+ Int64(sample.compositionOffset)),
                                end: time(ticks &+ Int64(sample.duration)), isSync: sample.isSync))
                        place += Int64(sample.size)
                        ticks &+= Int64(sample.duration)
                    }
                }
                return found.count <= MP4ChunkReader.maximumSamples
            }
            entries = found[...]
        }
    }
}
