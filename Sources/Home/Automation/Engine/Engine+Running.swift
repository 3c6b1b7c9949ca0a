import AutomationGraph
import HomeTypes

extension Engine {
    /// Carries out all steps of a run that are possible now, and keeps the run if it then waits.
    ///
    /// A graph does not have loops, so this ends.
    mutating func advance(_ given: Run, _ now: EngineTime) {
        var run = given
        while let index = run.strands.firstIndex(where: { $0.activity == .ready }) {
            if !advance(&run, index, now) { return finish(run, run.end, now) }
        }
        runs[run.runID] = run
    }

    /// Carries out the next step of a strand.
    /// - Returns: false at the end of the outermost flow.
    private mutating func advance(_ run: inout Run, _ index: Int, _ now: EngineTime) -> Bool {
        let strand = run.strands[index]
        let step = run.program.steps[strand.step]
        switch step.operation {
        case .condition(let expression, let duration):
            let verdict = evaluate(expression, run)
            if verdict.holds, let duration {
                hold(&run, index, duration, now)
                return true
            }
            return decide(&run, index, verdict, seen: run, now)
        case .choose(let branches, let otherwise): choose(&run, index, branches, otherwise, now)
        case .read(let number):
            read(&run, number, strand: strand.id, now)
            run.strands[index].step += 1
        case .act(let number): act(&run, index, number, now)
        case .delay(let length):
            record(&run, strand.id, step.path, .delay(until: now.wall + length), now)
            wait(&run, index, .delayed(until: now.uptime + length), until: now.uptime + length)
        case .suppress(let length):
            record(&run, strand.id, step.path, .suppressed(until: now.wall + length), now)
            automations[run.automationID]?.suppressedUntil = now.uptime + length
            automations[run.automationID]?.state.suppressedUntil = now.wall + length
            emitState(of: run.automationID)
            run.strands[index].step += 1
        case .fork(let targets): fork(&run, index, targets, now)
        case .jump(let target): run.strands[index].step = target
        case .end: return endStrand(&run, index, now)
        }
        return true
    }

    /// Makes a strand wait.
    mutating func wait(_ run: inout Run, _ index: Int, _ activity: Run.Activity, until: Int64) {
        run.strands[index].activity = activity
        run.strands[index].token = run.nextToken
        run.nextToken += 1
        let reason = Deadline.Reason.strand(
            runID: run.runID, strand: run.strands[index].id, token: run.strands[index].token)
        deadlines.insert(Deadline(at: until, reason: reason))
    }

    private mutating func fork(_ run: inout Run, _ index: Int, _ targets: [Int], _ now: EngineTime) {
        let parent = run.strands[index]
        let ids = targets.indices.map { run.nextStrand + $0 }
        run.nextStrand += targets.count
        record(&run, parent.id, run.program.steps[parent.step].path, .forked(strands: ids), now)
        guard !targets.isEmpty else {
            run.strands[index].step += 1
            return
        }
        run.strands[index].activity = .joining
        run.strands += zip(ids, targets).map { Run.Strand(id: $0, parent: parent.id, step: $1) }
    }

    /// Ends a strand. The strand that waits continues after the last one has ended.
    /// - Returns: false for the outermost flow.
    mutating func endStrand(_ run: inout Run, _ index: Int, _ now: EngineTime) -> Bool {
        let strand = run.strands[index]
        guard let parent = strand.parent else { return false }
        record(&run, strand.id, "", .strandEnded, now)
        run.strands.remove(at: index)
        run.joinIfDone(parent)
        return true
    }

    private mutating func choose(
        _ run: inout Run, _ index: Int, _ branches: [Program.Branch], _ otherwise: Int, _ now: EngineTime
    ) {
        let strand = run.strands[index]
        let path = run.program.steps[strand.step].path
        var chosen: Program.Branch?
        for branch in branches where chosen == nil {
            if branch.name != "elseThen" {
                let verdict = evaluate(branch.condition, run)
                record(&run, strand.id, "\(path).\(branch.name)", event(verdict, branch.condition, run), now)
                guard verdict.holds else { continue }
            }
            chosen = branch
        }
        record(&run, strand.id, path, .chose(chosen?.name), now)
        run.strands[index].step = chosen?.target ?? otherwise
    }

    /// Continues after a wait.
    mutating func endWait(_ runID: String, _ strandID: Int, _ token: Int, _ now: EngineTime) {
        guard var run = runs[runID], let index = run.index(ofStrand: strandID), run.strands[index].token == token
        else { return }
        switch run.strands[index].activity {
        case .ready, .joining: return
        case .delayed:
            run.strands[index].activity = .ready
            run.strands[index].step += 1
        case .holding(let until, _):
            guard until <= now.uptime else { return reconsider(runID, now) }
            let seen = live(run, now)
            let verdict = evaluate(run.expression(of: index), seen)
            forgetHolding(run)
            run.strands[index].activity = .ready
            guard decide(&run, index, verdict, seen: seen, now) else { return finish(run, run.end, now) }
        case .sending(let commandID, let since):
            let problem = "the device did not answer in time; check whether it is reachable"
            endCommand(&run, index, commandID, since, .failed(code: "deadlineExceeded", message: problem), now)
        case .deferred(let commandID, let since, _):
            let problem = "the device stayed offline for as long as the action waits"
            forgetDeferral(run, index)
            // Other strands may wait longer for the same device.
            for other in run.strands.indices where other != index { rememberDeferral(run, other) }
            endCommand(&run, index, commandID, since, .failed(code: "unavailable", message: problem), now)
        }
        keepHolding(run)
        advance(run, now)
    }

    /// Ends a run from outside, whatever it is doing.
    mutating func end(_ runID: String, _ end: RunEnd, _ now: EngineTime) {
        if let run = runs[runID] { finish(run, end, now) }
    }

    private mutating func finish(_ given: Run, _ end: RunEnd, _ now: EngineTime) {
        var run = given
        record(&run, 0, "", .ended(end), now)
        runs[run.runID] = nil
        forgetHolding(run)
        for index in run.strands.indices { forgetDeferral(run, index) }
        forgetEntities(of: run)
        if automations[run.automationID]?.runID == run.runID { automations[run.automationID]?.runID = nil }
    }
}

extension Run {
    /// Continues a strand if it no longer has branches.
    mutating func joinIfDone(_ id: Int) {
        guard !strands.contains(where: { $0.parent == id }), let index = index(ofStrand: id) else { return }
        strands[index].activity = .ready
        strands[index].step += 1
    }

    /// The expression that a strand waits for.
    func expression(of index: Int) -> Int? {
        if case .condition(let expression, _) = program.steps[strands[index].step].operation { expression } else { nil }
    }
}
