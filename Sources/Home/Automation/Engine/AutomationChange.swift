/// A change that decides whether the starters of an automation start it. It is kept, so that what the automation did can be
/// explained later.
public struct AutomationChange: Sendable, Hashable {
    /// What has changed.
    public enum Kind: String, Sendable, Hashable {
        /// It was made active, or switched on.
        case activated
        /// It was made inactive, or switched off.
        case deactivated
        /// It was paused, because it started too often.
        case paused
        /// A person has let it start again.
        case released
    }

    /// The automation.
    public var automationID: String
    /// When it was, in milliseconds since 1970.
    public var at: Int64
    /// What has changed.
    public var kind: Kind
    /// Who released it; nil for everything else.
    public var principal: String?

    /// Describes a change.
    public init(automationID: String, at: Int64, kind: Kind, principal: String? = nil) {
        self.automationID = automationID
        self.at = at
        self.kind = kind
        self.principal = principal
    }
}
