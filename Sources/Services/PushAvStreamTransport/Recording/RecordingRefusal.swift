/// Why the store refuses something although its disk works.
public enum RecordingRefusal: Hashable, Sendable {
    /// The session cannot have names on the disk.
    case unusableSession(RecordingLayoutProblem)
    /// The session has begun already, in this folder.
    case hasBegun(folder: String)
    /// The recording is being added to the index, so it cannot be deleted yet.
    case isBeingIndexed
}
