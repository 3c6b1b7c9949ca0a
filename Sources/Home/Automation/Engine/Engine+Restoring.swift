import AutomationGraph
import HomeTypes

extension Engine {
    /// Restores a run from before a restart.
    mutating func adopt(_ entries: [RunEntry], _ now: EngineTime) {
        guard let first = entries.first, let last = entries.last else { return }
        if case .ended = last.event { return }
        let end: RunEnd
        if let automation = automations[first.automationID] {
            let isSameGraph = automation.state.runGraph ?? automation.program.hash == automation.program.hash
            if automation.runID == nil, isSameGraph, var run = RunRecord(entries).run(automation, limits, now) {
                if let until = run.suppressedUntil, until > automation.state.suppressedUntil ?? .min {
                    automations[first.automationID]?.state.suppressedUntil = until
                    automations[first.automationID]?.suppressedUntil =
                        now.uptime + until.remaining(from: now.wall, atMost: Self.longestSuppression)
                }
                if let moment = run.run.trigger.moment {
                    let decided = automation.state.decidedUntil[run.run.trigger.path] ?? .min
                    automations[first.automationID]?.state.decidedUntil[run.run.trigger.path] = max(decided, moment)
                }
                run.run.owner = automation.definition.owner
                automations[first.automationID]?.runID = first.runID
                runs[first.runID] = run.run
                return
            }
            end = .interrupted
        } else {
            end = .stopped
        }
        emit(
            .record(
                RunEntry(
                    automationID: first.automationID, runID: first.runID, number: last.number + 1, at: now.wall,
                    event: .ended(end))))
    }

    /// Restores an automation from before a restart that had to wait. Its runs do not continue, because what they
    /// waited for is long past.
    /// - Parameter openRuns: the entries of each of its runs that has not ended, in their order.
    public mutating func takeUp(
        _ definition: AutomationDefinition, state: AutomationState, openRuns: [[RunEntry]], at now: EngineTime
    ) {
        guard automations[definition.id] == nil else { return define(definition, nil, now) }
        adopt(definition, state, now)
        for entries in openRuns {
            guard let last = entries.last else { continue }
            if case .ended = last.event { continue }
            emit(
                .record(
                    RunEntry(
                        automationID: last.automationID, runID: last.runID, number: last.number + 1, at: now.wall,
                        event: .ended(.interrupted))))
        }
        guard isSettled else { return }
        if state.isPaused { emit(.alarm(automationID: definition.id, isOver: false)) }
        look(definition.id, now)
    }

    /// Continues everything after a restart, now that the home is known.
    mutating func settle(_ now: EngineTime) {
        for id in automations.keys.sorted() where automations[id]?.state.isPaused == true {
            emit(.alarm(automationID: id, isOver: false))
        }
        for runID in runs.keys.sorted() {
            guard var run = runs[runID] else { continue }
            deadlines.insert(Deadline(at: run.lastsUntil, reason: .runLength(runID: runID)))
            for number in run.unread.sorted() { read(&run, number, now) }
            run.unread = []
            var isOver = false
            // A condition that does not hold ends its strand.
            for strand in run.strands.map(\.id) where !isOver {
                if let index = run.index(ofStrand: strand) { isOver = !settle(&run, index, now) }
            }
            runs[runID] = run
            if isOver { end(runID, run.end, now) } else { advance(run, now) }
        }
        for id in automations.keys.sorted() { look(id, now) }
    }

    /// Continues a strand.
    /// - Returns: false at the end of the outermost flow.
    private mutating func settle(_ run: inout Run, _ index: Int, _ now: EngineTime) -> Bool {
        switch run.strands[index].activity {
        case .ready, .joining: break
        case .delayed(let until): wait(&run, index, .delayed(until: until), until: until)
        case .sending(let commandID, let since): endCommand(&run, index, commandID, since, .unknown, now)
        case .holding:
            guard case .condition(let expression, let duration?) = run.program.steps[run.strands[index].step].operation
            else { break }
            let seen = live(run, now)
            let verdict = evaluate(expression, seen)
            guard verdict.holds || verdict.isUnknown else {
                run.strands[index].activity = .ready
                return decide(&run, index, verdict, seen: seen, now)
            }
            // Devices may report only later what they are.
            hold(&run, index, duration, isUnsettled: !verdict.holds, now)
        case .deferred(let commandID, let since, let until):
            deferCommand(&run, index, commandID, since, for: max(0, until - now.uptime), now)
            if let device = run.target(of: index), entities[device]?.isOnline == true, entities[device]?.parts != nil,
                case .act(let number) = run.program.steps[run.strands[index].step].operation
            {
                forgetDeferral(run, index)
                send(&run, index, commandID, run.program.actions[number].action, now)
            }
        }
        return true
    }
}

/// The record of a run that has not ended, from which it continues.
struct RunRecord {
    /// What was read from a record.
    struct Result {
        var run: Run
        /// Until when the run ignores the starters, in milliseconds since 1970.
        var suppressedUntil: Int64?
        /// The commands that were announced. None of them is sent again, whatever else the record says.
        var announced: Set<Int> = []
    }

    private let entries: [RunEntry]

    init(_ entries: [RunEntry]) { self.entries = entries }

    /// The run as it was; nil if the record does not fit the graph.
    func run(_ automation: Engine.Automation, _ limits: EngineLimits, _ now: EngineTime) -> Result? {
        guard let first = entries.first, case .began(let trigger, let depth, _) = first.event,
            let step = automation.program.start(of: trigger)
        else { return nil }
        let age = now.wall.remaining(from: first.at, atMost: limits.runLength)
        let length = limits.runLength - age
        var run = Run(
            automationID: first.automationID, runID: first.runID, owner: automation.definition.owner,
            program: automation.program, trigger: trigger, depth: depth, startedAt: first.at,
            lastsUntil: now.uptime + length, step: step)
        for reader in run.program.readers where reader.kind == .event && reader.path == trigger.path {
            run.adopt(trigger.values, by: reader)
        }
        run.unread = Set(
            run.program.readers.indices.filter {
                run.program.readers[$0].kind == .attribute && !run.program.readers[$0].fields.isEmpty
            })
        var result = Result(run: run)
        for (number, entry) in entries.enumerated() {
            guard entry.number == number, entry.runID == first.runID, number == 0 || apply(entry, &result, now) else {
                return nil
            }
        }
        result.run.nextNumber = entries.count
        return result
    }

    /// Applies an entry.
    /// - Returns: false if it does not fit.
    private func apply(_ entry: RunEntry, _ result: inout Result, _ now: EngineTime) -> Bool {
        if case .triggeredAgain = entry.event {
            result.run.triggerCount += 1
            return true
        }
        guard let index = result.run.index(ofStrand: entry.strand), entry.event.hasOrdinaryNumbers else { return false }
        if case .strandEnded = entry.event {
            guard let parent = result.run.strands[index].parent else { return false }
            result.run.strands.remove(at: index)
            result.run.joinIfDone(parent)
            return true
        }
        if case .read(let reference, let values) = entry.event {
            for (number, reader) in result.run.program.readers.enumerated()
            where reader.reference == reference && reader.path == entry.path {
                result.run.adopt(values, by: reader)
                result.run.unread.remove(number)
                if reader.kind != .state { return true }
            }
        }
        guard let step = result.run.program.step(at: entry.path) else {
            // A condition of a choice decides nothing by itself.
            if case .condition = entry.event { return true }
            return false
        }
        result.run.strands[index].step = step
        return apply(entry.event, at: result.run.program.steps[step].operation, index, &result, now)
    }

    private func apply(
        _ event: RunEntry.Event, at operation: Program.Operation, _ index: Int, _ result: inout Result,
        _ now: EngineTime
    ) -> Bool {
        func remaining(_ until: Int64, _ length: Int64) -> Int64 {
            now.uptime + until.remaining(from: now.wall, atMost: length)
        }
        func go(to step: Int) -> Bool {
            result.run.strands[index].step = step
            result.run.strands[index].activity = .ready
            return true
        }
        let next = result.run.strands[index].step + 1
        switch (event, operation) {
        case (.read, .read): return go(to: next)
        case (.condition(let holds, _, _), .condition):
            if holds { return go(to: next) }
            if result.run.strands[index].id == 0 { result.run.isConditionFalse = true }
            return go(to: result.run.program.steps.count - 1)
        case (.holding, .condition):
            result.run.strands[index].activity = .holding(until: 0, isUnsettled: true)
        case (.chose(let name), .choose(let branches, let otherwise)):
            guard let name else { return go(to: otherwise) }
            guard let branch = branches.first(where: { $0.name == name }) else { return false }
            return go(to: branch.target)
        case (.forked(let ids), .fork(let targets)):
            guard ids.count == targets.count else { return false }
            guard !ids.isEmpty else { return go(to: next) }
            let parent = result.run.strands[index].id
            result.run.strands[index].activity = .joining
            result.run.strands += zip(ids, targets).map { Run.Strand(id: $0, parent: parent, step: $1) }
            result.run.nextStrand = max(result.run.nextStrand, (ids.max() ?? 0) + 1)
        case (.delay(let until), .delay(let length)):
            result.run.strands[index].activity = .delayed(until: remaining(until, length))
        case (.suppressed(let until), .suppress):
            result.suppressedUntil = until
            return go(to: next)
        case (.sending(let commandID), .act):
            guard result.announced.insert(commandID).inserted else { return false }
            result.run.nextCommand = max(result.run.nextCommand, commandID + 1)
            result.run.strands[index].activity = .sending(commandID: commandID, since: now.uptime)
        case (.deferred(let commandID, let until), .act(let number)):
            guard !result.announced.contains(commandID) else { return false }
            let length = result.run.program.actions[number].action.deferral?.wholeMilliseconds ?? 0
            result.run.nextCommand = max(result.run.nextCommand, commandID + 1)
            result.run.strands[index].activity = .deferred(
                commandID: commandID, since: now.uptime, until: remaining(until, max(0, length)))
        case (.sent(let commandID, let outcome, _), .act):
            result.run.nextCommand = max(result.run.nextCommand, commandID + 1)
            result.run.count(outcome)
            return go(to: next)
        default: return false
        }
        return true
    }
}

extension Int64 {
    /// How long it is from a moment to this one: zero if it is over, and never more than the given length.
    func remaining(from moment: Int64, atMost length: Int64) -> Int64 {
        let (difference, isOverflow) = subtractingReportingOverflow(moment)
        if isOverflow { return self > moment ? length : 0 }
        return Swift.min(Swift.max(0, difference), length)
    }
}

extension RunEntry.Event {
    /// Whether the numbers of strands and commands can be those of a run.
    fileprivate var hasOrdinaryNumbers: Bool {
        let range = 0..<1_000_000
        return switch self {
        case .forked(let strands): strands.allSatisfy(range.contains) && Set(strands).count == strands.count
        case .sending(let id), .deferred(let id, _), .sent(let id, _, _): range.contains(id)
        default: true
        }
    }
}
