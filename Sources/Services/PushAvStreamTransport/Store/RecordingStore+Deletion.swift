import Glibc
import Transport

extension RecordingStore {
    public func delete(_ id: RecordingSession.ID) throws(RecordingFault) {
        try delete(id, for: .request)
    }

    /// Deletes a recording. First the index forgets it durably, then its tombstone is on the disk, and only then the files
    /// go: a power cut at any place leaves either the whole recording, which the next start adds to the index again, or a
    /// deletion that it completes. In the other order, an index that survives would go on listing what was deleted, because a
    /// start does not look into the folders that the index knows.
    func delete(_ id: RecordingSession.ID, for reason: StoreEvent.Deletion) throws(RecordingFault) {
        guard RecordingLayout.isSafe(device: id.device), RecordingLayout.times.contains(id.start) else {
            throw .unknownSession
        }
        try requireFolder()
        let folder = layout.folder(of: id)
        guard !isOpen(id) else { throw .inProgress }
        guard claimForDeletion(id) else {
            guard !unindexedRecordings.contains(id) else { throw .refused(.isBeingIndexed) }
            // Somebody else is deleting it.
            throw .unknownSession
        }
        defer { releaseFromDeletion(id) }
        do throws(FileSystemFault) {
            let names = try namesIfPresent(in: folder)
            guard !names.isEmpty else {
                // Unless the disk has gone meanwhile, the recording has.
                if checkFolder() == nil { removeFromIndex([id]) }
                throw FileSystemFault(path: folder, operation: "opendir", code: ENOENT)
            }
            var byteCount: Int64 = 0
            for name in names where name.hasSuffix(".m4s") {
                byteCount += try fileSystem.status(of: "\(folder)/\(name)")?.size ?? 0
            }
            let indexed = try? index.recording(id)
            var isForgotten = true
            do throws(RecordingIndexFault) {
                try index.remove([id])
            } catch {
                // The room that the index lacks may be what the recording takes.
                isForgotten = false
                hasFailed(error)
            }
            do throws(FileSystemFault) {
                try bury(folder, reason)
            } catch {
                // All of it is still there.
                if let indexed { addToIndex([indexed]) }
                throw error
            }
            if !isForgotten { recordUnforgotten([id]) }
            counting.withLock { counters in
                counters.deletedRecordings += 1
                counters.deletedBytes += byteCount
            }
            report(.deleted(id, byteCount: byteCount, reason))
            hasDeleted(id)
            do throws(FileSystemFault) {
                try removeFiles(of: id)
            } catch {
                // The maintenance tries again.
                record(id, isIncomplete: true)
                throw error
            }
        } catch {
            if error.code == ENOENT, error.operation == "opendir" {
                try requireFolder()
                throw .unknownSession
            }
            throw RecordingFault(error)
        }
    }

    /// Puts the tombstone into a folder, or leaves the recording as it is.
    private func bury(_ folder: String, _ reason: StoreEvent.Deletion) throws(FileSystemFault) {
        let path = "\(folder)/\(RecordingLayout.tombstone)"
        let isNew = try fileSystem.status(of: path) == nil
        let isDescribed = try fileSystem.status(of: "\(folder)/\(RecordingLayout.sessionFile)") != nil
        do throws(FileSystemFault) {
            if isNew { try makeTombstone(path, in: folder, reason) }
            try fileSystem.synchronizeFolder(folder)
        } catch {
            if isNew { unbury(folder, isDescribed: isDescribed) }
            throw error
        }
        counting.withLock { counters in
            counters.fileSynchronizations += 1
            counters.folderSynchronizations += 1
        }
    }

    /// If the disk has no room for a new file, the session's description is turned into the tombstone.
    private func makeTombstone(
        _ path: String, in folder: String, _ reason: StoreEvent.Deletion
    ) throws(FileSystemFault) {
        let text = #"{"at":\#(now()),"reason":"\#(reason.rawValue)"}"# + "\n"
        do throws(FileSystemFault) {
            try fileSystem.writeNew(path, Array(text.utf8))
        } catch  where error.isFull {
            if try fileSystem.status(of: path) == nil {
                try fileSystem.rename("\(folder)/\(RecordingLayout.sessionFile)", to: path)
            }
        }
    }

    /// Takes back a tombstone that may not be on the disk: with it, nobody could read the recording, which stays.
    /// - Parameter isDescribed: whether the recording had its description.
    private func unbury(_ folder: String, isDescribed: Bool) {
        let path = "\(folder)/\(RecordingLayout.tombstone)"
        let names = namesOrNone(in: folder)
        guard names.contains(RecordingLayout.tombstone) else { return }
        do throws(FileSystemFault) {
            if isDescribed, !names.contains(RecordingLayout.sessionFile) {
                try fileSystem.rename(path, to: "\(folder)/\(RecordingLayout.sessionFile)")
            } else {
                try fileSystem.remove(path)
            }
            try fileSystem.synchronizeFolder(folder)
        } catch {
            // A disk that refuses this, too, keeps the tombstone. The next deletion goes on with it.
        }
    }

    /// Removes the files of a recording with a tombstone; the tombstone goes last.
    func removeFiles(of id: RecordingSession.ID) throws(FileSystemFault) {
        let folder = layout.folder(of: id)
        // If the names cannot be read, the tombstone stays.
        for name in try namesIfPresent(in: folder) where name != RecordingLayout.tombstone {
            try fileSystem.remove("\(folder)/\(name)")
        }
        try fileSystem.synchronizeFolder(folder)
        try fileSystem.remove("\(folder)/\(RecordingLayout.tombstone)")
        try fileSystem.removeFolder(folder)
        // The folder of the day goes with its last recording. One that is not empty stays.
        if let day = Self.parent(of: folder), namesOrNone(in: day).isEmpty {
            forgetFolder(day)
            try? fileSystem.removeFolder(day)
        }
    }
}
