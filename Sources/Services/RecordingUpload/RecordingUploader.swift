import DatagramPort
import Glibc
import NIOPosix
import PushAvStreamTransport
import Transport

/// Uploads recordings: follows what the local store writes, and sends it where each connection's settings say.
///
/// The queue (``UploadQueue``) decides; this does. Calls of the store change the queue and wake the task in ``run()``. Only
/// the begin of a recording waits for the disk, as it does in the store. What happened is stored before what follows from it begins.
public final class RecordingUploader: RecordingFollower {
    /// What is reported to the owner: the log, the event stream and the metrics.
    public enum Report: Sendable, Equatable {
        /// Something happened in the queue.
        case queue(UploadEvent)
        /// What was stored was damaged, or a description of an upload cannot be read. It was left where it is.
        case damaged(String)
        /// The queue cannot be stored at the moment. Uploads go on; after a restart some objects may be uploaded again.
        case storageFailed(UploadStorageFailure)
        /// The queue can be stored again.
        case storageRecovered
    }

    /// A segment that is being recorded.
    struct SegmentKey: Hashable, Sendable {
        var session: RecordingSession.ID
        var track: Int
        var number: UInt32
    }

    struct State: Sendable {
        var queue: UploadQueue
        /// The recordings that have begun since the start; nil once the queue is complete.
        var begun: Set<RecordingSession.ID>? = []
        /// The segments that grow: what is known of them, and who waits for more.
        var growing: [SegmentKey: (segment: UploadSegment, file: GrowingFile, captured: Instant?)] = [:]
        /// The attempts that run.
        var running: [UInt64: Task<Void, Never>] = [:]
        var isStopping = false
        /// Whether the queue could not be stored, so that all of it has to be stored again.
        var mustStoreAll = false
        /// Records since all of it was stored.
        var storedCount = 0
        /// The attempts that were given up before they began: those of a turn that still waits for the disk.
        var abandoned: Set<UInt64> = []
        /// What happened in the queue and no turn has taken yet.
        var news: [UploadEvent] = []
        /// Events that have not been reported yet: those of the queue that was stored.
        var unreported: [UploadEvent] = []
        /// The folders of recordings that are uploaded and could not be marked yet.
        var unmarked: [RecordingSession.ID: String] = [:]
        /// The connections whose uploads were ended before the queue was complete, by their devices.
        var ended: [String: Set<UInt16>] = [:]
        /// How often the disk has not taken a discard since it took the last one.
        var discardFailures = 0

        /// Whether that was reported.
        var wasFailing = false

        /// Whether something could not be stored.
        var isFailing: Bool { mustStoreAll || !unmarked.isEmpty || discardFailures > 0 }

        /// Takes what happened in the queue.
        /// - Returns: the attempts that run and that the queue has given up.
        mutating func takeNews() -> [Task<Void, Never>] {
            let events = queue.takeEvents()
            news += events
            // At once: until the mark, nobody else knows that they are complete.
            willMark(events)
            var givenUp: [Task<Void, Never>] = []
            for case .cancel(let attempt) in events {
                if let task = running[attempt] {
                    givenUp.append(task)
                } else {
                    abandoned.insert(attempt)
                }
            }
            return givenUp
        }

        /// The recordings that the queue has completed are to be marked.
        mutating func willMark(_ events: [UploadEvent]) {
            for case .completed(let id, let folder, _) in events { unmarked[id] = folder }
        }
    }

    let state: Locked<State>
    let layout: RecordingLayout
    let folders: UploadFolders
    let discards: DiscardKeeper
    let storage: any UploadQueueStorage
    let pool: UploadClients
    /// Why nothing of a connection may be uploaded at the moment; nil when it may.
    let reasonToHold: @Sendable (_ device: String, _ connection: UInt16) -> String?
    /// Until what could not be stored is stored again.
    let storageRetry: Duration
    /// Where a recording goes; nil when it is not uploaded.
    private let destination: @Sendable (RecordingSession) -> UploadDestination?
    let report: @Sendable (Report) -> Void
    /// Whether this gateway may upload for a device now.
    let mayUpload: @Sendable (_ device: String) -> Bool
    private let wakeUps: AsyncStream<Void>
    let wake: AsyncStream<Void>.Continuation

    /// Makes an uploader. ``resume(from:)`` and ``run()`` have to follow.
    /// - Parameters:
    ///   - layout: where recordings are.
    ///   - storage: where the queue is kept.
    ///   - limits: what the queue may use.
    ///   - deadlines: how long uploads may take.
    ///   - endpoint: an endpoint with its secrets.
    ///   - missing: says of an endpoint that there is not why.
    ///   - destination: where a recording goes, by its connection; nil when it stays here. It is called on the recorder's
    ///     thread, and must not wait.
    ///   - mayUpload: whether this gateway may upload for a device now; asked before each object.
    ///   - reasonToHold: why nothing of a connection may be uploaded now, in words for the owner; nil when it may. Asked
    ///     before each object. What is held waits in the queue.
    ///   - absence: why the folder of all recordings cannot be used now; nil when it can.
    public init(
        layout: RecordingLayout, storage: any UploadQueueStorage, limits: UploadLimits = UploadLimits(),
        deadlines: UploadDeadlines = UploadDeadlines(), endpoint: @escaping @Sendable (UInt16) -> UploadEndpoint?,
        missing: @escaping @Sendable (UInt16) -> String = { "the upload endpoint \($0) is no longer provisioned" },
        destination: @escaping @Sendable (RecordingSession) -> UploadDestination?,
        mayUpload: @escaping @Sendable (_ device: String) -> Bool = { _ in true },
        reasonToHold: @escaping @Sendable (_ device: String, _ connection: UInt16) -> String? = { _, _ in nil },
        absence: @escaping @Sendable () -> RecordingFolderProblem? = { nil },
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.layout = layout
        let folders = UploadFolders(root: layout.root, absence: absence)
        self.folders = folders
        discards = DiscardKeeper(folders)
        self.storage = storage
        pool = UploadClients(endpoint: endpoint, missing: missing, deadlines: deadlines)
        self.reasonToHold = reasonToHold
        storageRetry = deadlines.storage
        self.destination = destination
        self.mayUpload = mayUpload
        self.report = report
        // One pending wake-up stands for all.
        (wakeUps, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let stored = storage.load()
        if let damage = stored.damage { report(.damaged(damage)) }
        if let failure = stored.failure { report(.storageFailed(failure)) }
        var queue = UploadQueue(records: stored.records, limits: limits)
        // Before anything is uploaded.
        let corrections = Corrections(queue.allSessions, by: folders)
        for problem in corrections.problems.values { report(.damaged("\(problem)")) }
        corrections.apply(to: &queue)
        var state = State(queue: queue)
        // What an earlier run completed and could not mark must not be found as unfinished by ``resume(from:)``.
        state.unreported = state.queue.takeEvents()
        state.willMark(state.unreported)
        // It is stored as a whole as soon as the disk takes it.
        state.mustStoreAll = stored.failure != nil
        state.wasFailing = state.mustStoreAll
        self.state = Locked(state)
    }

    // MARK: - What the store reports

    public func wrote(_ output: RecordingOutput, of session: RecordingSession.ID, at place: RecordingPlace?) {
        switch output {
        case .began(let description): begin(description)
        case .chunk(let chunk): take(chunk, session)
        case .segmentEnded(let segment): finish(segment, session)
        case .ended: end(session)
        case .gap, .trigger: break
        }
    }

    public func holds(_ session: RecordingSession.ID) -> Bool { state.withLock { $0.queue.holds(session) } }

    public func deleted(_ session: RecordingSession.ID) {
        changeQueue { $0.queue.remove(session) }
    }

    private func begin(_ description: RecordingSession) {
        guard let destination = destination(description), destination.endpoint != 0 else { return }
        let upload = UploadSession(description, folder: folder(of: description.id), destination: destination)
        // The store has just waited for the disk in the same way. Without this a kill in the next moment would leave a
        // recording of which nobody knows that it was to be uploaded.
        do throws(UploadStorageFailure) {
            try folders.begin(upload)
        } catch {
            report(.storageFailed(error))
        }
        state.withLock { state in
            state.queue.open(upload)
            _ = state.begun?.insert(upload.id)
        }
        // The connection may have ended meanwhile, because its principal lost the right to the footage.
        if self.destination(description) == nil { changeQueue { $0.queue.endUpload(of: upload.id) } }
        wake.yield()
    }

    private func take(_ chunk: RecordedChunk, _ session: RecordingSession.ID) {
        let key = SegmentKey(session: session, track: chunk.track, number: chunk.segment)
        let isNews = state.withLock { state in
            guard state.queue.holds(session) else { return false }
            if state.growing[key] == nil {
                let segment = UploadSegment(
                    track: chunk.track, number: chunk.segment, decodeTime: chunk.decodeTime, duration: 0,
                    capturedAt: chunk.wallTime, byteCount: 0)
                state.growing[key] = (segment, GrowingFile(), chunk.captured)
            }
            guard var growing = state.growing[key] else { return false }
            growing.segment.byteCount += chunk.bytes.count
            growing.segment.duration = max(
                growing.segment.duration, chunk.decodeTime &+ chunk.duration &- growing.segment.decodeTime)
            state.growing[key] = growing
            state.queue.segmentGrew(growing.segment, in: session, captured: growing.captured)
            growing.file.grow(to: growing.segment.byteCount, isEnded: false)
            return true
        }
        if isNews { wake.yield() }
    }

    private func finish(_ ended: RecordedSegment, _ session: RecordingSession.ID) {
        let key = SegmentKey(session: session, track: ended.track, number: ended.segment)
        state.withLock { state in
            guard let growing = state.growing.removeValue(forKey: key) else { return }
            var segment = growing.segment
            segment.decodeTime = ended.decodeTime
            segment.duration = ended.duration
            state.queue.segmentEnded(segment, in: session, captured: growing.captured)
            growing.file.grow(to: segment.byteCount, isEnded: true)
        }
        wake.yield()
    }

    private func end(_ session: RecordingSession.ID) {
        state.withLock { state in
            // After a fault the recorder does not say that a segment is complete. What the store has of it is part of the
            // recording.
            for key in state.growing.keys.filter({ $0.session == session }) {
                guard let growing = state.growing.removeValue(forKey: key) else { continue }
                state.queue.segmentEnded(growing.segment, in: session, captured: growing.captured)
                growing.file.grow(to: growing.segment.byteCount, isEnded: true)
            }
            state.queue.end(session)
        }
        wake.yield()
    }

    private func folder(of id: RecordingSession.ID) -> String {
        String(layout.folder(of: id).dropFirst(layout.root.utf8.count + 1))
    }

    // MARK: - What the owner asks

    /// How the queue is doing.
    public var status: UploadStatus { state.withLock { $0.queue.status } }

    /// Whether footage waits for an endpoint, or for an address at it.
    public func holds(endpoint: UInt16, url: String? = nil) -> Bool {
        state.withLock { $0.queue.holds(endpoint: endpoint, url: url) }
    }

    /// Ends the uploads of some of a device's connections, because their principals may no longer have the footage. The
    /// recordings stay in the local store as if they were uploaded.
    public func endUploads(of connections: Set<UInt16>, on device: String) {
        changeQueue { state in
            state.queue.endUploads(of: connections, on: device)
            if state.begun != nil { state.ended[device, default: []].formUnion(connections) }
        }
    }

    /// Changes the queue. The attempts that it gives up end at once: the task in ``run()`` may be waiting for a disk that does
    /// not answer.
    func changeQueue<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
        let (result, givenUp) = state.withLock { state -> (Result, [Task<Void, Never>]) in
            let result = change(&state)
            return (result, state.takeNews())
        }
        for task in givenUp { task.cancel() }
        wake.yield()
        return result
    }

    /// Completes the queue after a restart: recordings that were interrupted get their last segments and their end, and
    /// recordings that a damaged queue does not know come back. The store must have recovered before. It is called again
    /// when the store has completed recordings that it could not complete before, or knows that they are deleted or damaged.
    public func resume(from store: some RecordingReading) {
        let (pending, problems) = folders.pending()
        for problem in problems { report(.damaged(problem)) }
        // The disk of the recordings may not have been there before.
        let corrections = Corrections(state.withLock { $0.queue.allSessions }, by: folders)
        for problem in corrections.problems.values { report(.damaged("\(problem)")) }
        changeQueue { corrections.apply(to: &$0.queue) }
        // Recordings that have begun since the start are not among them.
        let current = state.withLock { ($0.begun ?? []).union($0.unmarked.keys) }
        var known: [RecordingSession.ID: UploadSession] = [:]
        for session in pending + state.withLock({ $0.queue.openSessions }) where !current.contains(session.id) {
            known[session.id] = known[session.id] ?? session
        }
        var isIncomplete = false
        for session in known.values {
            let hasEnded = changeQueue { state in
                guard let connection = session.connection, state.ended[session.id.device]?.contains(connection) == true
                else { return false }
                // A damaged queue may not have known it.
                state.queue.open(session)
                state.queue.endUpload(of: session.id)
                return true
            }
            if hasEnded { continue }
            guard let recording = try? store.recording(session.id) else {
                // What cannot be read at the moment may hold more than the queue knows.
                if store.isUnavailable(session.id) {
                    isIncomplete = true
                    continue
                }
                // It was deleted, or is damaged. What is in the queue already is tried.
                state.withLock { $0.queue.end(session.id) }
                continue
            }
            // The disk may have had no room for its end.
            guard recording.end != nil else {
                isIncomplete = true
                continue
            }
            let discarded: Set<DiscardedSegment>
            do throws(UploadStorageFailure) {
                discarded = try folders.discarded(in: session.folder)
            } catch {
                report(.damaged("\(error)"))
                changeQueue { $0.queue.remove(session.id) }
                continue
            }
            state.withLock { state in
                state.queue.open(session)
                state.queue.exclude(discarded, from: session.id)
                for segment in recording.segments where segment.isComplete {
                    state.queue.segmentEnded(UploadSegment(segment), in: session.id)
                }
                state.queue.end(session.id)
            }
        }
        if !isIncomplete {
            state.withLock { state in
                state.begun = nil
                state.ended = [:]
            }
        }
        wake.yield()
    }

    // MARK: - Running

    /// Uploads until it is cancelled. Attempts that run then are ended; they are made again after the next start.
    public func run() async {
        await withTaskCancellationHandler {
            var iterator = wakeUps.makeAsyncIterator()
            repeat {
                let deadline = await pumpUndisturbed()
                let timer = deadline.map { deadline in
                    Task { [wake] in
                        let wait = deadline - MonotonicClock.now
                        if wait > .zero { try? await Task.sleep(for: wait) }
                        if !Task.isCancelled { wake.yield() }
                    }
                }
                defer { timer?.cancel() }
                guard await iterator.next() != nil else { break }
            } while !state.withLock({ $0.isStopping })
        } onCancel: {
            state.withLock { $0.isStopping = true }
            wake.finish()
        }
        let running = state.withLock { Array($0.running.values) }
        for task in running { task.cancel() }
        for task in running { await task.value }
        _ = await pumpUndisturbed()
        await pool.shutDown()
    }

    /// A turn that nobody breaks off: the thread pool for files does nothing for a task that is cancelled, and what happened
    /// last would not be stored.
    private func pumpUndisturbed() async -> Instant? { await Task { await pump() }.value }

    func finished(_ attempt: UInt64, _ outcome: UploadOutcome) {
        state.withLock { state in
            state.running[attempt] = nil
            // Nobody cancels it any more.
            state.abandoned.remove(attempt)
            state.queue.finished(attempt, outcome, at: MonotonicClock.now)
        }
        wake.yield()
    }
}
