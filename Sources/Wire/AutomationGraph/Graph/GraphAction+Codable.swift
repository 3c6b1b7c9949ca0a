import HomeTypes

extension GraphAction: Codable {
    private enum CodingKeys: String, CodingKey {
        case entity, deviceType, trait, command, parameters, update
        case deferral = "defer"
    }

    private enum EntityKeys: CodingKey { case device, structure }

    /// Reads the members that the node of an action has in a graph, without its type.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        let names = try members.nestedContainer(keyedBy: EntityKeys.self, forKey: .entity)
        let entity: GraphEntity
        if let device = try names.decodeIfPresent(String.self, forKey: .device) {
            entity = .device(device)
        } else {
            entity = .structure(try names.decode(String.self, forKey: .structure))
        }
        let target = GraphTrait(
            entity, deviceType: try members.decodeIfPresent(String.self, forKey: .deviceType),
            trait: try members.decode(String.self, forKey: .trait))
        let behaviour: Behaviour
        if let command = try members.decodeIfPresent(String.self, forKey: .command) {
            let parameters = try members.decodeIfPresent([String: JSONObject.Value].self, forKey: .parameters)
            behaviour = .command(command, parameters: parameters ?? [:])
        } else {
            behaviour = .update(try members.decode([String: JSONObject.Value].self, forKey: .update))
        }
        let deferral = try members.decodeIfPresent(Double.self, forKey: .deferral)
        guard deferral.map({ $0.magnitude < 1e12 }) ?? true else {
            throw DecodingError.dataCorruptedError(forKey: .deferral, in: members, debugDescription: "too many seconds")
        }
        self.init(target, behaviour, deferral: deferral.map { .seconds($0) })
    }

    /// Writes them.
    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        var names = members.nestedContainer(keyedBy: EntityKeys.self, forKey: .entity)
        switch target.entity {
        case .device(let id): try names.encode(id, forKey: .device)
        case .structure(let id): try names.encode(id, forKey: .structure)
        }
        try members.encodeIfPresent(target.deviceType, forKey: .deviceType)
        try members.encode(target.trait, forKey: .trait)
        switch behaviour {
        case .command(let name, let parameters):
            try members.encode(name, forKey: .command)
            if !parameters.isEmpty { try members.encode(parameters, forKey: .parameters) }
        case .update(let attributes): try members.encode(attributes, forKey: .update)
        }
        try members.encodeIfPresent(deferral.map { $0 / .seconds(1) }, forKey: .deferral)
    }
}
