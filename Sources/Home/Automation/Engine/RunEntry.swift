import AutomationGraph
import HomeTypes

/// One line of the record of a run. The record is written while the run is in progress. It is enough to continue the
/// run after a restart, to show it and to explain it.
public struct RunEntry: Sendable, Hashable, Codable {
    /// The automation.
    public var automationID: String
    /// The run.
    public var runID: String
    /// Counts the entries of the run from 0.
    public var number: Int
    /// When it was, in milliseconds since 1970.
    public var at: Int64
    /// Which branch of the run it is about: 0 for the outermost flow.
    public var strand: Int
    /// The place of the node, for example `automationGraph.nodes[2].nodes[0]`; empty for the run as a whole.
    public var path: String
    /// What happened.
    public var event: Event
    /// What is sent, in the first entry of a command. The graph may have changed by the time somebody reads the record.
    public var action: GraphAction?
    /// Distinguishes the graph of the run from later ones, in its first entry.
    public var graph: UInt64?

    /// What happened in a run.
    public enum Event: Sendable, Hashable, Codable {
        /// It began. `depth` counts the runs that led to it by their commands, from 0. `isLate` is for a schedule.
        case began(Trigger, depth: Int, isLate: Bool)
        /// A starter or state reader has these values.
        case read(reference: String, values: [String: JSONObject.Value])
        /// A condition was evaluated. `operands` has the values that it names, `missing` the name of the first unknown one.
        case condition(holds: Bool, operands: [String: JSONObject.Value], missing: String?)
        /// A condition has to hold until then, in milliseconds since 1970.
        case holding(until: Int64)
        /// A choice has taken a flow, for example `elseIfThens[0]`; nil if it took none.
        case chose(String?)
        /// A parallel flow began these strands.
        case forked(strands: [Int])
        /// It waits until then, in milliseconds since 1970.
        case delay(until: Int64)
        /// The starters are ignored until then, in milliseconds since 1970.
        case suppressed(until: Int64)
        /// A command is about to be sent. It is not sent again, whatever happens.
        case sending(commandID: Int)
        /// A command waits for its device until then, in milliseconds since 1970.
        case deferred(commandID: Int, until: Int64)
        /// A command has ended, this many milliseconds after it was sent or began to wait for its device.
        case sent(commandID: Int, CommandOutcome, milliseconds: Int64)
        /// The strand has ended.
        case strandEnded
        /// A starter fired while the run was in progress. It is counted, and starts nothing.
        case triggeredAgain(Trigger)
        /// The run is over.
        case ended(RunEnd)
    }

    /// Describes an entry.
    public init(
        automationID: String, runID: String, number: Int, at: Int64, strand: Int = 0, path: String = "", event: Event,
        action: GraphAction? = nil, graph: UInt64? = nil
    ) {
        self.automationID = automationID
        self.runID = runID
        self.number = number
        self.at = at
        self.strand = strand
        self.path = path
        self.event = event
        self.action = action
        self.graph = graph
    }
}

/// Why a run began, or would have.
public struct Trigger: Sendable, Hashable, Codable {
    /// The kinds of starters.
    public enum Kind: String, Sendable, Hashable, Codable {
        case attribute, event, schedule, manual
    }

    /// The kind.
    public var kind: Kind
    /// The place of the starter; empty if a person ran an automation that has no manual starter.
    public var path: String
    /// The device or structure; nil for a person.
    public var entityID: String?
    /// The name of the trait; nil for a person.
    public var trait: String?
    /// The name of the event; nil for attributes and persons.
    public var event: String?
    /// The values that changed, or the fields of the event.
    public var values: [String: JSONObject.Value]
    /// The principal who ran it; nil for everything else.
    public var principal: String?
    /// The moment that a schedule names, in seconds since 1970; nil for everything else.
    public var moment: Int?

    /// Describes a trigger.
    public init(
        _ kind: Kind, path: String, entityID: String? = nil, trait: String? = nil, event: String? = nil,
        values: [String: JSONObject.Value] = [:], principal: String? = nil, moment: Int? = nil
    ) {
        self.kind = kind
        self.path = path
        self.entityID = entityID
        self.trait = trait
        self.event = event
        self.values = values
        self.principal = principal
        self.moment = moment
    }
}

/// How a run ended. A trigger that did not start a run has a record of two entries: `began`, and `ended` with the
/// reason.
public enum RunEnd: String, Sendable, Hashable, Codable, CaseIterable {
    /// All its nodes were done.
    case completed
    /// A condition did not hold.
    case conditionFalse
    /// A person stopped it, or the automation was deactivated or deleted.
    case stopped
    /// A command failed, or a limit was reached.
    case failed
    /// A moment of the schedule was too long ago.
    case missed
    /// The starters were ignored at that time.
    case suppressed
    /// Another run of the automation was in progress.
    case alreadyRunning
    /// The gateway cannot continue it, because its graph has changed or its record cannot be read.
    case interrupted
    /// Commands and starters made a chain that was too long, or the automation started too often.
    case loopCut
    /// The owner no longer has the right to any of its commands.
    case notAuthorised
    /// Too many runs were in progress.
    case limitReached
    /// It has run the maximum number of times.
    case exhausted
}
