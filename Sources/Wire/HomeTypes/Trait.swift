import Foundation

/// The namespace of the traits that Matter's standard clusters define (Home APIs, `Matter`).
public enum Matter {}

/// The namespace of Google's traits (Home APIs, `Google`).
public enum Google {}

/// A trait of a device: a group of attributes, commands and events. A value is a snapshot of the trait's state.
///
/// The attributes can also be read from the trait itself: `trait.onOff` is `trait.attributes.onOff`. Two traits are
/// equal when their attributes and metadata are.
///
/// The traits are declared in the folder `Traits`, one file for each, and `tools/generate-traits` writes the types. The
/// form of an identifier is `home.matter.<vendor>.clusters.<cluster>` with vendor 0000 for Matter and 6006 for Google. The
/// cluster numbers of Google are not published, so we chose our own. Clients must treat identifiers as opaque.
@dynamicMemberLookup
public protocol Trait: VocabularyRecord {
    /// The trait's attributes.
    associatedtype Attributes: TraitAttributes
    /// The scoped identifier of the trait.
    static var identifier: String { get }
    /// The name under which the HTTP API shows the trait, for example `WebRtcLiveView`.
    static var name: String { get }
    /// The commands that the trait can accept.
    static var supportedCommandTypes: [any Command.Type] { get }
    /// The events that the trait can send.
    static var supportedEventTypes: [any Event.Type] { get }
    /// The names of the attributes that clients may write.
    static var writableAttributes: [String] { get }
    /// The state.
    var attributes: Attributes { get set }
    /// How the trait is connected.
    var metadata: TraitMetadata { get }
    /// The connection to the device, which accepts commands; nil for a value that was made by hand.
    var interaction: (any TraitInteraction)? { get }

    /// Describes a trait's state.
    init(attributes: Attributes, metadata: TraitMetadata, interaction: (any TraitInteraction)?)
}

extension Trait {
    public static var writableAttributes: [String] { [] }

    /// The names of all attributes.
    public static var attributeNames: [String] { Attributes.names }

    /// Describes the state of a trait that does not accept commands.
    public init(attributes: Attributes) {
        self.init(attributes: attributes, metadata: TraitMetadata(), interaction: nil)
    }

    /// Reads an attribute.
    public subscript<Value>(dynamicMember path: KeyPath<Attributes, Value>) -> Value { attributes[keyPath: path] }

    /// Reads or changes an attribute of this value. It does not send anything to the device.
    public subscript<Value>(dynamicMember path: WritableKeyPath<Attributes, Value>) -> Value {
        get { attributes[keyPath: path] }
        set { attributes[keyPath: path] = newValue }
    }

    public static func == (first: Self, second: Self) -> Bool {
        first.attributes == second.attributes && first.metadata == second.metadata
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(attributes)
        hasher.combine(metadata)
    }

    /// Reads the attributes. The JSON of a trait is that of its attributes.
    public init(from decoder: any Decoder) throws {
        self.init(attributes: try Attributes(from: decoder))
    }

    public func encode(to encoder: any Encoder) throws { try attributes.encode(to: encoder) }

    public func validate(at path: String) throws(HomeError) { try attributes.validate(at: path) }
}

/// What is known about a trait besides its state.
public struct TraitMetadata: Sendable, Codable, Hashable {
    /// How the trait is connected.
    public var sourceConnectivity: SourceConnectivity

    /// Describes a trait; without arguments, a trait of which nothing is known.
    public init(
        sourceConnectivity: SourceConnectivity = .init(connectivityState: .unknown, dataSourceLocality: .unspecified)
    ) {
        self.sourceConnectivity = sourceConnectivity
    }
}
