import HomeTypes

/// The subject of an alarm about an automation: its kind, the automation, its structure and its owner.
struct AutomationAlarmSubject: Hashable {
    private static let prefix = "automationAlarm"

    var kind: String
    var automationID: String
    /// Empty if it is unknown.
    var structureID: String
    /// The principal to whom the automation belongs; empty if it is unknown.
    var owner: String

    /// As the log has it. Only the name of a principal may contain a slash, so it comes last.
    var text: String { "\(Self.prefix)/\(kind)/\(automationID)/\(structureID)/\(owner)" }

    init(kind: String, automationID: String, structureID: String, owner: String) {
        self.kind = kind
        self.automationID = automationID
        self.structureID = structureID
        self.owner = owner
    }

    /// Reads a subject; nil for one about something else.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, parts[0] == Self.prefix else { return nil }
        self.init(kind: parts[1], automationID: parts[2], structureID: parts[3], owner: parts[4])
    }

    /// Whether a principal sees the alarm: the owner of the automation, or an administrator of its structure, while they may
    /// automate the structure.
    func isSeen(by principal: String, _ access: Access) -> Bool {
        let place = Access.Object.structure(structureID)
        guard !structureID.isEmpty, access.permits(.automate, place) else { return false }
        return principal == owner || access.permits(.admin, place)
    }
}
