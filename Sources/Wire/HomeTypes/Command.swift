import Foundation

/// A command of a trait with its parameters. A value is what a client sends, or an automation will send.
public protocol Command: VocabularyRecord {
    /// The response that the sender gets.
    associatedtype Response: VocabularyRecord = NoFields
    /// The trait.
    static var trait: any Trait.Type { get }
    /// The name on the wire, for example `startLiveView`.
    static var name: String { get }
    /// The command's number in the trait.
    static var id: UInt32 { get }
}

extension Command {
    /// The scoped identifier of the command.
    public static var identifier: String { "\(trait.identifier).commands.\(fourDigits(id))" }
}

/// An event that a trait sends, with its fields.
public protocol Event: VocabularyRecord {
    /// The trait.
    static var trait: any Trait.Type { get }
    /// The event's name on the wire, for example `DoorbellPressed`.
    static var name: String { get }
    /// The event's number in the trait.
    static var id: UInt32 { get }
    /// How important events of this kind are.
    static var importance: EventImportance { get }
    /// What came with the event besides its fields.
    var metadata: EventMetadata { get set }
}

extension Event {
    public static var importance: EventImportance { .info }

    /// An event that does not declare metadata does not keep any.
    public var metadata: EventMetadata {
        get { EventMetadata() }
        set { _ = newValue }
    }

    /// When it happened, in seconds since 1970; 0 for a value that was made by hand.
    public var timestamp: TimeInterval { metadata.timestamp }
    /// How important the event is.
    public var importance: EventImportance { Self.importance }
    /// The event's fields.
    public var payload: Self { self }

    /// The scoped identifier of the event.
    public static var identifier: String { "\(trait.identifier).events.\(fourDigits(id))" }
}

/// A number as identifiers have it: at least four hexadecimal digits.
private func fourDigits(_ number: UInt32) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
}
