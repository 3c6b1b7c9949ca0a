/// Where the queue of uploads is kept, so that it survives the end of the process and a power cut.
public protocol UploadQueueStorage: Sendable {
    /// Reads what is stored. It is called once, before anything else. What cannot be read is set aside and not deleted, and
    /// a disk that takes nothing at the moment is not a reason to have no queue.
    func load() -> StoredUploads

    /// Adds records. With `durably` they are on the disk when it returns, and so is everything before them; otherwise they
    /// survive the end of the process, and a power cut may take the newest of them, never one before another.
    func append(_ records: [UploadRecord], durably: Bool) throws(UploadStorageFailure)

    /// Puts these records in the place of all others, completely or not at all.
    func replace(with records: [UploadRecord]) throws(UploadStorageFailure)
}

/// What was stored.
public struct StoredUploads: Equatable, Sendable {
    /// The records in their order.
    public var records: [UploadRecord]
    /// What was wrong, and where the damaged original is now, in words for the owner; nil when all was well. The queue is
    /// then completed from the recordings' folders (``UploadFolders``).
    public var damage: String?
    /// Why nothing can be added to what is stored; nil when that is possible. The whole queue then has to be stored again,
    /// as soon as there is a way.
    public var failure: UploadStorageFailure?

    /// Describes what was stored.
    public init(records: [UploadRecord], damage: String? = nil, failure: UploadStorageFailure? = nil) {
        self.records = records
        self.damage = damage
        self.failure = failure
    }
}

/// Why the queue cannot be stored.
public struct UploadStorageFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file.
    public var path: String
    /// What is wrong with it.
    public var reason: StorageFault

    /// Describes a failure.
    public init(path: String, reason: StorageFault) {
        self.path = path
        self.reason = reason
    }

    public var description: String { "\(path): \(reason)" }
}
