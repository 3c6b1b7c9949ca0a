/// The namespace of Google's traits (Home APIs, `Google`).
public enum Google {}

/// A trait of a device: a group of attributes, commands and events.
///
/// The traits are declared in the folder `Traits`, one file for each, and `tools/generate-traits` writes the types. The
/// form of an identifier is `home.matter.<vendor>.clusters.<cluster>` with Google's vendor id 6006. The cluster numbers
/// are not published, so we chose our own. Clients must treat identifiers as opaque.
public protocol Trait: VocabularyRecord {
    /// The scoped identifier of the trait.
    static var identifier: String { get }
    /// The name under which the HTTP API shows the trait, for example `WebRtcLiveView`.
    static var name: String { get }
    /// The commands that the trait accepts, by the names of the Home API.
    static var supportedCommandTypes: [String] { get }
    /// The events that the trait can send.
    static var supportedEventTypes: [String] { get }
}

/// A command of a trait.
public protocol TraitCommand: Sendable {
    /// What the caller sends.
    associatedtype Parameters: VocabularyRecord
    /// What the caller gets.
    associatedtype Result: VocabularyRecord
    /// The trait.
    static var trait: any Trait.Type { get }
    /// The name on the wire, for example `startLiveView`.
    static var name: String { get }
    /// The command's number in the trait.
    static var id: UInt32 { get }
}

/// A group of fields that the vocabulary declares: attributes, parameters, a result, an event or a struct.
public protocol VocabularyRecord: Sendable, Codable, Hashable {
    /// Checks the constraints that the vocabulary gives to the fields.
    /// - Parameter path: where the value is in the message, for the error; empty for the whole of it.
    /// - Throws: `invalidArgument`, which names the field and what it may be.
    func validate(at path: String) throws(HomeError)
}

extension VocabularyRecord {
    public func validate(at path: String) throws(HomeError) {}

    /// Checks a whole message.
    public func validate() throws(HomeError) { try self.validate(at: "") }
}

/// Parameters or a result without fields: the empty object.
public struct NoFields: VocabularyRecord {
    /// Makes the empty object.
    public init() {}
}
