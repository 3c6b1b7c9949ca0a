import AutomationGraph
import HomeTypes

/// What a condition says; nil for one that is not valid.
typealias ConditionVerdict = Verdict?

extension ConditionVerdict {
    var holds: Bool { self == Verdict.holds }

    /// Whether it is neither true nor false.
    var isUnknown: Bool {
        switch self {
        case .holds?, .fails?: false
        case .unknown?, nil: true
        }
    }
}

extension Engine {
    /// Evaluates a condition with the values that a run has read, without allocating memory.
    func evaluate(_ expression: Int?, _ run: Run) -> ConditionVerdict {
        guard let expression else { return nil }
        let found = run.program.expressions[expression]
        return found.program.evaluate(run.operands, at: found.slots)
    }

    /// What the record says of a condition: whether it holds, and with which values.
    func event(_ verdict: ConditionVerdict, _ expression: Int?, _ run: Run) -> RunEntry.Event {
        guard let verdict, let expression else {
            return .condition(holds: false, operands: [:], missing: "the condition, which is not valid")
        }
        let found = run.program.expressions[expression]
        var operands: [String: JSONObject.Value] = [:]
        for (name, slot) in zip(found.names, found.slots) { operands[name] = run.values[slot] }
        var missing: String?
        if case .unknown(let value) = verdict { missing = found.program.name(of: value) }
        return .condition(holds: verdict == .holds, operands: operands, missing: missing)
    }

    /// A run with the values that its starters and readers have now. Those of events stay.
    func live(_ run: Run, _ now: EngineTime) -> Run {
        var run = run
        for reader in run.program.readers where reader.kind != .event && !reader.fields.isEmpty {
            run.adopt(values(of: reader, now), by: reader)
        }
        return run
    }

    /// Goes on, or ends the strand.
    /// - Parameter seen: the run with the values that the condition was evaluated with.
    /// - Returns: false at the end of the outermost flow.
    mutating func decide(
        _ run: inout Run, _ index: Int, _ verdict: ConditionVerdict, seen: Run, _ now: EngineTime
    ) -> Bool {
        let strand = run.strands[index]
        let event = event(verdict, run.expression(of: index), seen)
        record(&run, strand.id, run.program.steps[strand.step].path, event, now)
        if verdict.holds {
            run.strands[index].step += 1
            return true
        }
        if strand.id == 0 { run.isConditionFalse = true }
        return endStrand(&run, index, now)
    }

    /// Lets a strand wait until its condition has held for a time.
    mutating func hold(
        _ run: inout Run, _ index: Int, _ duration: Int64, isUnsettled: Bool = false, _ now: EngineTime
    ) {
        let strand = run.strands[index]
        let path = run.program.steps[strand.step].path
        record(&run, strand.id, path, .holding(until: now.wall + duration), now)
        let until = now.uptime + duration
        // The time of day changes without being reported, so it is looked at now and then.
        let look = run.readsTime ? min(until, now.uptime + Self.timeLook) : until
        wait(&run, index, .holding(until: until, isUnsettled: isUnsettled), until: look)
        keepHolding(run)
    }

    private static let timeLook: Int64 = 30_000

    /// Looks again at the conditions of a run that must hold for a time.
    mutating func reconsider(_ runID: String, _ now: EngineTime) {
        guard var run = runs[runID] else { return }
        let seen = live(run, now)
        for strandID in run.strands.map(\.id) {
            guard let index = run.index(ofStrand: strandID),
                case .holding(let until, let isUnsettled) = run.strands[index].activity,
                case .condition(let expression, let duration?) = run.program.steps[run.strands[index].step].operation
            else { continue }
            let verdict = evaluate(expression, seen)
            switch (verdict.holds, isUnsettled) {
            case (true, true): hold(&run, index, duration, now)
            case (false, true) where verdict.isUnknown: lookAgain(&run, index, until: until, now)
            case (true, false): lookAgain(&run, index, until: until, now)
            case (false, _):
                forgetHolding(run)
                run.strands[index].activity = .ready
                guard decide(&run, index, verdict, seen: seen, now) else {
                    runs[runID] = run
                    end(runID, run.end, now)
                    return
                }
            }
        }
        keepHolding(run)
        advance(run, now)
    }

    /// Goes on with a wait. The deadline of a look at the time is over then.
    private mutating func lookAgain(_ run: inout Run, _ index: Int, until: Int64, _ now: EngineTime) {
        guard run.readsTime, until > now.uptime else { return }
        wait(&run, index, run.strands[index].activity, until: min(until, now.uptime + Self.timeLook))
    }

    /// Keeps in mind which entities a waiting condition reads.
    func entities(of run: Run) -> Set<String> {
        Set(run.program.readers.filter { $0.kind != .event && !$0.fields.isEmpty }.map(\.source.entity.id))
    }

    mutating func keepHolding(_ run: Run) {
        guard run.strands.contains(where: { if case .holding = $0.activity { true } else { false } }) else { return }
        for entity in entities(of: run) { holders[entity, default: []].insert(run.runID) }
    }

    mutating func forgetHolding(_ run: Run) {
        for entity in entities(of: run) {
            holders[entity]?.remove(run.runID)
            if holders[entity]?.isEmpty == true { holders[entity] = nil }
        }
    }
}

extension Run {
    /// Whether any expression names the time.
    fileprivate var readsTime: Bool {
        program.readers.contains { $0.source.trait == Google.TimeTrait.name && $0.kind == .state && !$0.fields.isEmpty }
    }
}
