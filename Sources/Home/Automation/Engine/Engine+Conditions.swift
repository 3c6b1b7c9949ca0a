import AutomationGraph
import HomeTypes

/// What a condition says, and why.
struct ConditionVerdict {
    var holds: Bool
    /// The values that it names.
    var operands: [String: JSONObject.Value]
    /// The name of the first that is missing.
    var missing: String?

    var event: RunEntry.Event { .condition(holds: holds, operands: operands, missing: missing) }
}

extension Engine {
    /// Evaluates a condition with the values that a run has read.
    func evaluate(_ expression: Int?, _ run: Run) -> ConditionVerdict {
        guard let expression else {
            return ConditionVerdict(holds: false, operands: [:], missing: "the condition, which is not valid")
        }
        let program = run.program.expressions[expression].program
        var operands: [String: JSONObject.Value] = [:]
        var values: [RuntimeValue?] = []
        for (slot, number) in zip(program.slots, run.program.expressions[expression].slots) {
            operands["\(slot.reference).\(slot.field)"] = run.values[number]
            values.append(run.values[number].flatMap { RuntimeValue($0) })
        }
        switch program.evaluate(values) {
        case .holds: return ConditionVerdict(holds: true, operands: operands, missing: nil)
        case .fails: return ConditionVerdict(holds: false, operands: operands, missing: nil)
        case .unknown(let missing):
            return ConditionVerdict(holds: false, operands: operands, missing: program.name(of: missing))
        }
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
    /// - Returns: false at the end of the outermost flow.
    mutating func decide(_ run: inout Run, _ index: Int, _ verdict: ConditionVerdict, _ now: EngineTime) -> Bool {
        let strand = run.strands[index]
        record(&run, strand.id, run.program.steps[strand.step].path, verdict.event, now)
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
        for strandID in run.strands.map(\.id) {
            guard let index = run.index(ofStrand: strandID),
                case .holding(let until, let isUnsettled) = run.strands[index].activity,
                case .condition(let expression, let duration?) = run.program.steps[run.strands[index].step].operation
            else { continue }
            let verdict = evaluate(expression, live(run, now))
            switch (verdict.holds, isUnsettled) {
            case (true, true): hold(&run, index, duration, now)
            case (false, true) where verdict.missing != nil: continue
            case (true, false):
                guard run.readsTime, until > now.uptime else { continue }
                wait(&run, index, run.strands[index].activity, until: min(until, now.uptime + Self.timeLook))
            case (false, _):
                forgetHolding(run)
                run.strands[index].activity = .ready
                guard decide(&run, index, verdict, now) else {
                    runs[runID] = run
                    end(runID, run.end, now)
                    return
                }
            }
        }
        keepHolding(run)
        advance(run, now)
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
