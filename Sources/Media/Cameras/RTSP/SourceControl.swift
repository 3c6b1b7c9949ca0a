import DatagramPort
import Glibc
import Transport

/// How a source's owner controls the source's thread: stop it, ask for a key frame, and let it coalesce what it reads.
///
/// Stopping waits for the thread, except while the thread looks up a host name: that call cannot be interrupted and may
/// take half a minute. The thread is then left behind, and ends without touching the sink again.
final class SourceControl: Sendable {
    private struct State {
        var isStopping = false
        var isResolving = false
        var keyFrameRequests: UInt64 = 0
        var isCoalescing = false
    }

    private let state = Locked(State())
    /// Readable when a request waits.
    var wakeUp: Int32 { wakeUpPipe.readEnd }
    private let wakeUpPipe: Pipe
    private let ended: Pipe

    /// Nil when the process has no file descriptor left.
    init?() {
        guard let wakeUpPipe = Pipe(), let ended = Pipe() else { return nil }
        self.wakeUpPipe = wakeUpPipe
        self.ended = ended
    }

    // MARK: The owner's side

    /// Stops the thread. Returns false when the thread was left behind in a look-up.
    func stop() -> Bool {
        guard requestStop() else { return false }
        var waiting = pollfd(fd: ended.readEnd, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, -1) < 0, errno == EINTR {}
        return true
    }

    /// Asks the thread to stop and does not wait. Returns false when it is in a look-up, which it will not leave soon.
    @discardableResult
    func requestStop() -> Bool {
        let isResolving = state.withLock { state in
            state.isStopping = true
            return state.isResolving
        }
        wakeUpPipe.signal()
        return !isResolving
    }

    /// Waits until the thread of `other` has ended, but no longer than `duration`, and no longer than until this one's
    /// owner has a request.
    func wait(forEndOf other: SourceControl, upTo duration: Duration) {
        var waiting = [
            pollfd(fd: other.ended.readEnd, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&waiting, 2, pollTimeout(duration))
    }

    /// Asks for a key frame of a track.
    func requestKeyFrame(track: Int) {
        guard (0..<64).contains(track) else { return }
        let isNew = state.withLock { state in
            let before = state.keyFrameRequests
            state.keyFrameRequests |= 1 << UInt64(track)
            return state.keyFrameRequests != before
        }
        if isNew { wakeUpPipe.signal() }
    }

    /// Lets the thread read late, or no longer.
    func setCoalescing(_ isCoalescing: Bool) {
        let isNew = state.withLock { state in
            defer { state.isCoalescing = isCoalescing }
            return state.isCoalescing != isCoalescing
        }
        if isNew { wakeUpPipe.signal() }
    }

    /// Makes the thread check for work.
    func wake() { wakeUpPipe.signal() }

    // MARK: The thread's side

    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Whether nobody watches, so that the thread may read late.
    var isCoalescing: Bool { state.withLock { $0.isCoalescing } }

    /// Takes the tracks for which a key frame was requested, one bit each, and resets ``wakeUp``.
    func takeKeyFrameRequests() -> UInt64 {
        wakeUpPipe.drain()
        return state.withLock { state in
            defer { state.keyFrameRequests = 0 }
            return state.keyFrameRequests
        }
    }

    /// How a look-up ended.
    enum Resolution<Result> {
        case found(Result)
        /// The source was stopped before the look-up began: the owner waits for the thread.
        case notBegun
        /// The source was stopped during the look-up: the owner does not wait, and the sink must not be touched again.
        case abandoned
    }

    /// Runs `lookUp`, during which the owner does not wait for the thread.
    func resolve<Result>(_ lookUp: () -> Result) -> Resolution<Result> {
        let mayBegin = state.withLock { state in
            state.isResolving = !state.isStopping
            return state.isResolving
        }
        guard mayBegin else { return .notBegun }
        let result = lookUp()
        let isStopping = state.withLock { state in
            state.isResolving = false
            return state.isStopping
        }
        return isStopping ? .abandoned : .found(result)
    }

    /// The thread is about to end.
    func markEnded() { ended.signal() }

    /// Waits until the owner has a request or the time is over.
    func wait(_ duration: Duration) {
        var waiting = pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0)
        _ = poll(&waiting, 1, pollTimeout(duration))
    }
}

extension SourceControl {
    /// Waits until then or until the owner stops the source. Other requests are dropped.
    func wait(until end: Instant) {
        while !isStopping {
            let left = end - MonotonicClock.now
            if left <= .zero { return }
            wait(left)
            _ = takeKeyFrameRequests()
        }
    }
}

/// A pipe that never blocks and only says that something happened.
private final class Pipe: Sendable {
    let readEnd: Int32
    private let writeEnd: Int32

    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (readEnd, writeEnd) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    func signal() {
        var byte: UInt8 = 1
        // A full pipe already carries the signal.
        _ = write(writeEnd, &byte, 1)
    }

    func drain() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            _ = read(readEnd, buffer.baseAddress, buffer.count)
        }
    }
}

/// A duration for `poll`: whole milliseconds rounded up, so that a deadline has really passed afterwards.
func pollTimeout(_ duration: Duration) -> Int32 {
    let (seconds, attoseconds) = duration.components
    if seconds < 0 || duration <= .zero { return 0 }
    if seconds > 3600 { return 3_600_000 }
    return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
}
