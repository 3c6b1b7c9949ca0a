import Transport

/// Recordings whose files are gone while the index cannot be written: it lists them for a while, and the store leaves them
/// out.
extension RecordingStore {
    /// Removes recordings from the index whose files are gone.
    func removeFromIndex(_ ids: [RecordingSession.ID]) {
        do throws(RecordingIndexFault) {
            try index.remove(ids)
        } catch {
            hasFailed(error)
            recordUnforgotten(ids)
        }
    }

    /// The files of these recordings are gone, and the index still lists them.
    func recordUnforgotten(_ ids: [RecordingSession.ID]) {
        for id in ids {
            let listed = try? index.recording(id)
            let totals = listed.map { RecordingTotals(recordings: 1, byteCount: $0.summary.byteCount) }
            unforgotten.withLock { $0[id] = totals ?? RecordingTotals() }
        }
    }

    /// Removes from the index what it could not forget before.
    func retryForgetting() {
        let ids = unforgotten.withLock { Array($0.keys) }
        guard !ids.isEmpty else { return }
        do throws(RecordingIndexFault) {
            try index.remove(ids)
        } catch {
            return hasFailed(error)
        }
        unforgotten.withLock { unforgotten in for id in ids { unforgotten[id] = nil } }
    }

    /// What the index lists, without the recordings whose files are gone.
    func withoutUnforgotten(_ summaries: [RecordingSummary]) -> [RecordingSummary] {
        let gone = unforgotten.withLock { $0 }
        return gone.isEmpty ? summaries : summaries.filter { gone[$0.id] == nil }
    }

    /// What the index counts, without the recordings whose files are gone.
    func withoutUnforgotten(_ totals: [String: RecordingTotals]) -> [String: RecordingTotals] {
        let gone = unforgotten.withLock { $0 }
        guard !gone.isEmpty else { return totals }
        var totals = totals
        for (id, counted) in gone {
            totals[id.device]?.recordings -= counted.recordings
            totals[id.device]?.byteCount -= counted.byteCount
        }
        return totals.filter { $0.value.recordings > 0 }
    }
}
