/// What an endpoint looks like in SYNC, QUERY and report state.
extension CloudEndpoint {
    /// The cloud's type; nil for an endpoint that the cloud does not know.
    func cloudType(_ table: CloudTable) -> String? {
        types.lazy.compactMap { table.types[$0] }.first
    }

    /// The cloud's traits, each once.
    func cloudTraits(_ table: CloudTable) -> [String] {
        var names: [String] = []
        for (_, mapping) in mappings(of: table) where !names.contains(mapping.trait) { names.append(mapping.trait) }
        return names
    }

    /// The attributes of SYNC: the fixed ones, and those that follow from the state.
    func cloudAttributes(_ table: CloudTable) -> JSONValue {
        var attributes = JSONValue.object([:])
        for (trait, mapping) in mappings(of: table) {
            attributes.merge(.object(mapping.attributes ?? [:]))
            for output in mapping.computed ?? [] { write(output, of: trait, into: &attributes) }
        }
        return attributes
    }

    /// The states of QUERY and report state.
    public func cloudStates(_ table: CloudTable = .standard) -> JSONValue {
        var states = JSONValue.object(["online": .bool(isOnline)])
        guard isOnline else { return states }
        for (trait, mapping) in mappings(of: table) {
            for output in mapping.states ?? [] { write(output, of: trait, into: &states) }
        }
        return states
    }

    private func write(_ output: CloudMapping.Output, of trait: String, into message: inout JSONValue) {
        for condition in output.when ?? [] {
            guard let name = condition.attribute, condition.holds(for: attribute(name, of: trait)) else { return }
        }
        var value = output.value
        if let name = output.from, let ours = attribute(name, of: trait) {
            value = output.convert.map { $0.cloud(ours) } ?? ours
        }
        guard let value = value ?? output.otherwise else { return }
        let path = output.name.split(separator: ".")
        guard let item = output.item, let member = output.member else {
            message.set(value, at: path)
            return
        }
        // Items that differ only in their value become one item, which several outputs fill.
        var items: [JSONValue] = []
        if case .array(let known)? = message[path: output.name] { items = known }
        let index = items.firstIndex { known in
            guard case .object(let members) = known else { return false }
            return item.allSatisfy { members[$0.key] == $0.value }
        }
        var members = item
        if let index, case .object(let known) = items[index] { members = known }
        members[member] = value
        if let index {
            items[index] = .object(members)
        } else {
            items.append(.object(members))
        }
        message.set(.array(items), at: path)
    }
}
