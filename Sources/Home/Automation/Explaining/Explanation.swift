import AutomationGraph

/// Explains why an automation ran or did not run.
public struct Explanation: Sendable {
    private let definition: AutomationDefinition
    private let runs: [[RunEntry]]
    private let changes: [AutomationChange]
    private let createdAt: Int64?
    private let words: RunText

    /// Collects what was recorded.
    /// - Parameters:
    ///   - definition: the automation as it is now.
    ///   - createdAt: when it was created, in milliseconds since 1970; nil if that is unknown.
    ///   - runs: the entries of its runs around the moment, in any order. The last run that began before the moment
    ///     must be among them.
    ///   - changes: when it was switched on and off, paused and released.
    ///   - words: writes the texts.
    public init(
        of definition: AutomationDefinition, createdAt: Int64? = nil, runs: [[RunEntry]],
        changes: [AutomationChange] = [], words: RunText
    ) {
        self.definition = definition
        self.createdAt = createdAt
        self.runs = runs.filter { !$0.isEmpty }.sorted { ($0.first?.at ?? 0) < ($1.first?.at ?? 0) }
        self.changes = changes.sorted { $0.at < $1.at }
        self.words = words
    }

    /// Explains what the automation did at a moment, in milliseconds since 1970.
    public func text(at moment: Int64) -> String {
        if let run = runs.last(where: { Self.covers($0, moment) }) { return text(of: run) }
        if let createdAt, moment < createdAt {
            return "\(name) did not run at \(words.time(moment)): it was created at \(words.time(createdAt))."
        }
        let causes = states(at: moment)
        var sentences =
            causes.isEmpty
            ? ["\(name) did not run at \(words.time(moment)): none of its starters fired."]
            : ["\(name) did not run at \(words.time(moment)).", causes.joined(separator: " ")]
        sentences += presentReasons
        if let last = runs.last(where: { ($0.first?.at ?? 0) <= moment }), let first = last.first {
            sentences.append("Before that, at \(words.time(first.at)): \(text(of: last))")
        } else {
            sentences.append("There is no record of an earlier run.")
        }
        return sentences.joined(separator: " ")
    }

    /// How far a moment may be from a run that ended immediately: people say minutes.
    private static let nearness: Int64 = 60_000

    private static func covers(_ run: [RunEntry], _ moment: Int64) -> Bool {
        guard let first = run.first, let last = run.last else { return false }
        let isOpen = if case .ended = last.event { false } else { true }
        return first.at - nearness <= moment && (isOpen || moment <= last.at + nearness)
    }

    private func text(of run: [RunEntry]) -> String {
        var sentences: [String] = []
        let end: RunEnd? = if case .ended(let end) = run.last?.event { end } else { nil }
        if case .began(let trigger, _, let isLate) = run.first?.event {
            let why = words.text(of: trigger)
            let moment = words.time(run.first?.at ?? 0)
            switch end {
            case .missed?, .suppressed?, .alreadyRunning?, .loopCut?, .limitReached?, .exhausted?:
                let what = end.map(RunText.text(of:)) ?? ""
                return "\(name) would have begun at \(moment) \(why). It \(what)."
            default: sentences.append("\(name) began\(isLate ? " late" : "") at \(moment) \(why).")
            }
        }
        let actions = SentActions(run)
        for entry in run.dropFirst() {
            switch entry.event {
            case .condition, .sent, .chose, .delay, .deferred, .holding:
                sentences.append(words.text(of: entry, actions))
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

    /// What prevented its starters from starting it at a moment, according to the records.
    private func states(at moment: Int64) -> [String] {
        var result: [String] = []
        let isOff = change(before: moment, .deactivated, .activated)
        if isOff.state ?? isOff.next ?? !definition.isActive {
            let since = isOff.since.map { " since \(words.time($0))" } ?? ""
            result.append("It was switched off\(since), so its starters did not start it.")
        }
        let isPaused = change(before: moment, .paused, .released)
        if isPaused.state == true || isPaused.state == nil && isPaused.next == true {
            let since = isPaused.since.map { " since \(words.time($0))" } ?? ""
            result.append("It was paused\(since), because it had started too often.")
        }
        return result
    }

    /// Which of two states it was in, by the last change before a moment or else by the first one after it.
    private func change(
        before moment: Int64, _ on: AutomationChange.Kind, _ off: AutomationChange.Kind
    ) -> (state: Bool?, next: Bool?, since: Int64?) {
        let all = changes.filter { $0.kind == on || $0.kind == off }
        let last = all.last { $0.at <= moment }
        // What switches it on later shows that it was off until then.
        let next = all.first { $0.at > moment }.map { $0.kind == off }
        return (last.map { $0.kind == on }, next, last?.at)
    }

    /// What prevents it from running now. Its graph and the home are not recorded.
    private var presentReasons: [String] {
        var result: [String] = []
        if !definition.graph.isUnderstood {
            result.append("It has nodes that this version of the gateway does not know, so it never runs.")
        }
        if !definition.invalidPaths.isEmpty {
            result.append(
                "Parts of it are not valid now: \(definition.invalidPaths.sorted().joined(separator: ", ")).")
        }
        return result
    }

    private var name: String { definition.name.isEmpty ? "The automation" : definition.name }
}
