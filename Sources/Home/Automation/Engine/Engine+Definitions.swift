import AutomationGraph
import HomeTypes

extension Engine {
    /// Takes an automation from before a restart.
    mutating func adopt(_ definition: AutomationDefinition, _ state: AutomationState, _ now: EngineTime) {
        guard automations.count < limits.automations, automations[definition.id] == nil else { return }
        let program = Program(definition.graph, invalidPaths: definition.invalidPaths)
        var automation = Automation(definition: definition, program: program, state: state)
        if let until = state.suppressedUntil {
            // Whatever the wall clock did in the meantime, starters are never ignored for longer than a suppression can
            // last.
            let remaining = until.remaining(from: now.wall, atMost: Self.longestSuppression)
            if remaining > 0 { automation.suppressedUntil = now.uptime + remaining }
        }
        automation.schedules = schedules(of: automation, now)
        automations[definition.id] = automation
        attach(automation)
    }

    /// A day is the longest suppression that validation takes.
    static let longestSuppression: Int64 = 86_400_000

    /// - Parameter kept: what is known of an automation that was not run for a while; nil for a new one.
    mutating func define(_ definition: AutomationDefinition, _ kept: AutomationState?, _ now: EngineTime) {
        guard var automation = automations[definition.id] else {
            guard automations.count < limits.automations else { return }
            if let kept { return resume(definition, kept, now) }
            adopt(definition, AutomationState(), now)
            record(definition.isActive ? .activated : .deactivated, of: definition.id, now)
            decideSchedules(of: definition.id, from: AutomationState(), now)
            return
        }
        let old = automation.definition
        let oldState = automation.state
        let isChanged = old.graph != definition.graph || old.invalidPaths != definition.invalidPaths
        let restarts = isChanged || old.isActive != definition.isActive || old.structureID != definition.structureID
        if isChanged { keepEntities(ofRunOf: automation) }
        if restarts { detach(automation) }
        automation.definition = definition
        if isChanged { automation.program = Program(definition.graph, invalidPaths: definition.invalidPaths) }
        if restarts { automation.state.decidedUntil = [:] }
        if restarts || old.graceSeconds != definition.graceSeconds {
            automation.schedules = schedules(of: automation, now)
        }
        automations[definition.id] = automation
        if restarts {
            attach(automation)
            decideSchedules(of: definition.id, from: oldState, now)
        } else {
            if isSettled { look(definition.id, now) }
        }
        if old.isActive != definition.isActive {
            record(definition.isActive ? .activated : .deactivated, of: definition.id, now)
        }
        if old.isActive, !definition.isActive, let runID = automation.runID { end(runID, .stopped, now) }
    }

    /// Runs an automation again that was not run for a while. Its count goes on, and its schedules take effect now: its graph
    /// may be another one by now, and nobody expects what was due in the meantime.
    private mutating func resume(_ definition: AutomationDefinition, _ kept: AutomationState, _ now: EngineTime) {
        var state = kept
        state.decidedUntil = [:]
        adopt(definition, state, now)
        record(definition.isActive ? .activated : .deactivated, of: definition.id, now)
        if isSettled, state.isPaused { emit(.alarm(automationID: definition.id, isOver: false)) }
        decideSchedules(of: definition.id, from: kept, now)
    }

    mutating func remove(_ id: String, _ now: EngineTime) {
        if let runID = automations[id]?.runID { end(runID, .stopped, now) }
        guard let automation = automations.removeValue(forKey: id) else { return }
        detach(automation)
        if automation.state.isPaused { emit(.alarm(automationID: id, isOver: true)) }
    }

    private mutating func record(
        _ kind: AutomationChange.Kind, of id: String, by principal: String? = nil, _ now: EngineTime
    ) {
        emit(.change(AutomationChange(automationID: id, at: now.wall, kind: kind, principal: principal)))
    }

    mutating func release(_ id: String, _ principal: String, _ now: EngineTime) {
        guard automations[id]?.state.isPaused == true else { return }
        automations[id]?.state.isPaused = false
        automations[id]?.starts = []
        emitState(of: id)
        record(.released, of: id, by: principal, now)
        emit(.alarm(automationID: id, isOver: true))
    }

    private mutating func attach(_ automation: Automation) {
        for entity in automation.program.entities { references[entity, default: 0] += 1 }
        guard automation.definition.isActive else { return }
        for (number, starter) in automation.program.starters.enumerated() {
            guard let source = starter.source else { continue }
            let place = StarterPlace(automationID: automation.definition.id, number: number)
            entities.updateOrInsert(source.entity.id) { entity in
                switch starter.kind {
                case .attribute: entity.add(place, source)
                case .event(let event, _):
                    entity.events[.init(trait: source.trait, event: event), default: []].append(place)
                case .schedule, .manual: break
                }
            }
        }
    }

    private mutating func detach(_ automation: Automation) {
        for id in automation.program.entities {
            entities.update(id) { $0.removePlaces(of: automation.definition.id) }
            release(id)
        }
    }

    /// Lets a run hear of its devices until it ends, although its automation gets another graph.
    private mutating func keepEntities(ofRunOf automation: Automation) {
        guard let run = automation.runID.flatMap({ runs[$0] }), replaced[run.runID] == nil else { return }
        replaced[run.runID] = run.program.entities
        for id in run.program.entities { references[id, default: 0] += 1 }
    }

    /// Releases what a run named whose graph was replaced.
    mutating func forgetEntities(of run: Run) {
        for id in replaced.removeValue(forKey: run.runID) ?? [] { release(id) }
    }

    private mutating func release(_ id: String) {
        let count = (references[id] ?? 1) - 1
        references[id] = count > 0 ? count : nil
        if count <= 0, let entity = entities[id], entity.parts == nil { entities.remove(id) }
    }
}

extension EntityState {
    /// Lets a starter wait for changes of a trait.
    fileprivate mutating func add(_ place: StarterPlace, _ source: GraphTrait) {
        if let index = watches.firstIndex(where: { $0.trait == source.trait && $0.deviceType == source.deviceType }) {
            watches[index].starters.append(place)
            return
        }
        watches.append(Watch(trait: source.trait, deviceType: source.deviceType, starters: [place]))
        // What is there now is not a change.
        _ = takeChanges()
    }

    fileprivate mutating func removePlaces(of automationID: String) {
        for index in watches.indices { watches[index].starters.removeAll { $0.automationID == automationID } }
        watches.removeAll(where: \.starters.isEmpty)
        for name in events.keys { events[name]?.removeAll { $0.automationID == automationID } }
        events = events.filter { !$0.value.isEmpty }
    }
}
