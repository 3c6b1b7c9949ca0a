import AutomationGraph
import HomeTypes

extension Engine {
    mutating func handle(_ device: ObservedDevice, _ now: EngineTime) {
        let wasOnline = entities.updateOrInsert(device.id) { $0.adopt(device) }
        guard references[device.id] != nil else { return }
        handleChanges(of: device.id, now)
        if let entity = entities[device.id] { causes.follow(entity, of: device.id, limits, now) }
        if device.isOnline, !wasOnline, isSettled { sendDeferred(to: device.id, now) }
    }

    mutating func handle(_ structure: ObservedStructure, _ now: EngineTime) {
        let old = places.updateValue(structure.place, forKey: structure.id)
        let part = ObservedDevice.Part(endpoint: 0, types: [], traits: structure.traits)
        entities.updateOrInsert(structure.id) { $0.parts = [part] }
        handleChanges(of: structure.id, now)
        guard isSettled, old.map({ !$0.isSame(as: structure.place, at: now.wall) }) ?? true else { return }
        for id in automations.keys.sorted() where automations[id]?.definition.structureID == structure.id {
            if automations[id]?.schedules.isEmpty == false { look(id, now) }
        }
    }

    private mutating func handleChanges(of id: String, _ now: EngineTime) {
        guard let changes = entities.update(id, { $0.takeChanges() }) else { return }
        if !changes.isEmpty { prepare(now) }
        // What these starters send themselves comes after the change.
        let depth = causes.depth(ofChangeAt: id, now)
        for change in changes {
            for place in change.places {
                let path = automations[place.automationID]?.program.starters[place.number].path ?? ""
                let trigger = Trigger(
                    .attribute, path: path, entityID: id, trait: change.trait, values: change.values)
                fire(place.automationID, trigger, depth: depth, now)
            }
        }
        guard isSettled, let runIDs = holders[id] else { return }
        for runID in runIDs.sorted() { reconsider(runID, now) }
    }

    mutating func handle(_ event: ObservedEvent, _ places: [StarterPlace], depth: Int, _ now: EngineTime) {
        guard let entity = entities[event.entityID] else { return }
        for place in places {
            guard let program = automations[place.automationID]?.program else { continue }
            let starter = program.starters[place.number]
            guard case .event(_, let parameters) = starter.kind,
                entity.isEvent(from: event.endpoint, ofType: starter.source?.deviceType),
                // The end of a stay starts only what waits for it.
                event.fields["phase"] != .text("ended") || parameters.contains(where: { $0.name == "phase" }),
                parameters.allSatisfy({ $0.isMet(by: event.fields[$0.name]) })
            else { continue }
            let trigger = Trigger(
                .event, path: starter.path, entityID: event.entityID, trait: event.trait, event: event.event,
                values: event.fields)
            fire(place.automationID, trigger, depth: depth, now)
        }
    }

    mutating func removeDevice(_ id: String, _ now: EngineTime) {
        guard references[id] != nil else {
            entities.remove(id)
            return
        }
        prepare(now)
        entities.update(id) { $0.leave() }
        for runID in holders[id]?.sorted() ?? [] { reconsider(runID, now) }
        sendDeferred(to: id, now)
    }
}

extension Program.EventParameter {
    /// Whether a field has the value that a starter waits for.
    fileprivate func isMet(by field: JSONObject.Value?) -> Bool {
        guard let field, let value else { return field ?? .null == wanted }
        return RuntimeValue(field).flatMap { RuntimeValue.isEqual($0, value) } ?? false
    }
}

extension SchedulePlace {
    /// Whether another place has the same clock and the same sun, as far as two days of a year can tell.
    fileprivate func isSame(as other: SchedulePlace, at wall: Int64) -> Bool {
        let today = clock.date(at: Int(wall / 1000)).day
        return clock == other.clock
            && [today, today + 91].map(CivilDate.init(day:)).allSatisfy {
                sun(.sunrise, $0) == other.sun(.sunrise, $0) && sun(.sunset, $0) == other.sun(.sunset, $0)
            }
    }
}
