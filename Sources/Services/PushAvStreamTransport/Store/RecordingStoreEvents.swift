/// Whether the store can record.
public enum StoreCondition: Equatable, Sendable {
    /// It can.
    case ready
    /// There is no room: `free` bytes are left, and recording resumes at `resumesAt`.
    case full(free: Int64, resumesAt: Int64)
    /// The file system refuses, with the path and the reason. The next session tries again.
    case failing(path: String, StorageFault)
}

/// What the store reports. Nothing is deleted, cut off or left out without one of these.
public enum StoreEvent: Equatable, Sendable {
    /// Why the store deleted a recording.
    public enum Deletion: String, Sendable {
        /// Its owner asked for it.
        case request
        /// It was too old.
        case age
        /// The device had more than it may have.
        case deviceBytes
        /// All recordings together were more than there may be.
        case totalBytes
        /// The file system had too little room.
        case headroom
    }

    /// Recording stopped or resumed.
    case condition(StoreCondition)
    /// A recording was deleted, with the bytes of its segments.
    case deleted(RecordingSession.ID, byteCount: Int64, Deletion)
    /// A recording that had no end has one now. `cut` is what was removed of chunks that were not whole.
    case recovered(RecordingSession.ID, cut: Int64)
    /// Something cannot be used, and was left where it is.
    case unreadable(UnreadableRecording)
    /// The index cannot be used. The store goes on; lists are incomplete until ``RecordingStore/recover()`` ran again.
    case indexFault(RecordingIndexFault)
}

/// What the store has counted since its start.
public struct StoreCounters: Equatable, Sendable {
    /// Sessions that began and that ended.
    public var sessionsBegun = 0
    public var sessionsEnded = 0
    /// Chunks that are on the disk, and their bytes.
    public var chunks = 0
    public var chunkBytes: Int64 = 0
    /// The bytes of journals, descriptions and initialization segments.
    public var metadataBytes: Int64 = 0
    /// How often a file (`fdatasync`) and a folder (`fsync`) was synchronized.
    public var fileSynchronizations = 0
    public var folderSynchronizations = 0
    /// Chunks that were refused because there was no room, and because of other faults.
    public var refusedFull = 0
    public var refusedFaults = 0
    /// Recordings that were deleted, and the bytes of their segments.
    public var deletedRecordings = 0
    public var deletedBytes: Int64 = 0
    /// Recordings that got their end at a start, and the bytes of chunks that were cut off.
    public var recoveredRecordings = 0
    public var cutBytes: Int64 = 0
    /// How often the index refused.
    public var indexFaults = 0

    /// All zero.
    public init() {}
}

/// Follows what was written: the queue of uploads.
public protocol RecordingFollower: Sendable {
    /// An output of a session is on the disk, at a place for chunks. It is called on the recorder's thread, in the order
    /// of the session's outputs, and must not wait.
    func wrote(_ output: RecordingOutput, of session: RecordingSession.ID, at place: RecordingPlace?)
    /// Whether a recording must stay, because not all of it was uploaded.
    func holds(_ session: RecordingSession.ID) -> Bool
    /// A recording was deleted.
    func deleted(_ session: RecordingSession.ID)
}

/// Where a chunk is.
public struct RecordingPlace: Hashable, Sendable {
    /// The file.
    public var path: String
    /// Where in it the chunk begins, and its length.
    public var offset: Int64
    public var length: Int64

    /// Names a place.
    public init(path: String, offset: Int64, length: Int64) {
        self.path = path
        self.offset = offset
        self.length = length
    }
}
