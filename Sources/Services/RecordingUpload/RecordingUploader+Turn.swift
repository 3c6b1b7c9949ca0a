import DatagramPort
import NIOPosix
import PushAvStreamTransport
import Transport

extension RecordingUploader {
    /// What one turn has to do, in this order.
    private struct Turn: Sendable {
        var events: [UploadEvent] = []
        var records: [UploadRecord] = []
        var requests: [UploadRequest] = []
        var snapshot: [UploadRecord]?
        /// The folders of the recordings that are to be marked as uploaded.
        var unmarked: [RecordingSession.ID: String] = [:]
        /// How often the disk has not taken a discard.
        var discardFailures = 0
        /// How much there is of the segments that are uploaded while they grow, by attempt.
        var growth: [UInt64: GrowingFile] = [:]
    }

    /// All of the queue is stored again after this many records, so that the file stays short.
    private static let recordsBeforeRewriting = 20_000

    /// Stores what happened, and starts what is ready.
    /// - Returns: when there is something to do again at the latest.
    func pump() async -> Instant? {
        let now = MonotonicClock.now
        let (turn, givenUp) = state.withLock { state -> (Turn, [Task<Void, Never>]) in
            var turn = Turn()
            if !state.isStopping { turn.requests = state.queue.ready(at: now) }
            for case let request in turn.requests {
                guard case .growing = request.body, case .segment(let track, let number) = request.item else {
                    continue
                }
                let key = SegmentKey(session: request.session, track: track, number: number)
                turn.growth[request.attempt] = state.growing[key]?.file
            }
            let givenUp = state.takeNews()
            turn.events = state.unreported + state.news
            state.unreported = []
            state.news = []
            turn.unmarked = state.unmarked
            turn.discardFailures = state.discardFailures
            turn.records = state.queue.takeRecords()
            state.storedCount += turn.records.count
            if state.mustStoreAll || state.storedCount > Self.recordsBeforeRewriting {
                turn.snapshot = state.queue.snapshot
                state.storedCount = 0
            }
            return (turn, givenUp)
        }
        for task in givenUp { task.cancel() }
        // The first object of a recording does not wait for the disk: nothing has to precede it.
        start(turn.requests.filter { !$0.needsDurableHistory }, turn.growth)
        await settle(turn)
        start(turn.requests.filter(\.needsDurableHistory), turn.growth)
        for event in turn.events { report(.queue(event)) }
        return state.withLock { [storageRetry] state in
            let next = state.queue.nextDeadline(after: now)
            return state.isFailing ? min(next ?? .distantFuture, now + storageRetry) : next
        }
    }

    /// What storing came to.
    private struct Stored: Sendable {
        var marked: [RecordingSession.ID] = []
        var markFailure: UploadStorageFailure?
        var queueFailure: UploadStorageFailure?
        var discardFailure: UploadStorageFailure?
    }

    /// Writes what this turn has to write, on the thread pool for files.
    private func settle(_ turn: Turn) async {
        let needsDisk =
            !turn.records.isEmpty || turn.snapshot != nil || !turn.unmarked.isEmpty || turn.discardFailures > 0
        let isDurable = turn.requests.contains(where: \.needsDurableHistory)
        guard needsDisk || isDurable else { return }
        let stored: Stored
        do {
            // A task of its own, because the pool does nothing for one that is cancelled. The last turn comes after that.
            stored = try await Task { [folders, discards, storage] in
                try await NIOThreadPool.singleton.runIfActive {
                    var stored = Self.store(turn, durably: isDurable, folders, storage)
                    if turn.discardFailures > 0 { stored.discardFailure = discards.keep() }
                    return stored
                }
            }.value
        } catch {
            // The pool ends with the process.
            return
        }
        let (hadFailed, isFailing) = state.withLock { state in
            let hadFailed = state.wasFailing
            for id in stored.marked { state.unmarked[id] = nil }
            state.mustStoreAll = stored.queueFailure != nil
            // One that has failed meanwhile still waits.
            if stored.discardFailure == nil, state.discardFailures == turn.discardFailures {
                state.discardFailures = 0
            }
            // What was completed meanwhile waits for the next turn, and has not failed.
            let isFailing =
                state.mustStoreAll || state.discardFailures > 0
                || turn.unmarked.keys.contains { state.unmarked[$0] != nil }
            state.wasFailing = isFailing
            return (hadFailed, isFailing)
        }
        if !hadFailed, let failure = stored.queueFailure ?? stored.markFailure ?? stored.discardFailure {
            report(.storageFailed(failure))
        }
        if hadFailed, !isFailing { report(.storageRecovered) }
    }

    /// Marks what is uploaded, and stores the queue. The mark comes before the record, so that no recording is forgotten
    /// without being marked: a recording without its mark stays in the queue's file, and would be sent again otherwise.
    private static func store(
        _ turn: Turn, durably: Bool, _ folders: UploadFolders, _ storage: any UploadQueueStorage
    ) -> Stored {
        var stored = Stored()
        for (id, folder) in turn.unmarked {
            do throws(UploadStorageFailure) {
                try folders.complete(folder)
                stored.marked.append(id)
            } catch {
                stored.markFailure = error
            }
        }
        let missing = turn.unmarked.filter { !stored.marked.contains($0.key) }
        do throws(UploadStorageFailure) {
            if let snapshot = turn.snapshot {
                try storage.replace(with: snapshot + missing.flatMap { completed($0.key, folder: $0.value) })
            } else {
                let closed = turn.records.compactMap { if case .closed(let id) = $0 { id } else { nil } }
                let records = turn.records.filter {
                    if case .closed(let id) = $0 { missing[id] == nil } else { true }
                }
                // What is marked late still has its records.
                let late = stored.marked.filter { !closed.contains($0) }
                try storage.append(records + late.map { .closed($0) }, durably: durably)
            }
        } catch {
            stored.queueFailure = error
        }
        return stored
    }

    /// The shortest records of a recording that is uploaded: it has nothing left, so the next start only marks it.
    private static func completed(_ id: RecordingSession.ID, folder: String) -> [UploadRecord] {
        let session = RecordingSession(
            id: id, connection: 0, number: 0, trigger: .init(kind: .command, reason: ""), triggeredAt: id.start,
            tracks: [])
        let destination = UploadDestination(endpoint: .max, url: "", interface: .interface1)
        return [.opened(UploadSession(session, folder: folder, destination: destination)), .ended(id)]
    }

    /// Begins attempts. One that the queue has given up meanwhile ends without having begun.
    func start(_ requests: [UploadRequest], _ growth: [UInt64: GrowingFile]) {
        for request in requests {
            let growth = growth[request.attempt]
            let isAbandoned = state.withLock { state -> Bool in
                if state.abandoned.remove(request.attempt) != nil { return true }
                // It cannot finish before it is among those that run: `finished` waits for this lock.
                let task = Task { await self.upload(request, growth) }
                state.running[request.attempt] = task
                if state.isStopping { task.cancel() }
                return false
            }
            if isAbandoned { finished(request.attempt, .cancelled) }
        }
    }

    private func upload(_ request: UploadRequest, _ growth: GrowingFile?) async {
        guard mayUpload(request.session.device) else {
            return finished(request.attempt, .held("another gateway of the home runs the camera"))
        }
        // A recording of an earlier version has no connection, but waits for its disk, too. No connection has the
        // number 0.
        let connection = state.withLock { $0.queue.connection(of: request.session) } ?? 0
        if let obstacle = await obstacle(to: connection, on: request.session.device) {
            return finished(request.attempt, obstacle)
        }
        var outcome: UploadOutcome
        do {
            let client = try pool.client(for: request.destination.endpoint)
            let now = WallTime(millisecondsSince1970: WallClock.milliseconds)
            outcome = await client.put(request, folder: layout.root, growth: growth, now: now)
        } catch {
            // The endpoint does not exist, or its certificates cannot be used.
            outcome = .held("\(error)")
        }
        // The disk may have gone while the connection was made: then the segment is not missing, but away.
        if outcome == .sourceMissing, let obstacle = await obstacle(to: connection, on: request.session.device) {
            outcome = obstacle
        }
        finished(request.attempt, outcome)
    }

    /// What keeps a connection from uploading now; nil when nothing does. A disk that does not answer keeps a thread for
    /// files waiting, and none of those that run the tasks of the process.
    private func obstacle(to connection: UInt16, on device: String) async -> UploadOutcome? {
        do {
            let reason = try await NIOThreadPool.singleton.runIfActive { [reasonToHold] in
                reasonToHold(device, connection)
            }
            return reason.map { .held($0) }
        } catch {
            // The attempt was given up, or the process ends.
            return .cancelled
        }
    }
}
