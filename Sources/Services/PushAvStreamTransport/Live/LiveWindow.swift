import DatagramPort
import Stations
import Transport

/// The newest seconds of a live stream as segments and parts, for players that ask for one file after the other
/// (low-latency HTTP Live Streaming, draft-pantos-hls-rfc8216bis). All of it is in memory.
///
/// A part is some pictures with the sound of their time. A segment begins with a key frame, and consists of its parts.
public final class LiveWindow: Sendable {
    /// How a stream is cut.
    public struct Configuration: Sendable {
        /// How long a part is at most, unless a single picture lasts longer.
        public var partDuration = 0.5
        /// The shortest length of a segment. It ends before the first key frame after that.
        public var segmentDuration = 2.0
        /// How many complete segments are kept.
        public var segments = 6
        /// The most bytes that are kept. A segment that would need more ends, and the next key frame begins another.
        public var bytes = 48 << 20

        /// The usual values.
        public init() {}
    }

    /// A part of a segment.
    public struct Part: Sendable, Equatable {
        /// In seconds.
        public var duration: Double
        /// Whether a player can begin with it.
        public var isIndependent: Bool
        /// CMAF chunks of all tracks, in the order in which they were made.
        public var bytes: [UInt8]
    }

    /// A segment.
    public struct Segment: Sendable, Equatable {
        /// Its number in the playlist.
        public var number: UInt64
        /// Which header belongs to it.
        public var header: UInt64
        /// Whether its times do not continue those of the one before.
        public var isDiscontinuous: Bool
        /// Its parts so far.
        public var parts: [Part] = []
        /// Whether no more parts come.
        public var isComplete = false

        /// In seconds.
        public var duration: Double { parts.reduce(0) { $0 + $1.duration } }
    }

    /// What a playlist says.
    public struct Content: Sendable, Equatable {
        /// The segments, oldest first. Only the last may be incomplete.
        public var segments: [Segment] = []
        /// How many discontinuities are no longer in the playlist.
        public var discontinuities: UInt64 = 0
        /// The longest segment so far, in seconds.
        public var longestSegment = 0.0
        /// The longest part so far, in seconds.
        public var longestPart = 0.0

        /// The next part that will come.
        public var next: (segment: UInt64, part: Int) {
            guard let last = segments.last else { return (0, 0) }
            return last.isComplete ? (last.number + 1, 0) : (last.number, last.parts.count)
        }

        /// Whether a part, or a whole segment, is there or was.
        func has(segment: UInt64, part: Int?) -> Bool {
            let next = self.next
            guard let part else { return segment < next.segment }
            return segment < next.segment || segment == next.segment && part < next.part
        }
    }

    private struct State {
        var content = Content()
        var headers: [UInt64: LiveDescription] = [:]
        var description: LiveDescription?
        /// The part that is not complete yet.
        var pending: Part?
        /// Whether the times of the next segment do not continue those of the last.
        var isInterrupted = false
        /// The number of the next segment.
        var number: UInt64 = 0
        /// The bytes of the segment that is not complete yet.
        var openBytes = 0
        var waiters: [(segment: UInt64, part: Int?, id: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var nextWaiter = 0
        var failure: StationError?
        var hasEnded = false
    }

    /// What the window is made of.
    public let subscription: LiveSubscription
    private let configuration: Configuration
    private let state = Locked(State())

    /// Makes a window of what a subscription brings, until that ends.
    public init(_ subscription: LiveSubscription, configuration: Configuration = Configuration()) {
        self.subscription = subscription
        self.configuration = configuration
    }

    /// Reads the subscription until it ends. Call it once.
    public func run() async {
        do throws(StationError) {
            while let event = try await subscription.next() { take(event) }
            end(nil)
        } catch {
            end(error)
        }
        subscription.finish()
    }

    /// Whether nothing more comes.
    public var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// What there is now.
    public var content: Content { state.withLock { $0.content } }

    /// The header of segments.
    public func header(_ number: UInt64) -> LiveDescription? { state.withLock { $0.headers[number] } }

    /// Waits until a part, or a whole segment if `part` is nil, is there.
    /// - Returns: whether it is.
    /// - Throws: why the stream has ended.
    public func wait(
        segment: UInt64, part: Int?, atMost patience: Duration
    ) async throws(StationError) -> Bool {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        let timer = Task<Void, Never> {
            // A sleep that is cancelled is over as well.
            try? await Task.sleep(for: patience)
            release(id)
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if state.hasEnded || Task.isCancelled || state.content.has(segment: segment, part: part) {
                        return true
                    }
                    state.waiters.append((segment, part, id, continuation))
                    return false
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            release(id)
        }
        timer.cancel()
        let (failure, isThere) = state.withLock { ($0.failure, $0.content.has(segment: segment, part: part)) }
        if let failure { throw failure }
        return isThere
    }

    private func release(_ id: Int) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiters.remove(at: index).continuation
        }
        waiter?.resume()
    }

    private func end(_ failure: StationError?) {
        let waiters = state.withLock { state in
            state.hasEnded = true
            state.failure = failure
            state.content = Content()
            state.headers = [:]
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    // MARK: Cutting

    func take(_ event: LiveSubscription.Event) {
        let ready = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            switch event {
            case .began(let description): begin(description, &state)
            case .chunks(let chunks):
                for chunk in chunks { add(chunk, &state) }
            }
            let content = state.content
            let ready = state.waiters.filter { content.has(segment: $0.segment, part: $0.part) }
            state.waiters.removeAll { waiter in ready.contains { $0.id == waiter.id } }
            return ready.map(\.continuation)
        }
        for continuation in ready { continuation.resume() }
    }

    private func begin(_ description: LiveDescription, _ state: inout State) {
        closePart(&state)
        closeSegment(&state)
        state.description = description
        state.headers[description.number] = description
        state.isInterrupted = true
        let used = Set(state.content.segments.map(\.header)).union([description.number])
        state.headers = state.headers.filter { used.contains($0.key) }
    }

    private func add(_ chunk: LiveChunk, _ state: inout State) {
        guard let description = state.description, description.tracks.indices.contains(chunk.track) else { return }
        // The first track is the pictures, or the sound of a camera without any.
        guard chunk.track == 0 else {
            if state.pending != nil { append(chunk, &state) }
            return
        }
        let duration = Double(chunk.duration) / Double(max(description.tracks[0].timescale, 1))
        let current = state.content.segments.last
        let isOpen = current.map { !$0.isComplete } ?? false
        if chunk.canBegin {
            let length = (current?.duration ?? 0) + (state.pending?.duration ?? 0)
            if !isOpen || length + duration / 2 >= configuration.segmentDuration {
                closePart(&state)
                closeSegment(&state)
                open(description, &state)
            }
        } else if !isOpen {
            return
        }
        if let pending = state.pending, pending.duration + duration > configuration.partDuration + 0.001 {
            closePart(&state)
        }
        if state.pending == nil { state.pending = Part(duration: 0, isIndependent: chunk.canBegin, bytes: []) }
        state.pending?.duration += duration
        append(chunk, &state)
        // A camera may send no key frame for a long time.
        if state.openBytes > configuration.bytes {
            closePart(&state)
            closeSegment(&state)
            state.isInterrupted = true
        }
    }

    private func append(_ chunk: LiveChunk, _ state: inout State) {
        state.pending?.bytes += chunk.bytes
        state.openBytes += chunk.bytes.count
    }

    private func open(_ description: LiveDescription, _ state: inout State) {
        state.content.segments.append(
            Segment(
                number: state.number, header: description.number,
                isDiscontinuous: state.isInterrupted && state.number > 0))
        state.isInterrupted = false
        state.number += 1
        state.openBytes = 0
    }

    private func closePart(_ state: inout State) {
        guard let part = state.pending, let last = state.content.segments.indices.last else { return }
        state.pending = nil
        state.content.segments[last].parts.append(part)
        state.content.longestPart = max(state.content.longestPart, part.duration)
    }

    private func closeSegment(_ state: inout State) {
        guard let last = state.content.segments.indices.last, !state.content.segments[last].isComplete else { return }
        state.content.segments[last].isComplete = true
        state.content.longestSegment = max(state.content.longestSegment, state.content.segments[last].duration)
        while state.content.segments.count > configuration.segments
            || state.content.segments.count > 1 && bytes(of: state.content) > configuration.bytes
        {
            if state.content.segments.removeFirst().isDiscontinuous { state.content.discontinuities += 1 }
        }
    }

    private func bytes(of content: Content) -> Int {
        content.segments.reduce(0) { $0 + $1.parts.reduce(0) { $0 + $1.bytes.count } }
    }
}
