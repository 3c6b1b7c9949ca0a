/// What is wrong with a file or a folder in which something is kept. Its path stands beside it.
public enum StorageFault: Hashable, Sendable {
    /// The system refuses, with this reason (`errno`).
    case system(Int32)
    /// The file system refuses this call, with this reason (`errno`).
    case call(String, Int32)
    /// A file has more bytes than any that the gateway has written.
    case tooLarge(limit: Int)
    /// What is to be written cannot be encoded; says why, in the words of the encoder.
    case unencodable(String)
    /// The disk does not answer.
    case noAnswer
    /// No thread can be started to read it.
    case noThread
    /// The folder of all recordings cannot be used.
    case folder(RecordingFolderProblem)
    /// A recording cannot be read.
    case damage(RecordingDamage)
    /// A database cannot be used; says why and what to do, in the words of its store.
    case database(String)
    /// The recording connections of a camera cannot be kept.
    case connections(ConnectionStorageProblem)
    /// The file of the upload endpoints cannot be used.
    case endpoints(UploadEndpointsLoss)
    /// The list of what a privacy switch discarded of a recording is damaged.
    case discardedList
    /// A damaged file is in the way, and so many earlier ones are kept that this one cannot be.
    case tooManyDamaged(kept: Int)
}
