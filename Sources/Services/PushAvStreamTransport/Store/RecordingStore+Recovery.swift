import Foundation
import Glibc
import Transport

/// What a recovery found.
public struct RecoveryReport: Equatable, Sendable {
    /// Recordings that were not in the index, and those among them that had no end.
    public var added = 0
    public var interrupted = 0
    /// Recordings in the index whose folders are gone.
    public var vanished = 0
    /// Deletions that were completed.
    public var deletions = 0
    /// The bytes of chunks that were not whole.
    public var cutBytes: Int64 = 0
    /// What cannot be used, and was left where it is.
    public var unreadable: [UnreadableRecording] = []

    /// Nothing was found.
    public init() {}
}

extension RecordingStore {
    /// Compares the folders with the index: completes deletions, gives recordings that were interrupted an end, and adds what
    /// the index does not know. It reads the names of all folders, and the files of unknown recordings only.
    ///
    /// It may run while sessions are recorded.
    @discardableResult
    public func recover() throws(RecordingFault) -> RecoveryReport {
        try requireFolder()
        var report = RecoveryReport()
        var known: Set<RecordingSession.ID> = []
        do throws(RecordingIndexFault) { known = try index.ids() } catch { hasFailed(error) }
        // Sessions that begin from here on are not in the list of folders, or are known to be open.
        var missing = known
        var batch: [IndexedRecording] = []
        do throws(FileSystemFault) {
            try forEachFolder { id, folder in
                if known.contains(id) {
                    missing.remove(id)
                    return
                }
                guard !openSessions.contains(id), !isBeingDeleted(id) else { return }
                guard let recording = recover(id, folder, &report) else { return }
                batch.append(IndexedRecording(recording))
                report.added += 1
                guard batch.count >= 256 else { return }
                addToIndex(batch)
                batch = []
            }
        } catch {
            throw RecordingFault(error)
        }
        if !batch.isEmpty { addToIndex(batch) }
        // A session that ended meanwhile was open when its folder was not looked for.
        missing = missing.filter { isGone(layout.folder(of: $0)) }
        if !missing.isEmpty {
            // If the disk has gone meanwhile, nothing is known about its folders.
            try requireFolder()
            report.vanished = missing.count
            removeFromIndex(Array(missing))
        }
        return report
    }

    /// Completes the recordings that the disk refused to read, to end or to remove before.
    func retryRecoveries(_ outcome: inout MaintenanceReport) {
        var report = RecoveryReport()
        for id in incompleteRecordings.sorted(by: RecordingSession.ID.isOrdered) where !isBeingDeleted(id) {
            if let recording = recover(id, layout.folder(of: id), &report) {
                addToIndex([IndexedRecording(recording)])
                outcome.recovered.append(id)
            } else if !incompleteRecordings.contains(id) {
                outcome.lost.append(id)
            }
        }
    }

    /// Adds the recordings that the index could not store: until then they are in no list, and no rule deletes them.
    func retryIndexing() {
        var report = RecoveryReport()
        // There may be many, when the index could not be used at the start.
        for id in unindexedRecordings.prefix(Self.mostIndexed) {
            // It must not be deleted before it is in the index, or the index would list a recording that is gone.
            guard claimForDeletion(id) else { continue }
            defer { releaseFromDeletion(id) }
            // A folder that cannot be read is not an empty one.
            guard (try? namesIfPresent(in: layout.folder(of: id))) != nil else { continue }
            guard let recording = recover(id, layout.folder(of: id), &report) else {
                forgetUnindexed(id)
                continue
            }
            // If the index fails for one recording, it fails for the others, too.
            guard addToIndex([IndexedRecording(recording)]) else { return }
        }
    }

    /// How many recordings one round of maintenance adds to the index.
    private static let mostIndexed = 1_000

    /// Calls `body` for each folder of a recording. Others are left alone.
    func forEachFolder(_ body: (RecordingSession.ID, String) -> Void) throws(FileSystemFault) {
        for device in try fileSystem.names(in: layout.root).sorted()
        where RecordingLayout.isSafe(device: device) {
            let deviceFolder = layout.folder(ofDevice: device)
            for day in namesOrNone(in: deviceFolder) {
                for name in namesOrNone(in: "\(deviceFolder)/\(day)") {
                    guard let id = RecordingLayout.id(device: device, day: day, name: name) else { continue }
                    body(id, "\(deviceFolder)/\(day)/\(name)")
                }
            }
        }
    }

    /// Whether there is nothing at a path. If the disk does not say so, there may be something.
    func isGone(_ path: String) -> Bool {
        do throws(FileSystemFault) { return try fileSystem.status(of: path) == nil } catch { return false }
    }

    /// The names in a folder. One that does not exist has none, and neither has a file in its place. One that cannot be
    /// read may have some.
    func namesIfPresent(in path: String) throws(FileSystemFault) -> [String] {
        do throws(FileSystemFault) {
            return try fileSystem.names(in: path).sorted()
        } catch {
            guard error.code == ENOENT || error.code == ENOTDIR else { throw error }
            return []
        }
    }

    /// The names in a folder. What is not a folder, or cannot be read, has none.
    func namesOrNone(in path: String) -> [String] {
        ((try? fileSystem.names(in: path)) ?? []).sorted()
    }

    // MARK: One recording

    private func recover(
        _ id: RecordingSession.ID, _ folder: String, _ report: inout RecoveryReport
    ) -> StoredRecording? {
        // What was reported once is tried again without a word.
        let isRepetition = incompleteRecordings.contains(id)
        record(id, isIncomplete: false)
        let names: Set<String>
        do throws(FileSystemFault) {
            names = Set(try namesIfPresent(in: folder))
        } catch {
            let unreadable = UnreadableRecording(path: folder, reason: .unreadable(error))
            postpone(id, unreadable, isRepetition: isRepetition, &report)
            return nil
        }
        if names.isEmpty, checkFolder() != nil {
            // The disk has gone meanwhile, and the recording has not.
            record(id, isIncomplete: true)
            return nil
        }
        if names.contains(RecordingLayout.tombstone) {
            if (try? removeFiles(of: id)) != nil {
                report.deletions += 1
            } else {
                record(id, isIncomplete: true)
            }
            return nil
        }
        if Self.hasNeverBegun(names) {
            removeBeginning(in: folder)
            return nil
        }
        do {
            var files = try RecordingFiles(id: id, layout: layout, fileSystem: fileSystem, names: names)
            report.unreadable += files.damage
            if !isRepetition { for one in files.damage { self.report(.unreadable(one)) } }
            if files.recording.end == nil {
                let cut = try files.end(at: now())
                report.cutBytes += cut
                report.interrupted += 1
                counting.withLock { counters in
                    counters.recoveredRecordings += 1
                    counters.cutBytes += cut
                }
                self.report(.recovered(id, cut: cut))
            }
            return files.recording
        } catch let error as UnreadableRecording {
            report.unreadable.append(error)
            self.report(.unreadable(error))
        } catch {
            let unreadable = UnreadableRecording(path: folder, reason: .failed("\(error)"))
            postpone(id, unreadable, isRepetition: isRepetition, &report)
        }
        return nil
    }

    /// Completes a recording of this run by what its folder holds, as a start does.
    /// - Returns: whether nothing is left to do.
    func complete(_ id: RecordingSession.ID, with end: RecordingEnd) -> Bool {
        let folder = layout.folder(of: id)
        do {
            let names = Set(try namesIfPresent(in: folder))
            // Unless the disk has gone meanwhile, somebody has removed the recording.
            guard !names.isEmpty else { return checkFolder() == nil }
            var files = try RecordingFiles(id: id, layout: layout, fileSystem: fileSystem, names: names)
            if files.recording.end == nil {
                let cut = try files.write(end)
                counting.withLock { $0.cutBytes += cut }
            } else {
                // It was written, and may not be on the disk.
                try fileSystem.open("\(folder)/\(RecordingLayout.journalFile)").synchronize()
            }
            // Only now: what the disk refuses is tried again without a word.
            for one in files.damage { self.report(.unreadable(one)) }
            addToIndex([IndexedRecording(files.recording)])
            return true
        } catch let error as UnreadableRecording {
            // The disk may read later what it refuses now. What is damaged stays so, and is left where it is.
            if case .unreadable = error.reason { return false }
            guard checkFolder() == nil else { return false }
            self.report(.unreadable(error))
            return true
        } catch {
            // The maintenance tries again.
            return false
        }
    }

    /// The file system refused: it may have room, or work, later. The maintenance tries again.
    private func postpone(
        _ id: RecordingSession.ID, _ unreadable: UnreadableRecording, isRepetition: Bool,
        _ report: inout RecoveryReport
    ) {
        record(id, isIncomplete: true)
        report.unreadable.append(unreadable)
        if !isRepetition { self.report(.unreadable(unreadable)) }
    }

    /// Removes what an unfinished beginning has left. What fails here is tried again at the next start.
    func removeBeginning(in folder: String) {
        for name in namesOrNone(in: folder) { try? fileSystem.remove("\(folder)/\(name)") }
        try? fileSystem.removeFolder(folder)
    }

    /// Whether a folder holds only what an unfinished beginning leaves. The journal is the last file that a beginning makes,
    /// so without it and without segments nothing was promised.
    static func hasNeverBegun(_ names: Set<String>) -> Bool {
        let known = [
            RecordingLayout.sessionFile, RecordingLayout.sessionFile + RecordingLayout.temporarySuffix,
            RecordingLayout.journalFile,
        ]
        guard names.allSatisfy({ known.contains($0) || $0.hasSuffix(".init") }) else { return false }
        return !names.contains(RecordingLayout.sessionFile) || !names.contains(RecordingLayout.journalFile)
    }
}
