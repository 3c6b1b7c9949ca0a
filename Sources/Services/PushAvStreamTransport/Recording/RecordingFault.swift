/// Why something cannot be recorded, or a recording cannot be read.
public enum RecordingFault: Error, Hashable, Sendable {
    /// How a full disk shows.
    public enum Shortage: Hashable, Sendable {
        /// So few bytes are free that none are left for recordings.
        case reserve(free: Int64)
        /// The system says so, with this `errno`.
        case system(Int32)
    }

    /// The disk, or the share of it that recordings may use, is full.
    case storageFull(path: String, Shortage)
    /// Something that is kept cannot be read or written. The path is that of the file or folder, or the camera's id.
    case storage(path: String, StorageFault)
    /// The store refuses it.
    case refused(RecordingRefusal)
    /// The session is not known, or has ended.
    case unknownSession
    /// The session is being recorded, so its recording cannot be deleted.
    case inProgress

    /// How a session ends whose output the store did not take.
    public var endReason: RecordingEnd.Reason {
        switch self {
        case .storageFull: .storageFull
        case .storage: .storageFailed
        case .refused, .unknownSession, .inProgress: .storageRefused
        }
    }
}
