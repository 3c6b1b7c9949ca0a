/// How bad an issue is (Home APIs, `ValidationIssueSeverity`).
public enum ValidationIssueSeverity: String, Sendable, Hashable, Codable {
    /// The automation is kept with the issue.
    case warning
    /// The automation is refused.
    case error
    case unknown
}

/// Something that is wrong with a graph.
public struct ValidationIssue: Sendable, Hashable, CustomStringConvertible {
    /// The node, for example `automationGraph.nodes[2].nodes[0]`; `automationGraph` for the whole graph.
    public var path: String
    /// How bad it is.
    public var severity: ValidationIssueSeverity
    /// What is wrong.
    public var type: ValidationIssueType

    /// Describes an issue.
    public init(_ path: String, _ severity: ValidationIssueSeverity, _ type: ValidationIssueType) {
        self.path = path
        self.severity = severity
        self.type = type
    }

    /// What is wrong, where, and what to do.
    public var description: String { "\(path): \(type.words)" }
}
