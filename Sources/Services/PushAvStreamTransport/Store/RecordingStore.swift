import Glibc
import Transport

/// The local store: keeps what recorders produce in files, and gives it back.
///
/// - A chunk is on the disk (`fdatasync`) when ``take(_:of:)`` returns. So a kill of the process loses nothing that was
///   taken, and a power cut nothing either; of what was being written, one chunk of each track may be missing.
/// - The file system's journal groups the synchronizations of sessions that write at the same time.
/// - The files say everything. The index is a cache and may be removed at any time.
///
/// Each session has a lock of its own, which its recorder's thread holds while it waits for the disk. The store's own lock is
/// never held meanwhile.
public final class RecordingStore: RecordingSink {
    /// Where things are.
    public let layout: RecordingLayout
    let fileSystem: any RecordingFileSystem
    let index: any RecordingIndexing
    /// Says whether the folder of all recordings is there; nil where it always is.
    let folder: RecordingFolder?
    let isFolderAway = Locked(false)
    private let follower: (any RecordingFollower)?
    /// The wall clock, in milliseconds since 1970, UTC.
    let now: @Sendable () -> Int64
    let report: @Sendable (StoreEvent) -> Void
    private let state: Locked<State>
    let counting = Locked(StoreCounters())
    /// Recordings whose files are gone and that the index could not forget.
    let unforgotten = Locked<[RecordingSession.ID: UnforgottenRecording]>([:])

    private struct State: Sendable {
        var open: [RecordingSession.ID: Entry] = [:]
        var retention: RecordingRetention
        var condition = StoreCondition.ready
        /// Folders whose names are known to be on the disk.
        var folders: Set<String> = []
        /// Recordings that are being deleted.
        var deleting: Set<RecordingSession.ID> = []
        /// Recordings of an earlier run that could not be completed, for example because the disk was full.
        var incomplete: Set<RecordingSession.ID> = []
        /// Recordings that the index could not store.
        var unindexed: Set<RecordingSession.ID> = []
    }

    /// A recording that is being made, and an end that could not be written yet.
    final class Entry: Sendable {
        let recording: Locked<OpenRecording>
        let pendingEnd = Locked<RecordingEnd?>(nil)

        init(_ recording: OpenRecording) {
            self.recording = Locked(recording)
        }
    }

    /// Opens the store in a folder whose parent exists. ``recover()`` has to follow, before or while sessions begin.
    /// - Parameter folder: the same folder, if it may be on a disk that is missing. Its owner opens it, and the store
    ///   refuses everything while it is missing. Without it, the folder is made here.
    public init(
        root: String, folder: RecordingFolder? = nil, fileSystem: any RecordingFileSystem = SystemFileSystem(),
        index: any RecordingIndexing, retention: RecordingRetention = RecordingRetention(),
        follower: (any RecordingFollower)? = nil, now: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (StoreEvent) -> Void = { _ in }
    ) throws(RecordingFault) {
        self.layout = RecordingLayout(root: root)
        self.fileSystem = fileSystem
        self.index = index
        self.folder = folder
        self.follower = follower
        self.now = now
        self.report = report
        self.state = Locked(State(retention: retention))
        guard folder == nil else {
            checkFolder()
            return
        }
        do throws(FileSystemFault) {
            try fileSystem.makeFolder(root)
            if let parent = Self.parent(of: root) { try fileSystem.synchronizeFolder(parent) }
        } catch {
            throw RecordingFault(error)
        }
    }

    /// What the store has counted since its start.
    public var counters: StoreCounters { counting.withLock { $0 } }

    /// Whether the store can record.
    public var condition: StoreCondition { state.withLock { $0.condition } }

    /// How long recordings are kept. A change takes effect at the next ``maintain()``.
    public var retention: RecordingRetention {
        get { state.withLock { $0.retention } }
        set { state.withLock { $0.retention = newValue } }
    }

    // MARK: Recording

    public func take(_ output: RecordingOutput, of session: RecordingSession.ID) throws(RecordingFault) {
        switch output {
        case .began(let description):
            guard description.id == session else { throw .unknownSession }
            try begin(description)
            follower?.wrote(output, of: session, at: nil)
        case .chunk(let chunk):
            let place = try append(chunk, to: session)
            follower?.wrote(output, of: session, at: place)
        case .segmentEnded(let segment):
            try change(session) { recording throws(RecordingFault) in recording.end(segment) }
            follower?.wrote(output, of: session, at: nil)
        case .gap(let gap):
            try change(session) { recording throws(RecordingFault) in try recording.record(gap) }
            follower?.wrote(output, of: session, at: nil)
        case .trigger(let trigger):
            try change(session) { recording throws(RecordingFault) in try recording.record(trigger) }
            follower?.wrote(output, of: session, at: nil)
        case .ended(let end):
            try self.end(session, end)
        }
    }

    private func begin(_ session: RecordingSession) throws(RecordingFault) {
        if let problem = session.layoutProblem { throw .refused(.unusableSession(problem)) }
        try requireFolder()
        let size = session.tracks.reduce(Int64(64 << 10)) { $0 + Int64($1.initializationSegment.count) }
        try checkRoom(for: size)
        let entry = Entry(OpenRecording(session: session, layout: layout, fileSystem: fileSystem))
        // First known, then on the disk: a recovery that runs meanwhile leaves it alone.
        let isNew = state.withLock { state in
            guard state.open[session.id] == nil else { return false }
            state.open[session.id] = entry
            return true
        }
        guard isNew else { throw .refused(.hasBegun(folder: layout.folder(of: session.id))) }
        let folder = layout.folder(of: session.id)
        let isNewFolder = isGone(folder)
        do throws(FileSystemFault) {
            try makeFolder(of: session.id)
            let counters = try entry.recording.withLock { recording throws(FileSystemFault) in
                try recording.begin()
                return recording.takeCounters()
            }
            counting.withLock { all in
                all.add(counters)
                all.sessionsBegun += 1
            }
        } catch {
            // The next session tries again soon, and each would leave a folder.
            if isNewFolder { removeBeginning(in: folder) }
            self.state.withLock { $0.open[session.id] = nil }
            hasFailed(RecordingFault(error), chunk: false)
            throw RecordingFault(error)
        }
        hasRecovered()
    }

    private func append(
        _ chunk: RecordedChunk, to session: RecordingSession.ID
    ) throws(RecordingFault) -> RecordingPlace {
        guard let entry = self.entry(session) else { throw .unknownSession }
        do throws(RecordingFault) {
            try checkRoom(for: Int64(chunk.bytes.count))
            let (place, counters) = try entry.recording.withLock {
                recording throws(RecordingFault) -> (RecordingPlace, StoreCounters) in
                let place = try recording.append(chunk)
                return (place, recording.takeCounters())
            }
            counting.withLock { all in
                all.add(counters)
                all.chunks += 1
                all.chunkBytes += Int64(chunk.bytes.count)
            }
            return place
        } catch {
            hasFailed(error, chunk: true)
            throw error
        }
    }

    private func end(_ session: RecordingSession.ID, _ end: RecordingEnd) throws(RecordingFault) {
        guard let entry = self.entry(session) else { throw .unknownSession }
        entry.pendingEnd.withLock { $0 = $0 ?? end }
        try finish(session, entry)
        follower?.wrote(.ended(end), of: session, at: nil)
    }

    /// Writes the end of a session, adds it to the index and forgets it. Without room it stays until ``maintain()`` or the
    /// next start.
    private func finish(
        _ session: RecordingSession.ID, _ entry: Entry, isRepetition: Bool = false
    ) throws(RecordingFault) {
        guard let end = entry.pendingEnd.withLock({ $0 }) else { return }
        do throws(RecordingFault) {
            try change(session) { recording throws(RecordingFault) in
                if recording.recording.end == nil { try recording.end(end) }
            }
        } catch {
            if !isRepetition { hasFailed(error, chunk: false) }
            throw error
        }
        addToIndex([IndexedRecording(entry.recording.withLock { $0.snapshot })])
        forgetOpen(session)
    }

    private func forgetOpen(_ session: RecordingSession.ID) {
        state.withLock { $0.open[session] = nil }
        counting.withLock { $0.sessionsEnded += 1 }
    }

    private func change(
        _ session: RecordingSession.ID, _ body: (inout OpenRecording) throws(RecordingFault) -> Void
    ) throws(RecordingFault) {
        guard let entry = self.entry(session) else { throw .unknownSession }
        let counters = try entry.recording.withLock { recording throws(RecordingFault) in
            try body(&recording)
            return recording.takeCounters()
        }
        counting.withLock { $0.add(counters) }
    }

    // MARK: Folders

    private func makeFolder(of id: RecordingSession.ID) throws(FileSystemFault) {
        let device = layout.folder(ofDevice: id.device)
        let session = layout.folder(of: id)
        guard let day = Self.parent(of: session) else { return }
        if try fileSystem.status(of: session) != nil {
            throw FileSystemFault(path: session, operation: "mkdir", code: EEXIST)
        }
        // A deletion may remove the day's folder in between, when its last recording goes. Then it is made again.
        for attempt in 1...3 {
            do throws(FileSystemFault) {
                try makeLastingFolder(device, in: layout.root)
                try makeLastingFolder(day, in: device)
                try fileSystem.makeFolder(session)
                break
            } catch {
                guard error.code == ENOENT, attempt < 3 else { throw error }
                forgetFolder(day)
                forgetFolder(device)
            }
        }
        try fileSystem.synchronizeFolder(day)
        counting.withLock { $0.folderSynchronizations += 1 }
    }

    /// Makes a folder whose name is on the disk afterwards.
    private func makeLastingFolder(_ path: String, in parent: String) throws(FileSystemFault) {
        if self.state.withLock({ $0.folders.contains(path) }),
            try fileSystem.status(of: path)?.kind == .folder
        {
            return
        }
        try fileSystem.makeFolder(path)
        try fileSystem.synchronizeFolder(parent)
        counting.withLock { $0.folderSynchronizations += 1 }
        state.withLock { state in
            // A home has few devices, and a day is used for a day.
            if state.folders.count > 1_000 { state.folders = [] }
            _ = state.folders.insert(path)
        }
    }

    static func parent(of path: String) -> String? {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return nil }
        return String(path[..<slash])
    }

    // MARK: Open recordings

    func entry(_ session: RecordingSession.ID) -> Entry? { state.withLock { $0.open[session] } }

    /// The recordings that are being made, as they are on the disk.
    func openRecordings() -> [StoredRecording] {
        state.withLock { Array($0.open.values) }.map { $0.recording.withLock { $0.snapshot } }
    }

    var openSessions: Set<RecordingSession.ID> { state.withLock { Set($0.open.keys) } }

    /// Writes the ends for which there was no room, or no disk.
    func retryEnds() {
        for (session, entry) in state.withLock({ $0.open }) {
            guard let end = entry.pendingEnd.withLock({ $0 }) else { continue }
            do throws(RecordingFault) {
                try finish(session, entry, isRepetition: true)
            } catch {
                // Files that were open while the disk was away stay unusable when it is back.
                guard case .storage = error, complete(session, with: end) else {
                    hasFailed(error, chunk: false)
                    continue
                }
                forgetOpen(session)
            }
            follower?.wrote(.ended(end), of: session, at: nil)
        }
    }

    // MARK: What other parts of the store need

    /// How long recordings are kept, and whether the store can record, at the same moment.
    var retentionAndCondition: (RecordingRetention, StoreCondition) { state.withLock { ($0.retention, $0.condition) } }

    func set(_ condition: StoreCondition) {
        let isChange = state.withLock { state in
            defer { state.condition = condition }
            return switch (state.condition, condition) {
            case (.ready, .ready), (.full, .full), (.failing, .failing): false
            default: true
            }
        }
        if isChange { report(.condition(condition)) }
    }

    /// The recordings that could not be completed.
    var incompleteRecordings: Set<RecordingSession.ID> { state.withLock { $0.incomplete } }

    /// Remembers whether a recording of an earlier run is still to be completed.
    func record(_ id: RecordingSession.ID, isIncomplete: Bool) {
        state.withLock { state in
            guard isIncomplete else {
                state.incomplete.remove(id)
                return
            }
            state.incomplete.insert(id)
        }
    }

    /// Whether a session is being recorded.
    func isOpen(_ id: RecordingSession.ID) -> Bool { state.withLock { $0.open[id] != nil } }

    /// Claims a recording for its deletion; false when it is being recorded or deleted.
    func claimForDeletion(_ id: RecordingSession.ID) -> Bool {
        state.withLock { state in
            guard state.open[id] == nil else { return false }
            return state.deleting.insert(id).inserted
        }
    }

    func isBeingDeleted(_ id: RecordingSession.ID) -> Bool { state.withLock { $0.deleting.contains(id) } }

    func releaseFromDeletion(_ id: RecordingSession.ID) {
        state.withLock { _ = $0.deleting.remove(id) }
    }

    /// A folder is gone, so its name has to be made and synchronized again.
    func forgetFolder(_ path: String) {
        state.withLock { _ = $0.folders.remove(path) }
    }

    func isHeld(_ id: RecordingSession.ID) -> Bool { follower?.holds(id) ?? false }

    func hasDeleted(_ id: RecordingSession.ID) { follower?.deleted(id) }

    /// Recordings that the index could not store, the oldest first.
    var unindexedRecordings: [RecordingSession.ID] {
        state.withLock { $0.unindexed }.sorted(by: RecordingSession.ID.isOrdered)
    }

    /// Adds recordings to the index. The files decide, so a fault is only reported, and ``maintain()`` tries again.
    /// - Returns: whether they are in the index.
    @discardableResult
    func addToIndex(_ recordings: [IndexedRecording]) -> Bool {
        let ids = recordings.map(\.summary.id)
        do throws(RecordingIndexFault) {
            try index.add(recordings)
        } catch {
            state.withLock { $0.unindexed.formUnion(ids) }
            hasFailed(error)
            return false
        }
        state.withLock { $0.unindexed.subtract(ids) }
        return true
    }

    /// Forgets a recording of which nothing is left to index.
    func forgetUnindexed(_ id: RecordingSession.ID) {
        state.withLock { _ = $0.unindexed.remove(id) }
    }

    func hasFailed(_ fault: RecordingIndexFault) {
        counting.withLock { $0.indexFaults += 1 }
        report(.indexFault(fault))
    }
}

extension OpenRecording {
    /// What was counted since the last time.
    fileprivate mutating func takeCounters() -> StoreCounters {
        defer { counters = StoreCounters() }
        return counters
    }
}

extension StoreCounters {
    /// Adds what writing counts.
    mutating func add(_ other: StoreCounters) {
        metadataBytes += other.metadataBytes
        fileSynchronizations += other.fileSynchronizations
        folderSynchronizations += other.folderSynchronizations
    }
}
