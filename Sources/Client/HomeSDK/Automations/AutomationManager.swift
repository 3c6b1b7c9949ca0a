import HomeTypes

/// The automations of a structure (Home APIs, `AutomationManager`).
public protocol AutomationManager {
    /// The automations that this app has created.
    func listAutomations() async throws -> [any Automation]
    /// Creates an automation.
    func createAutomation(_ draft: any DraftAutomation) async throws -> any Automation
    /// Deletes an automation.
    func deleteAutomation(id: String) async throws
    /// Deletes an automation.
    func deleteAutomation(_ automation: any Automation) async throws
}

// The gateway has no automations yet. The functions are here so that app code compiles; they say so.
extension Structure: AutomationManager {
    /// Fails with `unimplemented`, as everything here does until the gateway has automations.
    public func listAutomations() async throws -> [any Automation] { throw HomeError.noAutomations }

    /// Fails with `unimplemented`.
    public func createAutomation(_ draft: any DraftAutomation) async throws -> any Automation {
        throw HomeError.noAutomations
    }

    /// Fails with `unimplemented`.
    public func deleteAutomation(id: String) async throws { throw HomeError.noAutomations }

    /// Fails with `unimplemented`.
    public func deleteAutomation(_ automation: any Automation) async throws {
        try await deleteAutomation(id: automation.id)
    }

    /// What automations of this structure can start with, read and do. Its `list()` fails with `unimplemented`.
    public func candidates(includeDescendants: Bool = true) -> CandidateQuery { CandidateQuery() }

    /// What automations can start with, read and do on a device. Its `list()` fails with `unimplemented`.
    public func candidates(for device: HomeDevice) -> CandidateQuery { CandidateQuery() }
}

extension HomeError {
    fileprivate static var noAutomations: HomeError {
        .unimplemented("this version of the gateway does not run automations; update it when one does")
    }
}

extension CandidateQuery {
    /// The candidates as they are now.
    public func list() async throws -> [Candidate] { throw HomeError.noAutomations }
}
