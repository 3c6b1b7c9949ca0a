import Transport

/// What the index says of a recording whose files are gone.
struct UnforgottenRecording: Sendable {
    /// What it counts of the recording.
    var totals = RecordingTotals()
    /// When the recording begins and ends, in microseconds since 1970, UTC; nil where the index does not list it.
    var span: Range<Int64>?
}

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
            var gone = UnforgottenRecording()
            if let listed = (try? index.recording(id))?.summary {
                gone.totals = RecordingTotals(recordings: 1, byteCount: listed.byteCount)
                gone.span = listed.span
            }
            let recording = gone
            unforgotten.withLock { $0[id] = recording }
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
        for (id, recording) in gone {
            totals[id.device]?.recordings -= recording.totals.recordings
            totals[id.device]?.byteCount -= recording.totals.byteCount
        }
        return totals.filter { $0.value.recordings > 0 }
    }

    /// When the recordings of a device begin and end that the index lists, without those whose files are gone.
    func withoutUnforgotten(_ spans: [Range<Int64>], of device: String) -> [Range<Int64>] {
        let gone = unforgotten.withLock { $0 }
        // Two recordings may have the same times, and only one of them be gone.
        var counts: [Range<Int64>: Int] = [:]
        for (id, recording) in gone where id.device == device {
            if let span = recording.span { counts[span, default: 0] += 1 }
        }
        guard !counts.isEmpty else { return spans }
        return spans.filter { span in
            guard let count = counts[span], count > 0 else { return true }
            counts[span] = count - 1
            return false
        }
    }
}
