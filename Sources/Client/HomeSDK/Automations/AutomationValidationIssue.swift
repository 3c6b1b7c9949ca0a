import AutomationGraph
import HomeTypes

/// Something that is wrong with an automation (Home APIs, `AutomationValidationIssue`).
public struct AutomationValidationIssue: Sendable, CustomStringConvertible {
    /// The node that it is about; nil for the automation as a whole.
    public let node: (any Node)?
    /// How bad it is.
    public let severity: ValidationIssueSeverity
    /// What is wrong.
    public let issueType: ValidationIssueType
    /// The place of the node, for example `automationGraph.nodes[2].nodes[0]`.
    public let path: String

    /// Describes an issue.
    public init(
        node: (any Node)?, severity: ValidationIssueSeverity, issueType: ValidationIssueType,
        path: String = "automationGraph"
    ) {
        self.node = node
        self.severity = severity
        self.issueType = issueType
        self.path = path
    }

    init(_ issue: ValidationIssue, in graph: Graph?, _ types: AutomationTypes) {
        self.init(
            node: graph?.node(at: issue.path)?.view(types), severity: issue.severity, issueType: issue.type,
            path: issue.path)
    }

    /// What is wrong, where, and what to do.
    public var description: String { "\(path): \(issueType.words)" }
}

extension HomeError {
    /// Why the gateway refused an automation: all of its issues. Empty for an error with another reason.
    /// - Parameter automation: the automation that was refused. The issues then contain its nodes.
    public func validationIssues(of automation: (any BaseAutomation)? = nil) -> [AutomationValidationIssue] {
        guard case .details(let details)? = subtype, case .list(let issues)? = details.members["validationIssues"]
        else { return [] }
        // The paths are those of the graph that was sent.
        let graph = automation?.automationGraph.map { Graph($0.content) }
        return issues.compactMap { issue in
            guard case .object(let members) = issue else { return nil }
            return ValidationIssue(json: members).map { AutomationValidationIssue($0, in: graph, .all) }
        }
    }
}

extension Graph {
    /// The node at a place such as `automationGraph.nodes[2].nodes[0]`; nil for the whole graph and for a place that it
    /// does not have. A place inside a node, for example in its expression, yields the node.
    func node(at path: String) -> GraphNode? {
        var rest = path
        var found: GraphNode?
        var children = GraphNode.sequential(nodes).children.map { ("automationGraph.\($0.place)", $0.node) }
        while let (place, node) = children.first(where: { rest == $0.0 || rest.hasPrefix("\($0.0).") }) {
            found = node
            rest = String(rest.dropFirst(place.count + 1))
            children = node.children.map { ($0.place, $0.node) }
        }
        return found
    }
}
