import Transport

/// Where the upload of one recording stands.
struct UploadSessionState: Sendable {
    /// A segment that the receiver does not have.
    struct Waiting: Equatable, Sendable {
        var segment: UploadSegment
        /// Whether the recorder has finished it.
        var isComplete: Bool
        /// When its first sample was captured, on the monotonic clock; nil for footage of an earlier run.
        var captured: Instant?
        /// Whether it was tried while it was growing. It is then uploaded as a whole.
        var wasTriedGrowing = false
    }

    let session: UploadSession
    let head: [UploadItem]
    let tail: [UploadItem]
    /// How much of head and tail the receiver has.
    var headSent = 0
    var tailSent = 0
    /// The segments that the receiver has, by track.
    var accepted: [[UploadSegment]]
    /// The segments that it does not have, by track, in their order.
    var waiting: [[Waiting]]
    /// The numbers of segments that left without being uploaded, by track.
    var dropped: [Set<UInt32>]
    /// Whether no segment follows.
    var isEnded = false

    /// The attempts that run.
    var attempts: [UInt64: UploadItem] = [:]
    /// Failures since the last success, and until when nothing is tried because of them.
    var failures = 0
    var retryAt: Instant?
    /// Whether an alarm was raised.
    var isFailing = false

    init(_ session: UploadSession) {
        self.session = session
        head = UploadItem.head(of: session)
        tail = UploadItem.tail(of: session)
        accepted = Array(repeating: [], count: session.tracks.count)
        waiting = Array(repeating: [], count: session.tracks.count)
        dropped = Array(repeating: [], count: session.tracks.count)
    }

    var hasWaitingSegments: Bool { waiting.contains { !$0.isEmpty } }
    var droppedCount: Int { dropped.reduce(0) { $0 + $1.count } }

    /// Whether the receiver has all that it will get. A recording of which it has nothing, and of which no segment is left,
    /// is not begun.
    var isDone: Bool {
        guard isEnded, !hasWaitingSegments, attempts.isEmpty else { return false }
        return isUntouched || (headSent == head.count && tailSent == tail.count)
    }

    private var isUntouched: Bool { headSent == 0 && accepted.allSatisfy(\.isEmpty) }

    /// What may be uploaded now: the rest of the head one by one, then each track's segments one by one, then the tail one
    /// by one. After a failure one attempt at a time finds out whether it works again.
    func candidates(at now: Instant, mayGrow: Bool) -> [UploadItem] {
        if let retryAt, retryAt > now { return [] }
        if failures > 0, !attempts.isEmpty { return [] }
        var found: [UploadItem] = []
        if headSent < head.count {
            if attempts.isEmpty { found = [head[headSent]] }
        } else if isEnded, !hasWaitingSegments {
            if attempts.isEmpty, tailSent < tail.count { found = [tail[tailSent]] }
        } else {
            for track in waiting.indices {
                guard let next = waiting[track].first, !isBusy(track) else { continue }
                guard next.isComplete || (mayGrow && canGrow(next)) else { continue }
                found.append(.segment(track: track, number: next.segment.number))
            }
        }
        return failures > 0 ? Array(found.prefix(1)) : found
    }

    private func canGrow(_ segment: Waiting) -> Bool {
        session.destination.uploadsWhileRecording && session.destination.interface != .hls && !segment.wasTriedGrowing
    }

    private func isBusy(_ track: Int) -> Bool {
        attempts.values.contains { item in
            if case .segment(track, _) = item { true } else { false }
        }
    }

    /// The position of a segment among those that wait; nil when it does not.
    func position(track: Int, number: UInt32) -> Int? {
        guard waiting.indices.contains(track) else { return nil }
        return waiting[track].firstIndex { $0.segment.number == number }
    }

    /// Whether a segment has been uploaded, or has left.
    func isSettled(track: Int, number: UInt32) -> Bool {
        dropped[track].contains(number) || accepted[track].contains { $0.number == number }
    }

    /// Records that the receiver has an item. Returns the segment that it was, if it was one.
    mutating func markSent(_ item: UploadItem) -> UploadSegment? {
        if case .segment(let track, let number) = item {
            guard let position = position(track: track, number: number) else { return nil }
            let segment = waiting[track].remove(at: position).segment
            accepted[track].append(segment)
            return segment
        }
        // The head's items and the tail's are sent in their order, so each counts when it is the next one.
        if headSent < head.count {
            if head[headSent] == item { headSent += 1 }
        } else if tailSent < tail.count, tail[tailSent] == item {
            tailSent += 1
        }
        return nil
    }
}
