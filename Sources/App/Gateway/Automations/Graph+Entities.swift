import AutomationGraph

extension Graph {
    /// The devices and structures that the graph names.
    var entityIDs: Set<String> {
        var found: Set<String> = []
        func walk(_ nodes: [GraphNode]) {
            for node in nodes {
                switch node {
                case .attributeStarter(let reader), .stateReader(let reader): found.insert(reader.source.entity.id)
                case .eventStarter(let starter): found.insert(starter.source.entity.id)
                case .action(let action): found.insert(action.target.entity.id)
                default: break
                }
                walk(node.children.map(\.node))
            }
        }
        walk(nodes)
        return found
    }
}
