import AutomationGraph
import HomeTypes

/// Describes runs, with the names that people use and the time of their clock.
public struct RunText: Sendable {
    let names: @Sendable (String) -> String
    private let clock: WallClock

    /// Creates the texts.
    /// - Parameters:
    ///   - clock: the wall clock of the home.
    ///   - names: what people call a device, structure or principal, by its identifier.
    public init(clock: WallClock, names: @escaping @Sendable (String) -> String) {
        self.clock = clock
        self.names = names
    }

    /// Why a run began, for example `because onOff of Lamp became true`.
    public func text(of trigger: Trigger) -> String {
        let entity = trigger.entityID.map(names) ?? "the home"
        switch trigger.kind {
        case .manual: return trigger.principal.map { "because \(names($0)) ran it" } ?? "because a person ran it"
        case .schedule:
            let moment = trigger.moment.map { " at \(time(Int64($0) * 1000))" } ?? ""
            return "because its schedule said so\(moment)"
        case .event: return "because \(entity) sent \(trigger.event ?? "an event")\(Self.values(trigger.values))"
        case .attribute:
            let changes = trigger.values.sorted { $0.key < $1.key }.map {
                "\($0.key) of \(entity) became \(Self.text($0.value))"
            }
            return "because \(changes.isEmpty ? "\(entity) changed" : changes.joined(separator: " and "))"
        }
    }

    /// An entry of a run as one sentence.
    /// - Parameter actions: what the run has sent.
    public func text(of entry: RunEntry, _ actions: SentActions) -> String {
        let action = actions.action(of: entry)
        switch entry.event {
        case .began(let trigger, let depth, let isLate):
            let late = isLate ? " late" : ""
            let chain = depth > 0 ? ", as a consequence of \(depth) run\(depth == 1 ? "" : "s") before it" : ""
            return "Began\(late) \(text(of: trigger))\(chain)."
        case .read(let reference, let values):
            return values.isEmpty
                ? "Read \(reference), which had no values." : "Read \(reference)\(Self.values(values))."
        case .condition(let holds, let operands, let missing):
            let known = Self.values(operands)
            if let missing { return "The condition does not hold: \(missing) is missing\(known)." }
            return "The condition \(holds ? "holds" : "does not hold")\(known)."
        case .holding(let until): return "Waits until \(time(until)) to see whether the condition keeps holding."
        case .chose(let flow):
            guard let flow else { return "None of the flows was chosen." }
            return "Chose the flow \(flow)."
        case .forked(let strands): return "Began \(strands.count) branches at the same time."
        case .delay(let until): return "Waits until \(time(until))."
        case .suppressed(let until): return "Ignores its starters until \(time(until))."
        case .sending: return "Sends \(text(of: action))."
        case .deferred(_, let until):
            return "The device is offline. \(Self.capitalized(text(of: action))) waits for it until \(time(until))."
        case .sent(_, let outcome, let milliseconds):
            return "\(Self.capitalized(text(of: action))) \(Self.text(of: outcome, milliseconds))."
        case .strandEnded: return "The branch ended."
        case .triggeredAgain(let trigger):
            return "Would have begun again \(text(of: trigger)); it was still running."
        case .ended(let end): return "\(Self.capitalized(Self.text(of: end)))."
        }
    }

    /// How a run ended, for example `stopped by a person`.
    public static func text(of end: RunEnd) -> String {
        switch end {
        case .completed: "ended normally"
        case .conditionFalse: "ended because a condition did not hold"
        case .stopped: "was stopped: by a person, or because the automation was switched off or deleted"
        case .failed: "ended with a failure: a command failed, or the run took too long"
        case .missed: "did not run, because its moment was too long ago when the gateway noticed it"
        case .suppressed: "did not run, because it ignored its starters at that time"
        case .alreadyRunning: "did not run, because it was still running"
        case .interrupted: "could not continue after a restart of the gateway, because the automation was changed"
        case .loopCut: "did not run, because automations started each other, or it started too often"
        case .notAuthorised: "ended, because its owner no longer has the right to any of its commands"
        case .limitReached: "did not run, because too many automations were running, or it had started too often"
        case .exhausted: "did not run, because it has run as often as it may"
        }
    }

    /// A value for a person.
    static func text(_ value: JSONObject.Value) -> String {
        switch value {
        case .null: "nothing"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .large(let value): "\(value)"
        case .number(let value): "\(value)"
        case .text(let value): value
        case .list(let items): "[\(items.map(text).joined(separator: ", "))]"
        case .object(let members):
            if case .time(let nanoseconds) = RuntimeValue(value) {
                clock(nanoseconds / 1_000_000_000)
            } else {
                "{\(members.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value))" }.joined(separator: ", "))}"
            }
        }
    }

    private static func clock(_ seconds: Int64) -> String {
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let rest = seconds % 60 == 0 ? "" : ":\(two(seconds % 60))"
        return "\(two(seconds / 3600)):\(two(seconds / 60 % 60))\(rest)"
    }

    private static func values(_ values: [String: JSONObject.Value]) -> String {
        guard !values.isEmpty else { return "" }
        return
            " (\(values.sorted { $0.key < $1.key }.map { "\($0.key) was \(text($0.value))" }.joined(separator: ", ")))"
    }

    /// A moment by the clock of the home, for example `2026-11-23 08:00:00`.
    func time(_ milliseconds: Int64) -> String {
        let seconds = Int((Double(milliseconds) / 1000).rounded(.down))
        let (year, month, day) = clock.date(at: seconds).parts
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let rest = clock.timeOfDay(at: seconds)
        return "\(year)-\(two(month))-\(two(day)) \(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))"
    }

    private func text(of action: GraphAction?) -> String {
        guard let action else { return "a command" }
        let entity = names(action.target.entity.id)
        return switch action.behaviour {
        case .command(let command, _): "the command \(command) to \(entity)"
        case .update(let attributes): "new values of \(attributes.keys.sorted().joined(separator: ", ")) to \(entity)"
        }
    }

    private static func text(of outcome: CommandOutcome, _ milliseconds: Int64) -> String {
        switch outcome {
        case .succeeded: "succeeded after \(milliseconds) ms"
        case .failed(let code, let message): "failed (\(code)): \(message)"
        case .notAuthorised(let message): "was refused, because the owner does not have the right to it: \(message)"
        case .unknown: "has an unknown outcome, because the gateway stopped in the meantime; it is not repeated"
        }
    }

    static func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}
