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
        /// How much there is of the segments that are uploaded while they grow, by attempt.
        var growth: [UInt64: GrowingFile] = [:]
    }

    /// All of the queue is stored again after this many records, so that the file stays short.
    private static let recordsBeforeRewriting = 20_000

    /// Stores what happened, and starts what is ready.
    /// - Returns: when there is something to do again at the latest.
    func pump() async -> Instant? {
        let now = BootClock.now
        let turn = state.withLock { state -> Turn in
            var turn = Turn()
            if !state.isStopping { turn.requests = state.queue.ready(at: now) }
            for case let request in turn.requests {
                guard case .growing = request.body, case .segment(let track, let number) = request.item else {
                    continue
                }
                let key = SegmentKey(session: request.session, track: track, number: number)
                turn.growth[request.attempt] = state.growing[key]?.file
            }
            turn.events = state.queue.takeEvents()
            turn.records = state.queue.takeRecords()
            state.storedCount += turn.records.count
            if state.mustStoreAll || state.storedCount > Self.recordsBeforeRewriting {
                turn.snapshot = state.queue.snapshot
                state.storedCount = 0
            }
            return turn
        }
        // The first object of a recording does not wait for the disk: nothing has to precede it.
        start(turn.requests.filter { !$0.needsDurableHistory }, turn.growth)
        await settle(turn)
        start(turn.requests.filter(\.needsDurableHistory), turn.growth)
        for event in turn.events {
            if case .cancel(let attempt) = event { state.withLock { $0.running[attempt] }?.cancel() }
            report(.queue(event))
        }
        return state.withLock { $0.queue.nextDeadline(after: now) }
    }

    /// Writes what this turn has to write, on the thread pool for files.
    private func settle(_ turn: Turn) async {
        let needsDisk = !turn.records.isEmpty || turn.snapshot != nil
        let isDurable = turn.requests.contains(where: \.needsDurableHistory)
        guard needsDisk || isDurable else { return }
        let failure: UploadStorageFailure?
        do {
            failure = try await NIOThreadPool.singleton.runIfActive { [folders, storage] in
                do throws(UploadStorageFailure) {
                    // The mark comes before the record, so that no recording is forgotten without being marked.
                    for case .completed(_, let folder, _) in turn.events { try folders.complete(folder) }
                    if let snapshot = turn.snapshot {
                        try storage.replace(with: snapshot)
                    } else {
                        try storage.append(turn.records, durably: isDurable)
                    }
                    return nil
                } catch {
                    return error
                }
            }
        } catch {
            // The pool ends with the process.
            return
        }
        let hadFailed = state.withLock { state in
            defer { state.mustStoreAll = failure != nil }
            return state.mustStoreAll
        }
        if let failure, !hadFailed { report(.storageFailed(failure)) }
        if failure == nil, hadFailed { report(.storageRecovered) }
    }

    private func start(_ requests: [UploadRequest], _ growth: [UInt64: GrowingFile]) {
        for request in requests {
            let growth = growth[request.attempt]
            state.withLock { state in
                // It cannot finish before it is among those that run: `finished` waits for this lock.
                let task = Task { await self.upload(request, growth) }
                state.running[request.attempt] = task
                if state.isStopping { task.cancel() }
            }
        }
    }

    private func upload(_ request: UploadRequest, _ growth: GrowingFile?) async {
        let outcome: UploadOutcome
        do {
            let client = try pool.client(for: request.destination.endpoint)
            let now = WallTime(millisecondsSince1970: WallClock.milliseconds)
            outcome = await client.put(request, folder: layout.root, growth: growth, now: now)
        } catch {
            outcome = .unreachable("\(error)")
        }
        finished(request.attempt, outcome)
    }
}
