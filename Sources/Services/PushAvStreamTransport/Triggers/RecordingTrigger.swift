import HomeTypes

/// Something that can begin or extend a recording.
public struct RecordingTrigger: Hashable, Sendable {
    /// The kind, as Matter's begin event has it: a press of the button is treated as a command.
    public var kind: TransportTriggerType
    /// Why, if it is a command.
    public var reason: TriggerActivationReason?
    /// In words for the owner, for example "motion" or "press of the button".
    public var words: String
    /// The ids of the events that it belongs to.
    public var events: [String]

    /// Describes a trigger.
    public init(
        kind: TransportTriggerType, reason: TriggerActivationReason? = nil, words: String, events: [String] = []
    ) {
        self.kind = kind
        self.reason = reason
        self.words = words
        self.events = events
    }

    /// The trigger as a recording remembers it.
    public var recorded: RecordingSession.Trigger {
        let kind: RecordingSession.Trigger.Kind =
            switch kind {
            case .command, .unrecognized_: .command
            case .motion: .motion
            case .continuous: .continuous
            }
        return RecordingSession.Trigger(kind: kind, reason: words, events: events)
    }
}

/// Motion as a camera reports it.
public struct MotionSignal: Hashable, Sendable {
    /// The zone; nil for motion outside all zones, and for a camera that names none.
    public var zone: UInt16?
    /// How strong it is, from 1 to 10: a connection of sensitivity 10 takes all, one of 1 only the strongest. Nil for a camera
    /// that does not say, whose motion every connection takes.
    public var strength: UInt8?
    /// Distinguishes stays, so that the end of one is not the end of another; nil for a momentary signal, which has no end.
    public var stay: String?

    /// Describes motion.
    public init(zone: UInt16? = nil, strength: UInt8? = nil, stay: String? = nil) {
        self.zone = zone
        self.strength = strength
        self.stay = stay
    }
}

/// What a connection's options say about triggers.
public struct TriggerSettings: Hashable, Sendable {
    /// What begins a recording.
    public var type: TransportTriggerType
    /// The zones; nil or empty for motion anywhere.
    public var zones: [TransportZone]?
    /// How sensitive it is; nil takes all motion.
    public var sensitivity: UInt8?
    /// How long recordings last; nil if every command says it.
    public var time: TransportTimeControl?
    /// How much before the trigger belongs to the recording.
    public var preRoll: Duration

    /// Reads a connection's options.
    public init(_ options: TransportTriggerOptions) {
        type = options.triggerType
        zones = options.motionZones ?? nil
        sensitivity = options.motionSensitivity ?? nil
        time = options.motionTimeControl
        preRoll = .milliseconds(Int(options.maxPreRollLen ?? 0))
    }

    /// Whether motion is a trigger for the connection.
    func accept(_ motion: MotionSignal) -> Bool {
        guard type == .motion else { return false }
        var threshold = sensitivity
        if let zones, !zones.isEmpty {
            guard let zone = zones.first(where: { $0.zone == motion.zone }) else { return false }
            threshold = zone.sensitivity ?? threshold
        }
        guard let threshold, let strength = motion.strength else { return true }
        return strength > 10 - min(threshold, 10)
    }
}
