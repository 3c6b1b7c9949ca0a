import DatagramPort
import Dispatch
import Transport

/// Receives all readings of one camera: from the ONVIF subscription, and from the webhook. New events go on to the
/// handler.
public final class CameraEventIntake: Sendable {
    private struct State {
        var debouncer: EventDebouncer
        /// When the running timer will check.
        var timer: Instant?
        var hasEnded = false
        /// What the debouncer has decided and nobody has reported yet, in order.
        var unreported: [CameraEvent] = []
        /// Whether a thread reports it.
        var isReporting = false
    }

    private let state: Locked<State>
    private let queue: DispatchQueue
    private let handler: @Sendable (CameraEvent) -> Void

    /// An intake without readings. `handler` is called on any thread, by one at a time and in the order of what happens, and
    /// must not wait.
    public init(
        configuration: EventDebouncer.Configuration = .init(), handler: @escaping @Sendable (CameraEvent) -> Void
    ) {
        state = Locked(State(debouncer: EventDebouncer(configuration: configuration)))
        queue = DispatchQueue(label: "camera events")
        self.handler = handler
    }

    /// The kinds that are present now.
    public var activeKinds: [CameraDetection.Kind] { state.withLock { $0.debouncer.activeKinds } }

    /// Handles a reading.
    /// - Returns: whether it was new, and not a repetition.
    @discardableResult
    public func take(_ reading: SensorReading) -> Bool {
        let isNew = state.withLock { state -> Bool in
            guard !state.hasEnded else { return false }
            let before = state.debouncer.activeKinds
            let events = state.debouncer.handle(reading, at: MonotonicClock.now, wallTime: .now)
            state.unreported += events
            if case .detection(let kind) = reading.subject, reading.isActive == false { return before.contains(kind) }
            return !events.isEmpty
        }
        report()
        schedule()
        return isNew
    }

    /// Ends what is present: nobody would report its end. Readings that come later are ignored. If another thread is reporting
    /// now, that thread also reports these ends, perhaps after this has returned.
    public func end() {
        state.withLock { state in
            state.hasEnded = true
            state.unreported += state.debouncer.endStays(wallTime: .now)
        }
        report()
    }

    /// Reports what was decided, in the order of the decisions. While a thread does that, the others leave theirs to it: two
    /// threads could overtake each other, and an end would come after a newer beginning.
    private func report() {
        let begins = state.withLock { state -> Bool in
            defer { state.isReporting = true }
            return !state.isReporting
        }
        guard begins else { return }
        // The handler may have readings of its own, so it is called without the lock.
        while let event = nextReport() { handler(event) }
    }

    /// What is to be reported next. After the last event, another thread may report.
    private func nextReport() -> CameraEvent? {
        state.withLock { state -> CameraEvent? in
            guard state.unreported.isEmpty else { return state.unreported.removeFirst() }
            state.isReporting = false
            return nil
        }
    }

    /// Ends on time what no sensor reports as ended.
    private func schedule() {
        let due = state.withLock { state -> Instant? in
            guard let deadline = state.debouncer.nextDeadline else { return nil }
            if let timer = state.timer, timer <= deadline { return nil }
            state.timer = deadline
            return deadline
        }
        guard let due else { return }
        let wait = min(max((due - MonotonicClock.now).wholeNanoseconds, 0), 86_400_000_000_000)
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(wait) + 1_000_000)) { [weak self] in
            guard let self else { return }
            state.withLock { state in
                if state.timer == due { state.timer = nil }
                state.unreported += state.debouncer.handleDeadline(at: MonotonicClock.now, wallTime: .now)
            }
            report()
            schedule()
        }
    }
}

extension WallTime {
    /// The time on the system's clock.
    static var now: WallTime { WallTime(millisecondsSince1970: WallClock.milliseconds) }
}
