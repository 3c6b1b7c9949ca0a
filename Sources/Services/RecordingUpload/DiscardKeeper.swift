import Dispatch
import PushAvStreamTransport
import Transport

/// Keeps beside the recordings what privacy switches have discarded of them.
///
/// A disk that does not answer, such as one in a network whose server has gone, keeps a thread of its own waiting and nobody
/// else: a switch of one camera must not stop the others.
final class DiscardKeeper: Sendable {
    private struct State {
        /// What the disk has not taken yet, by the folders of the recordings.
        var waiting: [String: Set<DiscardedSegment>] = [:]
        /// How many writes run or are to run. One that has not begun writes what has come meanwhile, too.
        var writes = 0
        /// Why the newest write has failed.
        var failure: UploadStorageFailure?
    }

    private let folders: UploadFolders
    private let state = Locked(State())
    /// One writer, because two of one file would disturb each other.
    private let writer = DispatchQueue(label: "discarded footage")
    private let writes = DispatchGroup()

    init(_ folders: UploadFolders) {
        self.folders = folders
    }

    /// Writes what waits, and what is new. It waits for the disk, but not longer than `patience`.
    /// - Returns: why the disk has not taken all of it; nil when it has.
    func keep(
        _ news: [String: Set<DiscardedSegment>] = [:], patience: Duration = .seconds(2)
    ) -> UploadStorageFailure? {
        let begins = state.withLock { state -> Bool in
            for (folder, segments) in news { state.waiting[folder, default: []].formUnion(segments) }
            guard state.writes < 2 else { return false }
            state.writes += 1
            writes.enter()
            return true
        }
        if begins { writer.async { [self] in write() } }
        let limit = DispatchTime.now() + .nanoseconds(Int(clamping: patience.wholeNanoseconds))
        guard writes.wait(timeout: limit) == .success else {
            return UploadStorageFailure(path: folders.root, reason: .noAnswer)
        }
        return state.withLock { $0.failure }
    }

    private func write() {
        var failure: UploadStorageFailure?
        let all = state.withLock { $0.waiting }
        for (folder, segments) in all.sorted(by: { $0.key < $1.key }) {
            do throws(UploadStorageFailure) {
                try folders.discard(segments, in: folder)
                state.withLock { state in
                    state.waiting[folder]?.subtract(segments)
                    if state.waiting[folder]?.isEmpty == true { state.waiting[folder] = nil }
                }
            } catch {
                failure = error
            }
        }
        let outcome = failure
        state.withLock { state in
            state.failure = outcome
            state.writes -= 1
        }
        writes.leave()
    }
}
