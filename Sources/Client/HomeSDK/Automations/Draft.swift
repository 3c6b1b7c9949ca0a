import AutomationGraph
import HomeTypes

/// Describes an automation. `structure.createAutomation` creates it.
/// - Parameters:
///   - id: leave it out. The gateway chooses the identifiers, and refuses a draft that has one.
///   - structureID: the structure that it is for; a draft without one can be created in any.
public func automation(
    id: String = "", structureID: String = "", name: String = "", description: String = "", isActive: Bool = true,
    @FlowBuilder _ body: () -> FlowContent
) -> any DraftAutomation {
    Draft(
        id: id, structureID: structureID, name: name, description: description, isActive: isActive,
        graph: Graph(body().nodes).withoutOuterFlow.numbered)
}

/// A draft as `automation` makes it.
struct Draft: DraftAutomation {
    let id: String
    let structureID: String
    let name: String
    let description: String
    let isActive: Bool
    let graph: Graph

    var automationGraph: SequentialFlow? { SequentialFlow(graph.nodes) }
}
