import FragmentedMP4

/// What a live stream consists of until it changes.
public struct LiveDescription: Sendable, Equatable {
    /// Its tracks, pictures first. Each is a CMAF track; their identifiers are 1 and 2.
    public var tracks: [RecordingSession.Track]
    /// The header for all tracks in one file: `ftyp` and `moov`.
    public var header: [UInt8]
    /// Counts the descriptions of a stream. Times begin at 0 with each.
    public var number: UInt64

    /// The type of the file, as `Content-Type` and `MediaSource.addSourceBuffer` take it (RFC 6381).
    public var mediaType: String {
        let kind = tracks.contains(where: \.isVideo) ? "video" : "audio"
        return "\(kind)/mp4; codecs=\"\(tracks.map(\.codec).joined(separator: ", "))\""
    }
}

/// A CMAF chunk of a live stream: one picture, or some pieces of sound.
public struct LiveChunk: Sendable, Equatable {
    /// The index of its track.
    public var track: Int
    /// Whether a viewer can begin with it: it begins with a key frame, or there are no pictures.
    public var canBegin: Bool
    /// The decode time of its first sample and how long it lasts, in the track's timescale.
    public var decodeTime: Int64
    public var duration: Int64
    /// `moof` and `mdat`, with what CMAF has in front of them.
    public var bytes: [UInt8]
}
