import Glibc

/// A recording that is being made: its open files, and what is on the disk of it.
///
/// It is a value behind the lock of ``OpenRecordings``' entry. Each output is on the disk when its method returns; a method
/// that throws leaves the files as they were, as far as the file system allows, and the recording takes no more chunks.
struct OpenRecording: Sendable {
    /// A segment that is being written.
    private struct Running: Sendable {
        var file: any RecordingFile
        var path: String
        var segment: StoredSegment
    }

    /// What is on the disk.
    private(set) var recording: StoredRecording
    private let folder: String
    private let fileSystem: any RecordingFileSystem
    private var journal: (any RecordingFile)?
    private var journalLength: Int64 = 0
    /// The running segment of each track.
    private var running: [Int: Running] = [:]
    /// The number of the newest segment of each track.
    private var newest: [Int: UInt32] = [:]
    /// Why nothing more is taken.
    private(set) var fault: RecordingFault?
    /// What was written since the counters were last taken.
    var counters = StoreCounters()

    /// Describes a session whose files do not exist yet.
    init(session: RecordingSession, layout: RecordingLayout, fileSystem: any RecordingFileSystem) {
        self.recording = StoredRecording(
            session: session, segments: [], gaps: [], triggers: [], end: nil, layout: layout)
        self.folder = layout.folder(of: session.id)
        self.fileSystem = fileSystem
    }

    /// The finished and the running segments, ordered by track and number.
    var snapshot: StoredRecording {
        var snapshot = recording
        snapshot.segments += running.values.map(\.segment)
        snapshot.segments.sort { ($0.track, $0.number) < ($1.track, $1.number) }
        return snapshot
    }

    // MARK: The beginning

    /// Makes the files of the session in its folder, which exists and is empty. `session.json` comes first: a folder
    /// without one holds nothing that was promised.
    mutating func begin() throws(FileSystemFault) {
        let description = SessionFile.encode(recording.session)
        let path = "\(folder)/\(RecordingLayout.sessionFile)"
        let temporary = path + RecordingLayout.temporarySuffix
        try fileSystem.writeNew(temporary, description)
        try fileSystem.rename(temporary, to: path)
        try synchronizeFolder()
        counters.fileSynchronizations += 1
        counters.metadataBytes += Int64(description.count)
        for track in recording.session.tracks {
            let bytes = [UInt8](track.initializationSegment)
            try fileSystem.writeNew(
                recording.layout.initializationSegment(of: track.name, in: recording.session.id), bytes)
            counters.fileSynchronizations += 1
            counters.metadataBytes += Int64(bytes.count)
        }
        // The journal comes last: where it is, all of the others are.
        try synchronizeFolder()
        journal = try fileSystem.create(journalPath)
        try synchronizeFolder()
    }

    // MARK: Segments

    /// Appends a chunk. Returns where it is.
    mutating func append(_ chunk: RecordedChunk) throws(RecordingFault) -> RecordingPlace {
        if let fault = self.fault { throw fault }
        guard recording.end == nil, recording.session.tracks.indices.contains(chunk.track) else {
            throw .unknownSession
        }
        do throws(FileSystemFault) {
            if let running = self.running[chunk.track], running.segment.number == chunk.segment, !chunk.beginsSegment {
                return try extend(running, with: chunk)
            }
            return try beginSegment(with: chunk)
        } catch {
            let fault = RecordingFault(error)
            self.fault = fault
            throw fault
        }
    }

    private mutating func extend(
        _ running: Running, with chunk: RecordedChunk
    ) throws(FileSystemFault) -> RecordingPlace {
        var running = running
        let offset = running.segment.byteCount
        do throws(FileSystemFault) {
            try running.file.writeAll(chunk.bytes, at: offset, path: running.path)
            try running.file.synchronize()
        } catch {
            // What was written of the chunk goes again. If this fails as well, the next start does it.
            try? running.file.truncate(to: offset)
            throw error
        }
        counters.fileSynchronizations += 1
        running.segment.byteCount += Int64(chunk.bytes.count)
        running.segment.duration = max(
            running.segment.duration, chunk.decodeTime &+ chunk.duration &- running.segment.decodeTime)
        self.running[chunk.track] = running
        return RecordingPlace(path: running.path, offset: offset, length: Int64(chunk.bytes.count))
    }

    private mutating func beginSegment(with chunk: RecordedChunk) throws(FileSystemFault) -> RecordingPlace {
        if let previous = running[chunk.track] { finish(previous) }
        let path = self.path(chunk.track, chunk.segment)
        guard chunk.segment > newest[chunk.track] ?? 0 else {
            throw FileSystemFault(path: path, operation: "create", code: EEXIST)
        }
        let file = try fileSystem.create(path)
        do throws(FileSystemFault) {
            try file.writeAll(chunk.bytes, at: 0, path: path)
            try file.synchronize()
            try synchronizeFolder()
        } catch {
            try? fileSystem.remove(path)
            throw error
        }
        counters.fileSynchronizations += 1
        newest[chunk.track] = chunk.segment
        running[chunk.track] = Running(
            file: file, path: path,
            segment: StoredSegment(
                track: chunk.track, number: chunk.segment, decodeTime: chunk.decodeTime, duration: chunk.duration,
                wallTime: chunk.wallTime, byteCount: Int64(chunk.bytes.count), isComplete: false))
        return RecordingPlace(path: path, offset: 0, length: Int64(chunk.bytes.count))
    }

    /// A segment is complete. Its line in the journal is not synchronized: the segment itself says the same.
    mutating func end(_ segment: RecordedSegment) {
        guard var running = self.running[segment.track], running.segment.number == segment.segment else { return }
        running.segment.duration = max(running.segment.duration, segment.duration)
        finish(running)
    }

    private mutating func finish(_ running: Running) {
        var segment = running.segment
        segment.isComplete = true
        self.running[segment.track] = nil
        recording.segments.append(segment)
        // Without its line the segment is read box by box at the next start.
        _ = try? write(JournalLine(segment: segment))
    }

    // MARK: The journal

    /// Records a gap.
    mutating func record(_ gap: RecordingGap) throws(RecordingFault) {
        try writeDurably(JournalLine(gap: gap))
        recording.gaps.append(gap)
    }

    /// Records a later trigger.
    mutating func record(_ trigger: RecordingSession.Trigger) throws(RecordingFault) {
        try writeDurably(JournalLine(trigger: trigger))
        recording.triggers.append(trigger)
    }

    /// Ends the session. After a fault it may be called again.
    mutating func end(_ end: RecordingEnd) throws(RecordingFault) {
        for running in self.running.values.sorted(by: { $0.segment.track < $1.segment.track }) { finish(running) }
        try writeDurably(JournalLine(end: end))
        recording.end = end
        journal = nil
    }

    private mutating func writeDurably(_ line: JournalLine) throws(RecordingFault) {
        guard recording.end == nil else { throw .unknownSession }
        do throws(FileSystemFault) {
            try write(line)
            try journal?.synchronize()
        } catch {
            throw RecordingFault(error)
        }
        counters.fileSynchronizations += 1
    }

    private mutating func write(_ line: JournalLine) throws(FileSystemFault) {
        guard let journal = self.journal else {
            throw FileSystemFault(path: journalPath, operation: "write", code: EBADF)
        }
        let bytes = RecordingJournal.encode(line)
        do throws(FileSystemFault) {
            try journal.writeAll(bytes, at: journalLength, path: journalPath)
        } catch {
            try? journal.truncate(to: journalLength)
            throw error
        }
        journalLength += Int64(bytes.count)
        counters.metadataBytes += Int64(bytes.count)
    }

    // MARK: Paths

    private var journalPath: String { "\(folder)/\(RecordingLayout.journalFile)" }

    private func path(_ track: Int, _ segment: UInt32) -> String {
        recording.layout.segment(
            segment, of: recording.session.tracks[track].name, in: recording.session.id)
    }

    private mutating func synchronizeFolder() throws(FileSystemFault) {
        try fileSystem.synchronizeFolder(folder)
        counters.folderSynchronizations += 1
    }
}
