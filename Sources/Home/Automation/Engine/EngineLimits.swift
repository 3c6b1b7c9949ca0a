/// The bounds of what the engine does. Times are in milliseconds.
public struct EngineLimits: Sendable, Hashable {
    /// The maximum number of automations. Further ones are refused.
    public var automations = 10_000
    /// The maximum number of runs at the same time.
    public var runs = 1_000
    /// How long a run may take.
    public var runLength: Int64 = 7 * 86_400_000
    /// How long a command may take before the run continues without its answer.
    public var commandAnswer: Int64 = 12_000
    /// The deadline that a command is sent with.
    public var commandTimeout: Int64 = 10_000
    /// How long a chain of runs may be in which the commands of one start the next.
    public var depth = 8
    /// How long after a command a change of its device is treated as its consequence.
    public var causeWindow: Int64 = 10_000
    /// How long a cover may move after a command has set it in motion.
    public var longestMovement: Int64 = 120_000
    /// How long a recording or detection may last so that its end still counts as a consequence of the command that
    /// began it.
    public var longestStay: Int64 = 86_400_000
    /// How often one automation may start within ``startWindow``.
    public var starts = 20
    /// The time in which starts are counted.
    public var startWindow: Int64 = 10_000
    /// How many entries one run may have for triggers that fire while it is in progress. Later ones are only counted.
    public var triggersRecorded = 100
    /// How often the wall clock is read while a schedule waits. Nothing reports that it was set.
    public var clockLook: Int64 = 30_000

    /// The standard limits.
    public init() {}
}
