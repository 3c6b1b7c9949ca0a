import AutomationGraph
import HomeTypes

/// The refusal of a graph, with everything that is wrong with it.
struct AutomationRefusal: Error, Sendable {
    let issues: [ValidationIssue]

    /// The failure in the form of the API.
    var failure: HTTPFailure {
        let errors = issues.filter { $0.severity == .error }
        let first = errors.first?.description ?? "the automation cannot be kept"
        let more = errors.count > 1 ? " (and \(errors.count - 1) more; see details.validationIssues)" : ""
        var failure = HTTPFailure(error: .invalidArgument(first + more))
        failure.details = JSONObject(["validationIssues": .list(issues.map { .object($0.json.members) })])
        return failure
    }
}
