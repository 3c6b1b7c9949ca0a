import HomeTypes

/// A run in progress.
struct Run: Sendable {
    /// What a strand does.
    enum Activity: Sendable, Hashable {
        /// It continues with its next step.
        case ready
        /// It waits until then, by the uptime.
        case delayed(until: Int64)
        /// Its condition must hold until then, by the uptime. `isUnsettled` until its values are known after a restart.
        case holding(until: Int64, isUnsettled: Bool)
        /// Its command has been sent, and has not ended yet.
        case sending(commandID: Int, since: Int64)
        /// Its command waits for the device.
        case deferred(commandID: Int, since: Int64, until: Int64)
        /// It waits for the strands that it began.
        case joining
    }

    /// One path through the graph.
    struct Strand: Sendable {
        var id: Int
        /// The strand that waits for this one; nil for the outermost flow.
        var parent: Int?
        /// Its step.
        var step: Int
        var activity = Activity.ready
        /// The number of the wait, so that the deadline of an earlier one does nothing.
        var token = 0
    }

    var automationID: String
    var runID: String
    var owner: String
    var program: Program
    var trigger: Trigger
    var depth: Int
    /// When it began, in milliseconds since 1970.
    var startedAt: Int64
    /// Until when it may last, by the uptime.
    var lastsUntil: Int64
    /// The number of its next entry.
    var nextNumber = 0
    var nextStrand = 1
    var nextCommand = 0
    var nextToken = 1
    /// The values that expressions name, as the record has them; nil for unknown ones.
    var values: [JSONObject.Value?]
    /// The same values, as expressions compare them.
    var operands: [RuntimeValue?]
    /// The strands that continue, in the order of their numbers.
    var strands: [Strand]
    /// The numbers of the starters whose values could not be read because of a restart.
    var unread: Set<Int> = []
    var hasFailed = false
    var isConditionFalse = false
    var commandCount = 0
    var refusedCount = 0
    /// How many triggers came while it was running.
    var triggerCount = 0

    init(
        automationID: String, runID: String, owner: String, program: Program, trigger: Trigger, depth: Int,
        startedAt: Int64,
        lastsUntil: Int64, step: Int
    ) {
        self.automationID = automationID
        self.runID = runID
        self.owner = owner
        self.program = program
        self.trigger = trigger
        self.depth = depth
        self.startedAt = startedAt
        self.lastsUntil = lastsUntil
        values = Array(repeating: nil, count: program.slotCount)
        operands = Array(repeating: nil, count: program.slotCount)
        strands = [Strand(id: 0, parent: nil, step: step)]
    }

    /// The place of a strand in ``strands``.
    func index(ofStrand id: Int) -> Int? { strands.firstIndex { $0.id == id } }

    /// Counts a command's outcome towards the end of the run.
    mutating func count(_ outcome: CommandOutcome) {
        commandCount += 1
        switch outcome {
        case .succeeded, .unknown: break
        case .failed: hasFailed = true
        case .notAuthorised:
            hasFailed = true
            refusedCount += 1
        }
    }

    /// How the run ends when all its strands have ended.
    var end: RunEnd {
        if commandCount > 0, refusedCount == commandCount { return .notAuthorised }
        if hasFailed { return .failed }
        return isConditionFalse ? .conditionFalse : .completed
    }

    /// Adopts values that a starter or reader has.
    mutating func adopt(_ read: [String: JSONObject.Value], by reader: Program.Reader) {
        for field in reader.fields {
            values[field.slot] = read[field.name]
            operands[field.slot] = read[field.name].flatMap { RuntimeValue($0) }
        }
    }
}
