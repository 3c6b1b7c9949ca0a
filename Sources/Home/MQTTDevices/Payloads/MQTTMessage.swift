import Foundation

/// A message that the broker delivered.
public struct MQTTMessage: Sendable, Hashable {
    /// The topic that it was published to.
    public var topic: String
    /// Its bytes.
    public var payload: Data
    /// Whether the broker had retained it since before the subscription. Such a message is a state, and never an event.
    public var isRetained: Bool
    /// The number of the connection to the broker over which it came.
    public var connection: UInt64

    /// Describes a message.
    public init(topic: String, payload: Data, isRetained: Bool = false, connection: UInt64 = 0) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
        self.connection = connection
    }
}

/// A message to send.
public struct MQTTPublication: Sendable, Hashable {
    /// The topic to publish to.
    public var topic: String
    /// The bytes.
    public var payload: Data
    /// Whether the broker retains it for later subscribers.
    public var isRetained: Bool
    /// The quality of service: 0 at most once, 1 at least once.
    public var qualityOfService: Int

    /// Describes a message to send.
    public init(topic: String, payload: Data, isRetained: Bool = false, qualityOfService: Int = 0) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
        self.qualityOfService = qualityOfService
    }

    /// Describes a text to send.
    init(topic: String, text: String, isRetained: Bool = false, qualityOfService: Int = 0) {
        self.init(
            topic: topic, payload: Data(text.utf8), isRetained: isRetained, qualityOfService: qualityOfService)
    }
}

/// The payload of a message that several entities read. Its JSON is read once, when it is first needed.
final class MQTTPayload {
    let text: String
    let isRetained: Bool
    /// Tells the text from others in this run.
    private(set) lazy var hash: Int = text.hashValue
    /// The work that the templates of all its readers may do.
    let effort = TemplateEffort(TemplateEffort.mostOfMessage)
    private var known: Result<JSONValue, JSONFailure>?

    init(_ message: MQTTMessage) {
        text = String(decoding: message.payload, as: UTF8.self)
        isRetained = message.isRetained
    }

    /// The payload as JSON; nil if it cannot be read.
    var json: JSONValue? {
        guard case .success(let value) = reading else { return nil }
        return value
    }

    /// The payload as JSON, or why it cannot be read.
    var reading: Result<JSONValue, JSONFailure> {
        if let known { return known }
        let result: Result<JSONValue, JSONFailure>
        do throws(JSONFailure) {
            result = .success(try JSONValue(parsing: Data(text.utf8)))
        } catch {
            result = .failure(error)
        }
        known = result
        return result
    }
}
