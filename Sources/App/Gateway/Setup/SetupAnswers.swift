/// What the owner has answered to the questions of `gatehouse setup`.
public struct SetupAnswers: Sendable, Equatable {
    /// The first camera.
    public enum Camera: Sendable, Equatable {
        /// The built-in doorbell with its test picture.
        case builtIn
        /// A camera on the network, by its source as the config writes it. It may hold a password: never print it.
        case source(String)
    }

    /// Where recordings go.
    public enum Recordings: Sendable, Equatable {
        /// Nothing is recorded.
        case none
        /// Into the state folder.
        case standard
        /// Into a folder, by its full path.
        case folder(String)
    }

    /// The first camera.
    public var camera = Camera.builtIn
    /// The name of the first camera.
    public var name = Self.standardName
    /// Whether the first camera is a doorbell; nil if its name decides.
    public var isDoorbell: Bool?
    /// Whether other devices may open the page, over HTTPS.
    public var isOpen = false
    /// Where recordings go.
    public var recordings = Recordings.none
    /// The STUN server that lets viewers on other networks find the gateway, as `name` or `name:port`.
    public var stunServer: String?

    /// The name of a camera that the owner did not name.
    public static let standardName = "Front door"

    /// Whether a name, or what a camera reports about itself, is that of a doorbell.
    static func isDoorbell(_ words: String) -> Bool { words.lowercased().filter(\.isLetter).contains("doorbell") }

    /// The answers that stand until others are given: the built-in doorbell, on this machine only.
    public init() {}
}
