import PushAvStreamTransport
import Transport

/// Keeps beside the recordings what privacy switches have discarded of them.
final class DiscardKeeper: Sendable {
    private let folders: UploadFolders
    /// What the disk has not taken yet, by the folders of the recordings. Whoever writes holds it, because two writers of
    /// one file would disturb each other.
    private let waiting = Locked<[String: Set<DiscardedSegment>]>([:])

    init(_ folders: UploadFolders) {
        self.folders = folders
    }

    /// Writes what waits, and what is new. It waits for the disk.
    /// - Returns: why the disk has not taken all of it; nil when it has.
    func keep(_ news: [String: Set<DiscardedSegment>] = [:]) -> UploadStorageFailure? {
        waiting.withLock { [folders] waiting -> UploadStorageFailure? in
            for (folder, segments) in news { waiting[folder, default: []].formUnion(segments) }
            var failure: UploadStorageFailure?
            for folder in waiting.keys.sorted() {
                guard let segments = waiting[folder] else { continue }
                do throws(UploadStorageFailure) {
                    try folders.discard(segments, in: folder)
                    waiting[folder] = nil
                } catch {
                    failure = error
                }
            }
            return failure
        }
    }
}
