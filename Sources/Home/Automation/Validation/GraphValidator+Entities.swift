import AutomationGraph
import HomeTypes

extension GraphValidator {
    /// A trait that an entity has, and its state.
    struct Found {
        var trait: any Trait.Type
        /// The state; nil if there is none, as for a structure in this check and for a camera's detections.
        var state: (any Trait)?
        /// The types of the parts of a device that have it.
        var types: [String] = []
    }

    /// Finds a trait of an entity, or reports why it is missing.
    mutating func find(_ source: GraphTrait, _ path: String) -> Found? {
        guard let trait = Vocabulary.trait(named: source.trait) else {
            report(path, .invalidTrait(id: source.trait))
            _ = device(of: source, path)
            return nil
        }
        guard case .device(let id) = source.entity else {
            guard source.entity.id == home.structureID else {
                report(path, .invalidEntity(id: source.entity.id))
                return nil
            }
            if home.structureTraits.contains(trait.name) { return Found(trait: trait) }
            report(path, .unsupportedEntityTrait(id: trait.name, entityID: source.entity.id))
            return nil
        }
        guard let device = device(of: source, path), let parts = parts(of: device, id, source, path) else { return nil }
        let having = parts.filter { $0.traits[trait.name] != nil }
        if let part = having.first {
            return Found(trait: trait, state: part.traits[trait.name], types: having.flatMap(\.types))
        }
        if device.statelessTraits.contains(trait.name) { return Found(trait: trait) }
        report(path, .unsupportedEntityTrait(id: trait.name, entityID: id, entityType: source.deviceType))
        return nil
    }

    private mutating func device(of source: GraphTrait, _ path: String) -> ValidationHome.Device? {
        guard case .device(let id) = source.entity else { return nil }
        guard let device = home.devices[id] else {
            report(path, .invalidEntity(id: id))
            return nil
        }
        if device.daysOffline >= ValidationHome.Device.longAbsence {
            report(path, .offlineDevice(entityID: id, days: device.daysOffline), .warning)
        }
        return device
    }

    /// The parts of a device that have a type; nil after reporting that none has it.
    private mutating func parts(
        of device: ValidationHome.Device, _ id: String, _ source: GraphTrait, _ path: String
    ) -> [ValidationHome.Device.Part]? {
        guard let wanted = source.deviceType else { return device.parts }
        let type = Vocabulary.deviceType(named: wanted)
        let parts = device.parts.filter { part in
            part.types.contains { name in
                name == wanted
                    || type.map { type in Vocabulary.deviceType(named: name)?.isKind(of: type) ?? false } ?? false
            }
        }
        guard parts.isEmpty else { return parts }
        let types = device.parts.flatMap(\.types).filter { Vocabulary.deviceType(named: $0)?.isUtilityType != true }
        report(path, .unsupportedEntityType(entityType: wanted, entityID: id, supportedTypes: types))
        return nil
    }

    /// Makes a node available to the expressions after it.
    private mutating func declare(_ name: String, _ source: Source, _ path: String, _ scope: inout Scope) {
        if !names.insert(name).inserted { report(path, .duplicateStarterNode(reference: name)) }
        scope[name] = source
    }

    mutating func validateReader(_ reader: GraphReader, _ path: String, _ scope: inout Scope) {
        let found = find(reader.source, path)
        // A trait that the vocabulary knows has these attributes, even if the device is wrong.
        let trait = found?.trait ?? Vocabulary.trait(named: reader.source.trait)
        declare(reader.id, .fields(trait.map { Schema.attributes(of: $0) } ?? []), path, &scope)
    }

    mutating func validateStarter(_ node: GraphNode, _ path: String, _ scope: inout Scope) {
        switch node {
        case .attributeStarter(let reader):
            let before = issues.count
            validateReader(reader, path, &scope)
            guard issues.count == before, let trait = Vocabulary.trait(named: reader.source.trait) else { return }
            let own = Schema.attributes(of: trait).filter { !Schema.globalAttributes.contains($0.name) }
            // The time of a structure is computed when somebody reads it.
            if own.isEmpty || trait.name == Google.TimeTrait.name {
                report(path, .starterWithoutChanges(entityID: reader.source.entity.id, trait: trait.name))
            }
        case .eventStarter(let starter):
            var fields: [FieldSchema] = []
            if let found = find(starter.source, path) {
                if let event = Vocabulary.event(named: starter.event, of: found.trait) {
                    fields = Schema.fields(of: event)
                    if let state = found.state, !SentEvents.includes(event.name, of: state) {
                        let source = starter.source
                        report(
                            path,
                            .unsupportedEntityEvent(
                                id: event.name, entityID: source.entity.id, entityType: source.deviceType))
                    }
                    validateEvent(event, starter, path)
                } else {
                    report(path, .invalidEvent(id: starter.event, trait: found.trait.name))
                }
            }
            declare(starter.id, fields.isEmpty ? .nothing(nodeType: "eventStarter") : .fields(fields), path, &scope)
        default: break
        }
    }
}
