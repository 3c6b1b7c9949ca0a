import HomeTypes

extension GraphReading {
    /// The members that a node of each type may have. A node with another one comes from a later version.
    static let members: [String: Set<String>] = [
        "sequential": ["nodes"], "parallel": ["nodes"], "select": ["nodes"],
        "attributeStarter": ["id", "entity", "deviceType", "trait"],
        "stateReader": ["id", "entity", "deviceType", "trait"],
        "eventStarter": ["id", "entity", "deviceType", "trait", "event", "parameters"],
        "manualStarter": [], "condition": ["expression", "for"], "if": ["ifThen", "elseIfThens", "elseThen"],
        "action": ["entity", "deviceType", "trait", "command", "parameters", "update", "defer"],
        "delay": ["for"], "suppress": ["for"],
    ]

    /// Whether an object has other members than these.
    private func hasOther(than names: Set<String>, _ tree: JSONTree) -> Bool {
        tree.members?.contains { !names.contains($0.name) } ?? false
    }

    func node(_ tree: JSONTree, _ path: String, depth: Int) throws(GraphError) -> GraphNode {
        guard tree.members != nil else { throw malformed(path, "must be an object") }
        let type = try text(tree, "type", path)
        guard let known = Self.members[type], !hasOther(than: known.union(["type"]), tree), !isFromLaterVersion(tree)
        else {
            return .unknown(raw(tree))
        }
        switch type {
        case "sequential": return .sequential(try nodes(tree, path, depth: depth))
        case "parallel": return .parallel(try nodes(tree, path, depth: depth))
        case "select": return .select(try nodes(tree, path, depth: depth))
        case "attributeStarter": return .attributeStarter(try reader(tree, path))
        case "stateReader": return .stateReader(try reader(tree, path))
        case "eventStarter":
            return .eventStarter(
                GraphEventStarter(
                    id: try text(tree, "id", path), try trait(tree, path), event: try text(tree, "event", path),
                    parameters: try values(tree, "parameters", path) ?? [:]))
        case "manualStarter": return .manualStarter
        case "condition":
            let expression = try self.expression(try member(tree, "expression", path), "\(path).expression")
            let duration = tree["for"] == nil ? nil : try self.duration(tree, "for", path)
            return .condition(GraphCondition(expression, for: duration))
        case "if": return .ifThen(try choice(tree, path, depth: depth))
        case "action": return .action(try action(tree, path))
        case "delay": return .delay(try duration(tree, "for", path))
        default: return .suppress(try duration(tree, "for", path))
        }
    }

    /// Whether a part of the node that is not a node itself has members of a later version.
    private func isFromLaterVersion(_ tree: JSONTree) -> Bool {
        func hasOther(than names: Set<String>, in member: String) -> Bool {
            tree[member].map { self.hasOther(than: names, $0) } ?? false
        }
        let branches = (tree["ifThen"].map { [$0] } ?? []) + (tree["elseIfThens"]?.items ?? [])
        return hasOther(than: ["device", "structure"], in: "entity") || hasOther(than: ["nodes"], in: "elseThen")
            || branches.contains { self.hasOther(than: ["condition", "nodes"], $0) }
    }

    private func reader(_ tree: JSONTree, _ path: String) throws(GraphError) -> GraphReader {
        GraphReader(id: try text(tree, "id", path), try trait(tree, path))
    }

    private func trait(_ tree: JSONTree, _ path: String) throws(GraphError) -> GraphTrait {
        let entity = try member(tree, "entity", path)
        let found: GraphEntity
        switch (entity["device"], entity["structure"]) {
        case (.some, nil): found = .device(try text(entity, "device", "\(path).entity"))
        case (nil, .some): found = .structure(try text(entity, "structure", "\(path).entity"))
        default: throw malformed("\(path).entity", "must be an object with either device or structure")
        }
        let deviceType = tree["deviceType"] == nil ? nil : try text(tree, "deviceType", path)
        return GraphTrait(found, deviceType: deviceType, trait: try text(tree, "trait", path))
    }

    private func action(_ tree: JSONTree, _ path: String) throws(GraphError) -> GraphAction {
        let target = try trait(tree, path)
        let deferral = tree["defer"] == nil ? nil : try duration(tree, "defer", path)
        switch (tree["command"], tree["update"]) {
        case (.some, nil):
            let parameters = try values(tree, "parameters", path) ?? [:]
            return GraphAction(
                target, .command(try text(tree, "command", path), parameters: parameters), deferral: deferral)
        case (nil, .some):
            guard tree["parameters"] == nil else {
                throw malformed("\(path).parameters", "belong to a command; an update has its values in update")
            }
            return GraphAction(target, .update(try values(tree, "update", path) ?? [:]), deferral: deferral)
        default: throw malformed(path, "must have either command or update")
        }
    }

    private func choice(_ tree: JSONTree, _ path: String, depth: Int) throws(GraphError) -> GraphIf {
        let first = try branch(try member(tree, "ifThen", path), "\(path).ifThen", depth: depth)
        var others: [GraphIf.Branch] = []
        if let listed = tree["elseIfThens"] {
            guard let items = listed.items else { throw malformed("\(path).elseIfThens", "must be a list") }
            for (index, item) in items.enumerated() {
                others.append(try branch(item, "\(path).elseIfThens[\(index)]", depth: depth))
            }
        }
        guard let last = tree["elseThen"] else { return GraphIf(first, elseIfThens: others) }
        guard last.members != nil else { throw malformed("\(path).elseThen", "must be an object") }
        return GraphIf(first, elseIfThens: others, elseThen: try nodes(last, "\(path).elseThen", depth: depth))
    }

    private func branch(_ tree: JSONTree, _ path: String, depth: Int) throws(GraphError) -> GraphIf.Branch {
        guard tree.members != nil else { throw malformed(path, "must be an object") }
        let condition = try expression(try member(tree, "condition", path), "\(path).condition")
        return GraphIf.Branch(condition, try nodes(tree, path, depth: depth))
    }
}
