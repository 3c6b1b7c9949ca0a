import Foundation
import HomeTypes

/// A browser that wants to be notified, as the shared store keeps it.
struct PushSubscription: Sendable, Codable, Equatable {
    /// What the browser is notified of.
    struct Wishes: Sendable, Codable, Equatable {
        /// Somebody has pressed a doorbell.
        var doorbell: Bool
        /// What cameras detect, each kind once.
        var detections: [DetectionKind]
        /// The cameras whose detections count; nil for all. A doorbell always counts.
        var devices: [String]?
        /// Whether notifications show a picture.
        var picture: Bool

        init(doorbell: Bool = true, detections: [DetectionKind] = [], devices: [String]? = nil, picture: Bool = true) {
            self.doorbell = doorbell
            self.detections = detections
            self.devices = devices
            self.picture = picture
        }
    }

    /// The kind of the objects in the shared store.
    static let kind = "pushSubscription"

    var id: String
    /// Whose browser it is.
    var principal: String
    /// Its address at the push service: a secret.
    var endpoint: String
    var recipient: PushEncryption.Recipient
    var wishes: Wishes
    /// The origin of the page on which it was made, which push services get as a contact.
    var page: String
    /// Since when it is this principal's.
    var createdAt: Date
    /// How many messages the service has refused since one was accepted.
    var refusals = 0

    /// A subscription from the shared store.
    init(json text: String) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        self = try decoder.decode(Self.self, from: Data(text.utf8))
    }

    init(
        id: String, principal: String, endpoint: String, recipient: PushEncryption.Recipient, wishes: Wishes,
        page: String, createdAt: Date
    ) {
        self.id = id
        self.principal = principal
        self.endpoint = endpoint
        self.recipient = recipient
        self.wishes = wishes
        self.page = page
        self.createdAt = createdAt
    }

    /// The subscription as the shared store keeps it.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }

    /// Whether it wants to know of something.
    func wants(_ happening: PushHappening) -> Bool {
        switch happening.kind {
        case .test: return true
        case .doorbell: return wishes.doorbell
        case .detection(let kind):
            return wishes.detections.contains(kind) && wishes.devices.map { $0.contains(happening.deviceID) } ?? true
        }
    }
}

/// Something that browsers are notified of.
struct PushHappening: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case doorbell
        case detection(DetectionKind)
        /// Somebody tries it.
        case test
    }

    var kind: Kind
    var deviceID: String
    /// By the gateway's clock.
    var date: Date

    /// A text that is the same for what replaces one another: a second press replaces the first one.
    var topic: String {
        switch kind {
        case .doorbell: "doorbell \(deviceID)"
        case .detection(let kind): "\(kind.rawValue) \(deviceID)"
        case .test: "test"
        }
    }
}

/// The message that a browser gets. Its words are those of the page, so it has none.
struct PushMessage: Sendable, Codable, Equatable {
    /// `doorbell`, `detection` or `test`.
    var kind: String
    /// What was detected.
    var detection: String?
    var deviceID: String
    /// The key of the device, by which the page's address names it.
    var key: String
    /// Its name.
    var name: String
    var at: Date
    /// The path of a picture, which works for some minutes and needs no token.
    var picture: String?

    init(_ happening: PushHappening, key: String, name: String, picture: String?) {
        switch happening.kind {
        case .doorbell: self.kind = "doorbell"
        case .detection(let kind):
            self.kind = "detection"
            self.detection = kind.rawValue
        case .test: self.kind = "test"
        }
        self.deviceID = happening.deviceID
        self.key = key
        self.name = String(name.prefix(120))
        self.at = happening.date
        self.picture = picture
    }

    func json() throws(HomeError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return Array(try encoder.encode(self)) } catch {
            throw .encodingFailed("the message cannot be written as JSON: \(error)")
        }
    }
}
