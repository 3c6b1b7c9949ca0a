import Foundation
import HomeTypes

/// What the gateway says on a data channel by itself (docs/data-channel.md). Each message is the whole state of one kind, so the
/// newest one is enough.
struct ChannelMessage: Sendable {
    /// The kinds of state.
    enum Kind: String, Sendable, Encodable, CaseIterable {
        case session, camera, talkback
    }

    let kind: Kind
    /// Equal for messages that say the same.
    let identity: String
    let text: String

    /// The state of the session.
    struct Session: Encodable {
        let type = Kind.session
        var mediaSessionId: String
        var state: LiveViewSnapshot.State
        /// Seconds until the lease ends, when the message was made.
        var expiresInSeconds: Double?
        var quality: String?
        var codecs: [String]?
        var notes: [String]?
        var reason: String?
    }

    /// The state of the camera.
    struct Camera: Encodable {
        let type = Kind.camera
        var deviceID: String
        var state: CameraSourceState
        var reason: String?
    }

    /// Who talks to the camera.
    struct Talkback: Encodable {
        /// Who holds the camera's floor.
        enum Floor: String, Encodable {
            /// Nobody.
            case free
            /// This session.
            case you
            /// Another viewer.
            case viewer
            /// A clip.
            case clip
        }

        let type = Kind.talkback
        /// The state of this session's talk, or of its last one; `idle` if there has been none.
        var state: String
        var reason: String?
        var floor: Floor
    }

    /// Makes a message.
    /// - Parameter identity: what the message says, without what changes all the time; nil for its text.
    init(_ kind: Kind, _ body: some Encodable, identity: String? = nil) {
        let text = Self.text(of: body)
        self.kind = kind
        self.text = text
        self.identity = identity ?? text
    }

    static func text(of body: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The messages hold texts, finite numbers and lists of texts, which can always be encoded.
        guard let data = try? encoder.encode(body) else { return "{}" }
        return String(decoding: data, as: UTF8.self)
    }
}

/// What a live view reports to its data channels.
struct ChannelState: Sendable, Equatable {
    var deviceID: String
    var isConnected: Bool
    /// Seconds until the lease ends.
    var expiresInSeconds: Double
    /// When it ends, as a text that changes only when the lease does.
    var expiry: String
    var quality: String?
    var codecs: [String]
    var notes: [SessionNote]
    var cameraState: CameraSourceState
    var cameraReason: String?
}
