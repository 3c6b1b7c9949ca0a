import HomeTypes
import Transport

/// Decides when a connection records. A value without I/O and clock: it gets the time with every input, and has a
/// ``nextDeadline`` at which it wants to be called again.
///
/// Source: Matter 1.5, Push AV Stream Transport and Zone Management. If the text and the reference camera differ, the text
/// is followed: after a recording was extended for the first time, it is extended again only when the length that it had
/// before has passed.
///
/// Deviations:
/// - The blind time starts at the end of the recording, not from the end of its upload: how long an upload takes says
///   nothing about motion, and a server that is down would blind the camera.
/// - The end comes the recording's length after the trigger. The pre-roll lies before the trigger and does not delay it.
/// - Motion that lasts extends a recording at its end. When the recording may not be longer, motion begins the next one: at
///   once, or when the blind time is over. Cameras report the beginning and the end of motion, and the text knows
///   beginnings only.
public struct TriggerMachine: Sendable {
    /// What happens.
    public enum Input: Sendable {
        /// Motion began, or was seen for a moment.
        case motion(MotionSignal, RecordingTrigger)
        /// A stay has ended.
        case motionEnded(stay: String)
        /// The button was pressed.
        case press(RecordingTrigger)
        /// `manuallyTriggerTransport`, with its durations.
        case command(RecordingTrigger, TransportTimeControl?)
        /// The connection's options have changed.
        case settings(TriggerSettings)
        /// Whether recording is still allowed: nil if it is, else the reason.
        case stop(RecordingEnd.Reason?)
    }

    /// What is to be done.
    public enum Output: Equatable, Sendable {
        /// A recording begins.
        case begin(Begin)
        /// The recording that runs lasts until then because of a trigger.
        case extend(until: Instant, RecordingTrigger)
        /// A trigger belongs to the recording that runs and changes nothing about its length.
        case belongs(RecordingTrigger)
        /// The recording ends.
        case end(RecordingEnd.Reason)
    }

    /// How a recording begins.
    public struct Begin: Equatable, Sendable {
        /// What begins it.
        public var trigger: RecordingTrigger
        /// When the trigger came. It may be a little in the past.
        public var triggeredAt: Instant
        /// How much before the trigger belongs to it.
        public var preRoll: Duration
        /// When it ends unless it is extended; nil for one that lasts.
        public var until: Instant?
        /// When the connection became active: nothing that was captured before belongs to it.
        public var notBefore: Instant
    }

    private struct Run {
        var activation: Instant
        /// How long it lasts from its activation; nil for one that lasts.
        var length: Duration?
        /// The length before the latest extension; nil before the first one.
        var previousLength: Duration?
        var time: TransportTimeControl?
        /// Whether motion began it. Only such a recording blinds the camera.
        var isByMotion: Bool

        var end: Instant? { length.map { activation + $0 } }
    }

    private var settings: TriggerSettings
    private var stopped: RecordingEnd.Reason?
    /// When recording became allowed.
    private var activeSince = Instant.zero
    private var run: Run?
    private var blindUntil: Instant?
    /// The stays that are going on and that the connection takes, with the trigger of each.
    private var stays: [String: (motion: MotionSignal, trigger: RecordingTrigger)] = [:]
    /// The latest motion that a recording could still be resumed for.
    private var latestMotion: (trigger: RecordingTrigger, at: Instant)?
    private static let maximumStays = 64

    /// Begins with a connection that does not record.
    /// - Parameter stopped: why it may not record yet.
    public init(_ settings: TriggerSettings, stopped: RecordingEnd.Reason = .inactive) {
        self.settings = settings
        self.stopped = stopped
    }

    /// Whether it records.
    public var isRecording: Bool { run != nil }

    /// When to call ``handleDeadline(at:)``; nil if only an input changes anything.
    public var nextDeadline: Instant? {
        if let run { return run.end }
        guard stopped == nil, let blindUntil, goingOn != nil else { return nil }
        return blindUntil
    }

    /// Handles an input.
    /// - Returns: what is to be done, in this order.
    public mutating func handle(_ input: Input, at now: Instant) -> [Output] {
        var outputs: [Output] = []
        // What was due before comes first.
        advance(to: now, &outputs)
        switch input {
        case .motion(let motion, let trigger): takeMotion(motion, trigger, at: now, &outputs)
        case .motionEnded(let stay): stays[stay] = nil
        case .press(let trigger):
            if settings.type != .command { begin(trigger, settings.time, isByMotion: false, at: now, &outputs) }
        case .command(let trigger, let time):
            begin(trigger, time ?? settings.time, isByMotion: false, at: now, &outputs)
        case .settings(let new): adopt(new, at: now, &outputs)
        case .stop(let reason): stop(reason, at: now, &outputs)
        }
        return outputs
    }

    /// Does what is due.
    /// - Returns: what is to be done, in this order.
    public mutating func handleDeadline(at now: Instant) -> [Output] {
        var outputs: [Output] = []
        advance(to: now, &outputs)
        return outputs
    }

    // MARK: Inputs

    private mutating func takeMotion(
        _ motion: MotionSignal, _ trigger: RecordingTrigger, at now: Instant, _ outputs: inout [Output]
    ) {
        if let stay = motion.stay, stays.count < Self.maximumStays || stays[stay] != nil {
            stays[stay] = (motion, trigger)
        }
        guard settings.accept(motion) else {
            // What is recorded anyway belongs to the recording.
            if run != nil, settings.type == .continuous { outputs.append(.belongs(trigger)) }
            return
        }
        if run == nil, let blindUntil, now < blindUntil { return }
        latestMotion = (trigger, now)
        begin(trigger, settings.time, isByMotion: true, at: now, &outputs)
    }

    private mutating func adopt(_ new: TriggerSettings, at now: Instant, _ outputs: inout [Output]) {
        let old = settings
        settings = new
        guard old.type != new.type else { return }
        latestMotion = nil
        if run != nil, old.type == .continuous || new.type == .continuous {
            run = nil
            outputs.append(.end(.cut))
        }
        beginByItself(at: now, &outputs)
    }

    private mutating func stop(_ reason: RecordingEnd.Reason?, at now: Instant, _ outputs: inout [Output]) {
        // A recording that is cut continues where it was cut.
        if reason == nil, let stopped, stopped != .cut { activeSince = now }
        stopped = reason
        if let reason {
            guard run != nil else { return }
            run = nil
            outputs.append(.end(reason))
            return
        }
        guard run == nil else { return }
        blindUntil = nil
        beginByItself(at: now, &outputs)
    }

    /// Begins what needs no new trigger: what is always recorded, and motion that is not over.
    private mutating func beginByItself(at now: Instant, _ outputs: inout [Output]) {
        guard stopped == nil, run == nil else { return }
        switch settings.type {
        case .continuous:
            run = Run(activation: now, length: nil, time: nil, isByMotion: false)
            outputs.append(
                .begin(
                    Begin(
                        trigger: RecordingTrigger(kind: .continuous, words: "continuous recording"), triggeredAt: now,
                        preRoll: .zero, until: nil, notBefore: activeSince)))
        case .motion:
            if let latest = latestMotion, let time = settings.time, now < latest.at + Self.firstLength(time) {
                start(latest.trigger, time, isByMotion: true, at: latest.at, preRoll: .zero, &outputs)
            } else if let goingOn {
                latestMotion = (goingOn, now)
                begin(goingOn, settings.time, isByMotion: true, at: now, preRoll: .zero, &outputs)
            }
        case .command, .unrecognized_: break
        }
    }

    // MARK: Recordings

    /// Begins a recording, or extends the one that runs.
    private mutating func begin(
        _ trigger: RecordingTrigger, _ time: TransportTimeControl?, isByMotion: Bool, at now: Instant,
        preRoll: Duration? = nil, _ outputs: inout [Output]
    ) {
        if run != nil {
            guard let until = extend(at: now) else { return outputs.append(.belongs(trigger)) }
            return outputs.append(.extend(until: until, trigger))
        }
        guard stopped == nil, let time else { return }
        start(trigger, time, isByMotion: isByMotion, at: now, preRoll: preRoll ?? settings.preRoll, &outputs)
    }

    private mutating func start(
        _ trigger: RecordingTrigger, _ time: TransportTimeControl, isByMotion: Bool, at activation: Instant,
        preRoll: Duration, _ outputs: inout [Output]
    ) {
        let new = Run(activation: activation, length: Self.firstLength(time), time: time, isByMotion: isByMotion)
        run = new
        blindUntil = nil
        outputs.append(
            .begin(
                Begin(
                    trigger: trigger, triggeredAt: activation, preRoll: preRoll, until: new.end,
                    notBefore: activeSince)))
    }

    /// Makes the recording longer if it may be now.
    /// - Returns: its new end; nil if it stays as long as it is.
    private mutating func extend(at now: Instant) -> Instant? {
        guard let run, let length = run.length, let time = run.time else { return nil }
        if let previous = run.previousLength, now < run.activation + previous { return nil }
        let longer = min(length + .seconds(Int(time.augmentationDuration)), .seconds(Int64(time.maxDuration)))
        guard longer > length else { return nil }
        self.run?.previousLength = length
        self.run?.length = longer
        return run.activation + longer
    }

    private static func firstLength(_ time: TransportTimeControl) -> Duration {
        .seconds(min(Int64(time.initialDuration), Int64(time.maxDuration)))
    }

    /// The trigger of motion that goes on and that the connection takes.
    private var goingOn: RecordingTrigger? {
        guard settings.type == .motion else { return nil }
        return stays.filter { settings.accept($0.value.motion) }.min { $0.key < $1.key }?.value.trigger
    }

    /// Does everything that is due by now.
    private mutating func advance(to now: Instant, _ outputs: inout [Output]) {
        while let due = nextDeadline, due <= now {
            guard let run else {
                // The blind time is over, and motion continues.
                blindUntil = nil
                if let goingOn {
                    latestMotion = (goingOn, due)
                    begin(goingOn, settings.time, isByMotion: true, at: due, &outputs)
                }
                continue
            }
            if let goingOn, let until = extend(at: due) {
                outputs.append(.extend(until: until, goingOn))
                continue
            }
            self.run = nil
            latestMotion = nil
            outputs.append(.end(.lengthReached))
            if run.isByMotion, let time = run.time, time.blindDuration > 0 {
                blindUntil = due + .seconds(Int(time.blindDuration))
            } else if let goingOn {
                // The next recording follows without a gap.
                latestMotion = (goingOn, due)
                begin(goingOn, settings.time, isByMotion: true, at: due, preRoll: .zero, &outputs)
            }
        }
    }
}
