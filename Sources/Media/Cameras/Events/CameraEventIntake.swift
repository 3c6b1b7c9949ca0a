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
    }

    private let state: Locked<State>
    private let queue: DispatchQueue
    private let handler: @Sendable (CameraEvent) -> Void

    /// An intake without readings. `handler` is called on any thread and must not wait.
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
        let (before, events) = state.withLock { state -> ([CameraDetection.Kind], [CameraEvent]) in
            guard !state.hasEnded else { return ([], []) }
            let before = state.debouncer.activeKinds
            return (before, state.debouncer.handle(reading, at: MonotonicClock.now, wallTime: .now))
        }
        for event in events { handler(event) }
        schedule()
        if case .detection(let kind) = reading.subject, reading.isActive == false { return before.contains(kind) }
        return !events.isEmpty
    }

    /// Ends what is present: nobody would report its end. Readings that come later are ignored.
    public func end() {
        let events = state.withLock { state in
            state.hasEnded = true
            return state.debouncer.endStays(wallTime: .now)
        }
        for event in events { handler(event) }
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
            let events = state.withLock { state in
                if state.timer == due { state.timer = nil }
                return state.debouncer.handleDeadline(at: MonotonicClock.now, wallTime: .now)
            }
            for event in events { handler(event) }
            schedule()
        }
    }
}

extension WallTime {
    /// The time on the system's clock.
    static var now: WallTime { WallTime(millisecondsSince1970: WallClock.milliseconds) }
}
