/// Makes one plain MP4 file (`moov` first) of the chunks of single-track CMAF segments. Media are copied as they are.
///
/// The file begins to play exactly at the requested time: the samples from the key frame before are in the file, and an
/// edit list begins where the range begins (ISO/IEC 14496-12, section 8.6.6). Sound has the samples that its decoder
/// needs to settle. Times at which nothing was recorded keep their length: the picture freezes.
///
/// Begin a session with ``begin(_:)``, then add the chunks of its tracks in the order of time, and the next session.
/// It does no I/O: it sees where samples are, and never their bytes.
public struct MP4Exporter: Sendable {
    /// The most samples of a file: two days of two tracks.
    public static let maximumSamples = 16 << 20
    /// How much of a sound is decoded before it is heard, in microseconds: Opus settles within 80 ms (RFC 7845,
    /// section 4.6), and AAC within a frame.
    static let soundLead: Int64 = 80_000
    /// Ticks of the file's own times in a second. Ranges are exact to it.
    static let movieTimescale: Int64 = 1_000_000

    /// A session's place in the export.
    public struct Session: Sendable {
        /// The tracks, at most one of pictures and one of sound.
        public var tracks: [MP4Header.Track]
        /// Where the session's time 0 is in the export, in microseconds. It is negative when the export begins inside.
        public var start: Int64
        /// What of the session is exported, in microseconds of the export.
        public var range: Range<Int64>
        /// Another session follows without a gap. Pictures that are decoded after this one's range are left out then,
        /// even if they are shown in it: their decode times are those of the next session's first pictures.
        public var isFollowed: Bool

        /// Describes a session.
        public init(tracks: [MP4Header.Track], start: Int64, range: Range<Int64>, isFollowed: Bool = false) {
            self.tracks = tracks
            self.start = start
            self.range = range
            self.isFollowed = isFollowed
        }
    }

    var outputs: [MP4ExportTrack] = []
    private var session: Session?
    /// For each track of the session its output.
    private var places: [Int] = []
    private var samples = 0
    /// Where the export ends, in microseconds.
    private(set) var end: Int64 = 0
    /// When the export begins, in seconds since 1970.
    let startTime: Int64

    /// Begins an export.
    /// - Parameter startTime: when the export begins, in seconds since 1970, for players that show it.
    public init(startTime: Int64) {
        self.startTime = startTime
    }

    /// Begins a session. Its range follows that of the session before.
    /// - Throws: ``MP4ExportError/formatChanges(track:at:from:to:)`` when its tracks do not continue those before.
    public mutating func begin(_ session: Session) throws(MP4ExportError) {
        places = []
        for (index, track) in session.tracks.enumerated() {
            if let place = outputs.firstIndex(where: { $0.track.isVideo == track.isVideo }) {
                let before = outputs[place].track
                guard before.sampleEntry == track.sampleEntry, before.timescale == track.timescale else {
                    throw .formatChanges(
                        track: index, at: session.range.lowerBound, from: Self.words(before), to: Self.words(track))
                }
                places.append(place)
            } else {
                places.append(outputs.count)
                outputs.append(MP4ExportTrack(track))
            }
            outputs[places[index]].beginSession(
                start: session.start, range: session.range,
                lead: track.isVideo || track.format.hasPrefix("ulaw") || track.format.hasPrefix("alaw")
                    ? 0 : Self.soundLead,
                hasTail: !session.isFollowed)
        }
        self.session = session
        end = max(end, session.range.upperBound)
    }

    /// Adds a chunk.
    /// - Parameters:
    ///   - track: the index in the session's tracks.
    ///   - source: the number of the file that its offsets are in.
    /// - Returns: false once the track has everything up to the end of the range; later chunks are not needed.
    @discardableResult
    public mutating func add(_ chunk: MP4Chunk, track: Int, source: Int) throws(MP4ExportError) -> Bool {
        guard places.indices.contains(track) else { return false }
        samples += chunk.sampleCount
        guard samples <= Self.maximumSamples else { throw .tooManySamples(limit: Self.maximumSamples) }
        return try outputs[places[track]].add(chunk, source: source)
    }

    /// The file.
    /// - Throws: ``MP4ExportError/empty`` when no sample is within the range.
    public mutating func finish() throws(MP4ExportError) -> MP4Export {
        for index in outputs.indices { outputs[index].finish() }
        outputs.removeAll { $0.sampleCount == 0 }
        // What is left may all lie before the range: the last picture of a camera that stopped there.
        let duration = outputs.map { min(end, $0.microseconds($0.endTime + Int64($0.firstComposition))) }.max() ?? 0
        guard duration > 0 else { throw .empty }
        return makeFile(duration: duration)
    }

    private static func words(_ track: MP4Header.Track) -> String {
        let size = track.isVideo ? " of \(track.width) × \(track.height)" : ""
        return "\(track.format)\(size) at \(track.timescale) Hz"
    }
}
