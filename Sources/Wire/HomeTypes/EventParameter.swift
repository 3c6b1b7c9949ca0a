/// A value that an event must have to start an automation (Home APIs).
///
/// The fields of each event have a function that makes one: `Google.TimeTrait.ScheduledEvent.clockTime(…)`.
public struct EventParameter<Kind: Event>: Sendable {
    /// The field's name in JSON.
    public let name: String
    /// The value that it must have.
    public let value: any Codable & Hashable & Sendable

    /// Names a field and its value.
    public init(_ name: String, _ value: some Codable & Hashable & Sendable) {
        self.name = name
        self.value = value
    }
}
