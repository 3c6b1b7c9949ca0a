import AutomationGraph
import HomeTypes

extension Engine {
    mutating func execute(_ id: String, _ principal: String, _ now: EngineTime) {
        guard let program = automations[id]?.program else { return }
        let trigger = Trigger(.manual, path: program.manualPath, principal: principal)
        fire(id, trigger, depth: 0, now)
    }

    /// Why a person cannot run an automation now.
    public enum RunRefusal: Sendable, Hashable {
        /// This version cannot run anything after its starters.
        case nothingToRun
        /// It is already running.
        case running
        /// It has run the maximum number of times.
        case exhausted
        /// The maximum number of runs is in progress.
        case tooManyRuns
        /// It has started too often in a short time.
        case startsTooOften
    }

    /// Why a person cannot run an automation now; nil if that is possible.
    public func refusalOfRun(_ automationID: String, at now: EngineTime) -> RunRefusal? {
        guard let automation = automations[automationID],
            automation.program.start(of: Trigger(.manual, path: automation.program.manualPath)) != nil
        else { return .nothingToRun }
        switch refusal(automation, true, 0, now) {
        case nil: return startsTooOften(automation, now) ? .startsTooOften : nil
        case .alreadyRunning?: return .running
        case .exhausted?: return .exhausted
        default: return .tooManyRuns
        }
    }

    private func startsTooOften(_ automation: Automation, _ now: EngineTime) -> Bool {
        automation.starts.count { $0 > now.uptime - limits.startWindow } >= limits.starts
    }

    /// A starter has fired. Begins a run, or records why not.
    mutating func fire(_ id: String, _ trigger: Trigger, depth: Int, isLate: Bool = false, _ now: EngineTime) {
        prepare(now)
        guard let automation = automations[id], let step = automation.program.start(of: trigger) else { return }
        let isManual = trigger.kind == .manual
        guard isManual || (automation.definition.isActive && !automation.state.isPaused) else { return }
        if let runID = automation.runID, !isManual { return triggerAgain(runID, trigger, now) }
        if let refusal = refusal(automation, isManual, depth, now) {
            return refuse(id, trigger, refusal, depth: depth, isLate: isLate, now)
        }
        if startsTooOften(automation, now) {
            // A person in a hurry gets an error, and does not pause what starts automatically.
            if isManual { return refuse(id, trigger, .limitReached, now) }
            return pause(id, trigger, depth, now)
        }
        automations[id]?.starts.removeAll { $0 <= now.uptime - limits.startWindow }
        automations[id]?.starts.append(now.uptime)
        begin(id, trigger, step, depth: depth, isLate: isLate, now)
    }

    private func refusal(_ automation: Automation, _ isManual: Bool, _ depth: Int, _ now: EngineTime) -> RunEnd? {
        if automation.runID != nil { return .alreadyRunning }
        if !isManual, let until = automation.suppressedUntil, until > now.uptime { return .suppressed }
        if let maximum = automation.definition.maxExecutionCount, automation.state.executionCount >= maximum {
            return .exhausted
        }
        if depth > limits.depth { return .loopCut }
        return runs.count >= limits.runs ? .limitReached : nil
    }

    /// Records a trigger that starts nothing. A device that triggers endlessly does not fill the store.
    mutating func refuse(
        _ id: String, _ trigger: Trigger, _ end: RunEnd, depth: Int = 0, isLate: Bool = false, _ now: EngineTime
    ) {
        let refusals = automations[id]?.refusals.filter { $0 > now.uptime - limits.startWindow } ?? []
        guard refusals.count < limits.starts else { return }
        automations[id]?.refusals = refusals + [now.uptime]
        let runID = mintRunID()
        let events: [RunEntry.Event] = [.began(trigger, depth: depth, isLate: isLate), .ended(end)]
        for (number, event) in events.enumerated() {
            let path = number == 0 ? trigger.path : ""
            emit(
                .record(
                    RunEntry(automationID: id, runID: runID, number: number, at: now.wall, path: path, event: event)))
        }
    }

    private mutating func pause(_ id: String, _ trigger: Trigger, _ depth: Int, _ now: EngineTime) {
        automations[id]?.refusals = []
        refuse(id, trigger, .loopCut, depth: depth, now)
        guard automations[id]?.state.isPaused == false else { return }
        automations[id]?.state.isPaused = true
        emitState(of: id)
        emit(.change(AutomationChange(automationID: id, at: now.wall, kind: .paused)))
        emit(.alarm(automationID: id, isOver: false))
    }

    private mutating func triggerAgain(_ runID: String, _ trigger: Trigger, _ now: EngineTime) {
        guard var run = runs[runID] else { return }
        run.triggerCount += 1
        if run.triggerCount <= limits.triggersRecorded { record(&run, 0, trigger.path, .triggeredAgain(trigger), now) }
        runs[runID] = run
    }

    private mutating func begin(
        _ id: String, _ trigger: Trigger, _ step: Int, depth: Int, isLate: Bool, _ now: EngineTime
    ) {
        guard let automation = automations[id] else { return }
        var run = Run(
            automationID: id, runID: mintRunID(), owner: automation.definition.owner, program: automation.program,
            trigger: trigger, depth: depth, startedAt: now.wall, lastsUntil: now.uptime + limits.runLength, step: step)
        let began = RunEntry.Event.began(trigger, depth: depth, isLate: isLate)
        record(&run, 0, trigger.path, began, graph: automation.program.hash, now)
        automations[id]?.runID = run.runID
        automations[id]?.state.executionCount = automation.state.executionCount &+ 1
        automations[id]?.state.runGraph = automation.program.hash
        emitState(of: id)
        for (number, reader) in run.program.readers.enumerated() where !reader.fields.isEmpty {
            switch reader.kind {
            case .event where reader.path == trigger.path: run.adopt(trigger.values, by: reader)
            case .attribute: read(&run, number, now)
            case .event, .state: break
            }
        }
        advance(run, now)
        if runs[run.runID] != nil {
            deadlines.insert(Deadline(at: run.lastsUntil, reason: .runLength(runID: run.runID)))
        }
    }

    /// Gives a run the current values of a starter or state reader.
    mutating func read(_ run: inout Run, _ number: Int, strand: Int = 0, _ now: EngineTime) {
        let reader = run.program.readers[number]
        let values = values(of: reader, now)
        run.adopt(values, by: reader)
        record(&run, strand, reader.path, .read(reference: reader.reference, values: values), now)
    }

    /// The values of a reader that expressions name, as they are now. Unknown ones are left out.
    func values(of reader: Program.Reader, _ now: EngineTime) -> [String: JSONObject.Value] {
        guard !reader.isInvalid, let all = values(of: reader.source, now) else { return [:] }
        var result: [String: JSONObject.Value] = [:]
        for field in reader.fields { if let value = all[field.name], value != .null { result[field.name] = value } }
        return result
    }

    private func values(of source: GraphTrait, _ now: EngineTime) -> [String: JSONObject.Value]? {
        if case .structure(let id) = source.entity, source.trait == Google.TimeTrait.name {
            return places[id]?.timeValues(at: now.wall)
        }
        return entities[source.entity.id]?.trait(source.trait, deviceType: source.deviceType)?.values
    }

    mutating func record(
        _ run: inout Run, _ strand: Int, _ path: String, _ event: RunEntry.Event, action: GraphAction? = nil,
        graph: UInt64? = nil, _ now: EngineTime
    ) {
        emit(
            .record(
                RunEntry(
                    automationID: run.automationID, runID: run.runID, number: run.nextNumber, at: now.wall,
                    strand: strand, path: path, event: event, action: action, graph: graph)))
        run.nextNumber += 1
    }
}
