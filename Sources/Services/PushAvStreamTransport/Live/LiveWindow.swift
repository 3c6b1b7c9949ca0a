import Stations
import Transport

/// The newest seconds of a live stream as segments and parts, for players that ask for one file after the other
/// (low-latency HTTP Live Streaming, draft-pantos-hls-rfc8216bis). All of it is in memory.
///
/// A part is some pictures with the sound of their time. A segment begins with a key frame, and consists of its parts.
public final class LiveWindow: Sendable {
    private struct State: Sendable {
        var cutter: LiveCutter
        var failure: StationError?
        var hasEnded = false
    }

    /// What the window is made of.
    public let subscription: LiveSubscription
    private let configuration: Configuration
    private let state: Awaitable<State>

    /// Makes a window of what a subscription brings, until that ends.
    public init(_ subscription: LiveSubscription, configuration: Configuration = Configuration()) {
        self.subscription = subscription
        self.configuration = configuration
        state = Awaitable(State(cutter: LiveCutter(configuration)))
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
    public var content: Content { state.withLock { $0.cutter.content } }

    /// How many requests wait, for tests.
    var waitCount: Int { state.waitCount }

    /// The header of segments.
    public func header(_ number: UInt64) -> LiveDescription? { state.withLock { $0.cutter.headers[number] } }

    /// Waits until a part, or a whole segment if `part` is nil, is there.
    /// - Returns: whether it is.
    /// - Throws: why the stream has ended.
    public func wait(
        segment: UInt64, part: Int?, atMost patience: Duration
    ) async throws(StationError) -> Bool {
        await state.wait(atMost: patience) { $0.hasEnded || $0.cutter.content.has(segment: segment, part: part) }
        let (failure, isThere) = state.withLock { ($0.failure, $0.cutter.content.has(segment: segment, part: part)) }
        if let failure { throw failure }
        return isThere
    }

    func take(_ event: LiveSubscription.Event) {
        state.withLock { $0.cutter.take(event) }
    }

    private func end(_ failure: StationError?) {
        state.withLock { state in
            state.hasEnded = true
            state.failure = failure
            // A player may keep the window for a while.
            state.cutter = LiveCutter(configuration)
        }
    }
}
