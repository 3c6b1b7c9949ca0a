import Stations
import Transport

/// A viewer of a live stream. What it does not take in time is left out, up to the next key frame, so that it never
/// falls far behind.
public final class LiveSubscription: Sendable {
    /// What comes.
    public enum Event: Sendable, Equatable {
        /// Chunks of this kind follow. Everything that came before is over.
        case began(LiveDescription)
        /// One or more chunks.
        case chunks([LiveChunk])
        /// Nothing has come for some time. It comes only where somebody calls ``LiveSubscription/reportSilence()``.
        case silence
    }

    /// The most bytes of chunks that wait.
    public static let largestBacklog = 8 << 20

    private struct State {
        var description: LiveDescription?
        var chunks: [LiveChunk] = []
        var waitingBytes = 0
        /// Chunks are left out until one can be begun with.
        var isSkipping = true
        /// Whether something has come for the reader since the last call of ``LiveSubscription/reportSilence()``.
        var hasHeard = true
        /// Whether the reader gets ``Event/silence`` next.
        var isSilent = false
        var dropped: UInt64 = 0
        var hasEnded = false
        var failure: StationError?
        var waiter: CheckedContinuation<Void, Never>?
        var whenEnded: [CheckedContinuation<Void, Never>] = []
        var hasLeft = false

        /// Whether there is something for the reader.
        var isReady: Bool { hasEnded || description != nil || !chunks.isEmpty || isSilent }
    }

    private let state = Locked(State())
    private let leave: @Sendable () -> Void
    private let permit: Locked<OutputPermit?> = Locked(nil)

    /// - Parameter leave: called once, when nothing more is wanted.
    init(leave: @escaping @Sendable () -> Void) {
        self.leave = leave
    }

    deinit { end() }

    /// How many chunks were left out because they were not taken in time.
    public var dropped: UInt64 { state.withLock { $0.dropped } }

    /// Whether nothing more comes.
    public var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// The next event; nil when nothing more comes. Only one task may wait at a time.
    /// - Throws: why the stream has ended, where that is not the end of the camera's stream.
    public func next() async throws(StationError) -> Event? {
        while true {
            let (event, failure, hasEnded) = state.withLock { state -> (Event?, StationError?, Bool) in
                if state.hasEnded { return (nil, state.failure, true) }
                if let description = state.description {
                    state.description = nil
                    return (.began(description), nil, false)
                }
                guard !state.chunks.isEmpty else {
                    defer { state.isSilent = false }
                    return (state.isSilent ? Event.silence : nil, nil, false)
                }
                let taken = state.chunks
                state.chunks = []
                state.waitingBytes = 0
                return (.chunks(taken), nil, false)
            }
            if let failure { throw failure }
            if event != nil || hasEnded { return event }
            await wait()
        }
    }

    /// Fails if nothing of the camera may leave now. Ask before each write: what waits in a slow connection must not
    /// go on after the camera was switched off.
    public func check() throws(StationError) {
        try permit.withLock { $0 }?.check()
    }

    /// Gives the reader ``Event/silence`` if nothing has come for it since the last call. Call it at an interval for a
    /// reader that has something to do while nothing comes.
    public func reportSilence() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            defer { state.hasHeard = false }
            guard !state.hasHeard, !state.hasEnded else { return nil }
            state.isSilent = true
            return state.waiter.take()
        }
        waiter?.resume()
    }

    /// Nothing more is wanted, or nothing more comes. A second call has no effect.
    public func end(_ failure: StationError? = nil) {
        let (waiter, isFirst) = state.withLock { state in
            let isFirst = !state.hasEnded
            state.hasEnded = true
            if isFirst { state.failure = failure }
            state.chunks = []
            state.description = nil
            return (state.waiter.take(), isFirst)
        }
        waiter?.resume()
        if isFirst { leave() }
    }

    /// The reader of the events has stopped: nothing more leaves by this subscription.
    public func finish() {
        end()
        let waiting = state.withLock { state in
            state.hasLeft = true
            defer { state.whenEnded = [] }
            return state.whenEnded
        }
        for waiter in waiting { waiter.resume() }
        permit.withLock { $0.take() }?.end()
    }

    // MARK: For the stream

    func keep(_ permit: OutputPermit) {
        self.permit.withLock { $0 = permit }
    }

    /// The right to watch was revoked: returns when nothing more leaves.
    func revoke(_ revocation: OutputRevocation, camera: String) async {
        end(.refused(camera: camera, revocation.refusal))
        await withCheckedContinuation { continuation in
            let hasLeft = state.withLock { state in
                if !state.hasLeft { state.whenEnded.append(continuation) }
                return state.hasLeft
            }
            if hasLeft { continuation.resume() }
        }
    }

    func begin(_ description: LiveDescription) {
        update { state in
            state.description = description
            state.chunks = []
            state.waitingBytes = 0
            state.isSkipping = true
        }
    }

    func add(_ chunk: LiveChunk) {
        update { state in
            if state.waitingBytes + chunk.bytes.count > Self.largestBacklog {
                state.dropped += UInt64(state.chunks.count)
                state.chunks = []
                state.waitingBytes = 0
                state.isSkipping = true
            }
            if state.isSkipping {
                guard chunk.canBegin else {
                    state.dropped += 1
                    return
                }
                state.isSkipping = false
            }
            state.chunks.append(chunk)
            state.waitingBytes += chunk.bytes.count
        }
    }

    private func update(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.hasEnded else { return nil }
            change(&state)
            // What is left out does not reach the reader.
            guard !state.chunks.isEmpty || state.description != nil else { return nil }
            state.hasHeard = true
            state.isSilent = false
            return state.waiter.take()
        }
        waiter?.resume()
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.isReady { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            end()
        }
    }
}
