/// What is wrong with a file or the folder of a recording.
public enum RecordingDamage: Hashable, Sendable {
    /// The description of the session is missing.
    case missingSession
    /// The description of the session cannot be read.
    case damagedSession
    /// The description of the session has the format of a newer version of the gateway.
    case newerFormat(Int)
    /// The description is of another session than its folder.
    case foreignSession
    /// The description is of a session that cannot have names on disk.
    case unusableSession(RecordingLayoutProblem)
    /// The file system refuses to read a file.
    case unreadable(FileSystemFault)
    /// This many lines of the journal are damaged.
    case damagedLines(Int)
    /// The journal names a segment that is not there.
    case missingSegment
    /// Reading failed for another reason, in the words of the error.
    case failed(String)
    /// The recording has not ended: it is being recorded, or was interrupted.
    case noEnd
    /// The process was ended before the recording had footage.
    case noFootage
    /// The initialization segment of a track is not whole boxes with a `moov`.
    case damagedHeader
    /// A segment has this many bytes, which is not the number in its journal.
    case wrongLength(Int64, expected: Int64)
    /// A segment ends within a chunk.
    case cutChunk
    /// A segment is damaged from this byte on.
    case garbled(from: Int64)
    /// A segment is damaged from this byte on, and is read up to there.
    case garbledTail(from: Int64)
    /// A segment has this many bytes that can be read, but its journal names more.
    case tooShort(usable: Int64, expected: Int64)
    /// The chunk at this byte begins before the end of the one before it.
    case overlappingChunk(at: Int64)
    /// A segment begins at another time than its journal says, both in its track's timescale.
    case wrongStart(Int64, expected: Int64)
    /// A segment begins before the end of the one before it.
    case overlappingSegment

    /// Whether the recording only lacks its end, which the next start of the gateway settles.
    public var isUnfinished: Bool { self == .noEnd || self == .noFootage }
}

/// What keeps a session from having names on disk.
public enum RecordingLayoutProblem: Hashable, Sendable {
    /// The identifier of its device cannot be the name of a folder.
    case deviceName
    /// Its start cannot be the name of a folder.
    case start
    /// It has no tracks, or too many.
    case trackCount
    /// The name of the track at this position cannot be the name of a file.
    case trackName(Int)
    /// The timescale of the track at this position is out of range.
    case timescale(Int)
    /// Two tracks have the same name.
    case repeatedTrackName
}
