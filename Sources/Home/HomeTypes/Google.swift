/// The namespace of Google's traits (Home APIs, `Google`).
public enum Google {}

/// A trait of a device: a group of attributes, commands and events.
public protocol Trait: Sendable, Codable, Hashable {
    /// The scoped identifier of the trait.
    static var identifier: String { get }
    /// The name under which the HTTP API shows the trait, for example `WebRtcLiveView`.
    static var name: String { get }
    /// The commands that the trait accepts, by the names of the Home API.
    static var supportedCommandTypes: [String] { get }
    /// The events that the trait can send.
    static var supportedEventTypes: [String] { get }
}

/// The scoped identifiers of the traits, in one table.
///
/// Their form is `home.matter.<vendor>.clusters.<cluster>` with Google's vendor id 6006. The cluster numbers of these
/// three are not published, so we chose our own. Clients must treat identifiers as opaque.
enum TraitIdentifier {
    static let webRtcLiveView = "home.matter.6006.clusters.fc51"
    static let pushAvStreamTransport = "home.matter.6006.clusters.fc52"
    static let doorbellPress = "home.matter.6006.clusters.fc53"
}
