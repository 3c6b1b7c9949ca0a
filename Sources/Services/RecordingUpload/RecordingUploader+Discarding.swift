import PushAvStreamTransport
import Transport

/// Footage that a privacy switch discards is never uploaded, whatever becomes of the queue.
extension RecordingUploader {
    /// Discards footage of a device that was captured at or after a moment of the monotonic clock: a privacy switch was
    /// set.
    ///
    /// It waits for the disk: when it returns, the discard survives the loss of the queue. A disk that does not take it is
    /// reported and tried again. Until then only the queue knows of it.
    /// - Parameter spared: the connections to which the switch does not apply.
    public func discard(device: String, sparing spared: Set<UInt16> = [], capturedFrom moment: Instant) {
        // What is on its way ends before the disk has answered.
        let discarded = changeQueue { $0.queue.discard(device: device, sparing: spared, capturedFrom: moment) }
        guard !discarded.isEmpty, let failure = discards.keep(discarded) else { return }
        let isNews = state.withLock { state -> Bool in
            state.discardFailures += 1
            defer { state.wasFailing = true }
            return !state.wasFailing
        }
        if isNews { report(.storageFailed(failure)) }
        // It is tried again after a while.
        wake.yield()
    }

    /// What the folders of recordings say of their uploads.
    struct Corrections {
        var complete: [RecordingSession.ID] = []
        var discarded: [RecordingSession.ID: Set<DiscardedSegment>] = [:]
        /// What cannot be read. Nothing of such a recording is uploaded.
        var problems: [RecordingSession.ID: UploadStorageFailure] = [:]

        /// Reads them. They know more than the records of a queue that was damaged, or whose newest records a power cut has
        /// taken.
        init(_ sessions: [UploadSession], by folders: UploadFolders) {
            for session in sessions {
                guard !folders.isComplete(session.folder) else {
                    complete.append(session.id)
                    continue
                }
                do throws(UploadStorageFailure) {
                    let segments = try folders.discarded(in: session.folder)
                    if !segments.isEmpty { discarded[session.id] = segments }
                } catch {
                    problems[session.id] = error
                }
            }
        }

        /// Takes out of a queue what must not be uploaded.
        func apply(to queue: inout UploadQueue) {
            for id in complete { queue.close(id) }
            for id in problems.keys { queue.remove(id) }
            for (id, segments) in discarded { queue.exclude(segments, from: id) }
        }
    }
}
