import ArgumentParser
import HomeTypes

/// Validation issues as lines for people.
enum AutomationIssues {
    /// A line for each issue: its severity, its path, and what to do.
    static func lines(_ issues: [[String: JSONObject.Value]]) -> [String] {
        issues.map { issue in
            func text(_ name: String) -> String {
                if case .text(let text)? = issue[name] { text } else { "?" }
            }
            return "  \(text("severity")): \(text("path")): \(text("message"))"
        }
    }

    /// The issues of a refusal; nil for another error.
    static func issues(of error: HomeError) -> [[String: JSONObject.Value]]? {
        guard case .details(let details)? = error.subtype, case .list(let values)? = details.members["validationIssues"]
        else { return nil }
        return values.compactMap { value in
            if case .object(let members) = value { members } else { nil }
        }
    }
}

/// Runs `body`; an error of the gateway is printed as its message, with a line for each thing that is wrong with an automation.
func reportingAutomationErrors<Result>(_ body: () async throws -> Result) async throws -> Result {
    do {
        return try await body()
    } catch let error as HomeError {
        guard let issues = AutomationIssues.issues(of: error), !issues.isEmpty else {
            printError("gatehouse: \(error.commandMessage)")
            throw ExitCode.failure
        }
        printError("gatehouse: the automation is refused:")
        for line in AutomationIssues.lines(issues) { printError(line) }
        throw ExitCode.failure
    }
}
