import Foundation

/// What privacy switches have discarded is written down in the folder of the recording, because the queue may be lost: without
/// it, a queue that is made again from the recordings would upload what its owner does not want to leave the house.
extension UploadFolders {
    static let discardedName = "discarded"
    private static let largest = 16 << 20

    /// Adds to what is discarded of a recording. It is on the disk when this returns.
    public func discard(_ segments: Set<DiscardedSegment>, in folder: String) throws(UploadStorageFailure) {
        guard try exists(folder) else { return }
        // Nothing is uploaded of a recording whose file is damaged, so nothing has to be added to it.
        guard let earlier = try read(folder) else { return }
        guard !segments.isSubset(of: earlier) else { return }
        let path = path(folder, Self.discardedName)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json: Data
        do {
            json = try encoder.encode(earlier.union(segments).sorted())
        } catch {
            throw UploadStorageFailure(path: path, reason: .unencodable("\(error)"))
        }
        try DurableFile.write(Array(json), to: path)
    }

    /// What is discarded of a recording.
    /// - Throws: if that cannot be read. Nothing of the recording may be uploaded then.
    public func discarded(in folder: String) throws(UploadStorageFailure) -> Set<DiscardedSegment> {
        guard let segments = try read(folder) else {
            throw UploadStorageFailure(path: path(folder, Self.discardedName), reason: .discardedList)
        }
        return segments
    }

    /// Nil for a file that is damaged.
    private func read(_ folder: String) throws(UploadStorageFailure) -> Set<DiscardedSegment>? {
        let path = path(folder, Self.discardedName)
        guard let bytes = try DurableFile.read(path, limit: Self.largest) else { return [] }
        return try? JSONDecoder().decode(Set<DiscardedSegment>.self, from: Data(bytes))
    }
}
