import AutomationGraph

/// Says why an automation ran or did not run.
public enum Explanation {
    /// Explains what an automation did at a moment, from what was recorded.
    /// - Parameters:
    ///   - at: the moment, in milliseconds since 1970.
    ///   - definition: the automation as it is now.
    ///   - runs: the entries of its runs around the moment, in any order. The last run that began before it has to be among
    ///     them.
    ///   - names: what people call a device, structure or principal, by its identifier.
    public static func text(
        at: Int64, definition: AutomationDefinition, runs: [[RunEntry]], names: (String) -> String
    ) -> String {
        let sorted = runs.filter { !$0.isEmpty }.sorted { ($0.first?.at ?? 0) < ($1.first?.at ?? 0) }
        if let run = sorted.last(where: { covers($0, at) }) { return text(of: run, definition, names) }
        var sentences = ["\(name(definition)) did not run at \(RunText.time(at)): none of its starters fired."]
        sentences += reasons(definition)
        if let last = sorted.last(where: { ($0.first?.at ?? 0) <= at }), let first = last.first {
            sentences.append("Before that, at \(RunText.time(first.at)): \(text(of: last, definition, names))")
        } else {
            sentences.append("There is no record of an earlier run.")
        }
        return sentences.joined(separator: " ")
    }

    /// How far a moment may be from a run that ended at once: people say minutes.
    private static let nearness: Int64 = 60_000

    private static func covers(_ run: [RunEntry], _ at: Int64) -> Bool {
        guard let first = run.first, let last = run.last else { return false }
        let isOpen = if case .ended = last.event { false } else { true }
        return first.at - nearness <= at && (isOpen || at <= last.at + nearness)
    }

    private static func text(
        of run: [RunEntry], _ definition: AutomationDefinition, _ names: (String) -> String
    ) -> String {
        var sentences: [String] = []
        let end: RunEnd? = if case .ended(let end) = run.last?.event { end } else { nil }
        if case .began(let trigger, _, let isLate) = run.first?.event {
            let why = RunText.text(of: trigger, names: names)
            let moment = RunText.time(run.first?.at ?? 0)
            switch end {
            case .missed?, .suppressed?, .alreadyRunning?, .loopCut?, .limitReached?, .exhausted?:
                let what = end.map(RunText.text(of:)) ?? ""
                return "\(name(definition)) would have begun at \(moment) \(why). It \(what)."
            default: sentences.append("\(name(definition)) began\(isLate ? " late" : "") at \(moment) \(why).")
            }
        }
        for entry in run.dropFirst() {
            switch entry.event {
            case .condition, .sent, .chose, .delay, .deferred, .holding:
                sentences.append(RunText.text(of: entry, definition: definition, names: names))
            default: break
            }
        }
        let again = run.count { if case .triggeredAgain = $0.event { true } else { false } }
        if again > 0 {
            sentences.append(
                "Its starters fired \(again) more time\(again == 1 ? "" : "s") while it was running; that started nothing."
            )
        }
        sentences.append(end.map { "It \(RunText.text(of: $0))." } ?? "It is still running.")
        return sentences.joined(separator: " ")
    }

    /// What keeps the automation from running now.
    private static func reasons(_ definition: AutomationDefinition) -> [String] {
        var result: [String] = []
        if !definition.isActive { result.append("It is switched off, so its starters do not start it.") }
        if !definition.graph.isUnderstood {
            result.append("It has nodes that this version of the gateway does not know, so it never runs.")
        }
        if !definition.invalidPaths.isEmpty {
            result.append("Parts of it are not valid: \(definition.invalidPaths.sorted().joined(separator: ", ")).")
        }
        return result
    }

    private static func name(_ definition: AutomationDefinition) -> String {
        definition.name.isEmpty ? "The automation" : definition.name
    }
}
