import Transport

/// What a round of maintenance did.
public struct MaintenanceReport: Equatable, Sendable {
    /// The recordings that were deleted.
    public var deleted: [RecordingSession.ID] = []
    /// The bytes of recordings that should go but still have to be uploaded.
    public var heldBytes: Int64 = 0
    /// The recordings of an earlier run that could not be completed before.
    public var recovered: [RecordingSession.ID] = []
    /// The recordings that the disk refused to read or to remove before, and of which there is nothing to complete: they
    /// were deleted, or are damaged.
    public var lost: [RecordingSession.ID] = []

    /// Nothing was done.
    public init() {}
}

extension RecordingStore {
    /// Deletes what the retention says, writes ends for which there was no room, also those of an earlier run, adds the
    /// recordings that the index could not store, removes those that it could not forget, and checks whether recording may
    /// resume. The owner calls it every few seconds, from a thread that may wait.
    /// - Parameter time: the time by which recordings grow old (``RetentionClock``), in milliseconds since 1970, UTC; nil
    ///   for the wall clock.
    @discardableResult
    public func maintain(at time: Int64? = nil) -> MaintenanceReport {
        var report = MaintenanceReport()
        guard checkFolder() == nil else { return report }
        retryForgetting()
        // The index's faults are reported where they happen; the next round tries again.
        try? deleteWhatIsDue(at: time ?? now(), &report)
        retryEnds()
        retryIndexing()
        retryRecoveries(&report)
        updateCondition()
        return report
    }

    /// Deletes in batches, until nothing is due or nothing more can be deleted.
    private func deleteWhatIsDue(at now: Int64, _ report: inout MaintenanceReport) throws(RecordingFault) {
        let retention = self.retention
        var limit = 64
        // Many file systems free the room of a file some time after it was removed, and none does while somebody reads it.
        // So what this round has deleted counts as free. Otherwise the round would end with the last recording.
        var expectedFree: Int64 = 0
        while true {
            let totals = try self.totals()
            let free = max((try? fileSystem.space(at: layout.root).free) ?? .max, expectedFree)
            expectedFree = free
            let candidates = try self.candidates(retention, now: now, free: free, totals: totals, limit: limit)
            let plan = RetentionPlan(
                retention, now: now, free: free, bytes: totals.mapValues(\.byteCount), candidates: candidates,
                isHeld: isHeld)
            report.heldBytes = plan.heldBytes
            let before = report.deleted.count
            for (candidate, reason) in plan.deletions {
                // One that cannot be deleted now is tried again in the next round.
                guard (try? delete(candidate.id, for: reason)) != nil else { continue }
                report.deleted.append(candidate.id)
                expectedFree = RetentionPlan.room(expectedFree, with: candidate.byteCount)
            }
            if report.deleted.count == before {
                // The oldest are held, perhaps. Behind them may be some that are not.
                guard candidates.count >= limit, limit < 1 << 20 else { return }
                limit *= 8
            }
        }
    }

    /// The oldest recordings of those devices that have too much or too old ones, and of all devices if all together have.
    private func candidates(
        _ retention: RecordingRetention, now: Int64, free: Int64, totals: [String: RecordingTotals], limit: Int
    ) throws(RecordingFault) -> [RetentionPlan.Candidate] {
        var queries: [RecordingQuery] = []
        // Those whose files are gone are listed as well, and do not count.
        let listed = limit + unforgotten.withLock { $0.count }
        if free < retention.headroom
            || totals.values.reduce(0, { $0 + $1.byteCount }) > retention.maximumBytes ?? .max
        {
            queries.append(RecordingQuery(limit: listed))
        }
        for (device, total) in totals {
            let share = retention.devices[device] ?? retention.standard
            let isOld = share.maximumAge.map { age in (total.oldest ?? now) < now - age } ?? false
            guard isOld || total.byteCount > share.maximumBytes ?? .max else { continue }
            queries.append(RecordingQuery(device: device, limit: listed))
        }
        var found: [RecordingSession.ID: RetentionPlan.Candidate] = [:]
        for query in queries {
            let summaries = try asking { index throws(RecordingIndexFault) in try index.recordings(query) }
            for summary in withoutUnforgotten(summaries) {
                found[summary.id] = RetentionPlan.Candidate(
                    id: summary.id, end: (summary.end?.at ?? summary.until) / 1_000, byteCount: summary.byteCount)
            }
        }
        return found.values.sorted { RecordingSession.ID.isOrdered($0.id, $1.id) }
    }
}
