import Transport
import XML

/// One message of a device's event service (ONVIF Core, section 9.5).
public struct ONVIFNotification: Sendable, Equatable {
    /// What the message says about a property (ONVIF Core, section 9.4.3).
    public enum Operation: String, Sendable {
        /// The state at the time of the subscription: nothing has happened.
        case initialized = "Initialized"
        /// The property has another value now.
        case changed = "Changed"
        /// The property no longer exists.
        case deleted = "Deleted"
    }

    /// A name with its value.
    public struct Item: Sendable, Equatable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String

        /// Makes an item.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The topic's path without the prefixes of its parts, since the device chooses these:
    /// `RuleEngine/CellMotionDetector/Motion`.
    public var topic: [String]
    /// When it happened, by the device's clock; nil where the device does not state a valid time.
    public var time: WallTime?
    /// What it says about a property; nil for an event that has no state.
    public var operation: Operation?
    /// Where it happened.
    public var source: [Item]
    /// What happened.
    public var data: [Item]

    /// Makes a message.
    public init(topic: [String], time: WallTime? = nil, operation: Operation?, source: [Item] = [], data: [Item]) {
        self.topic = topic
        self.time = time
        self.operation = operation
        self.source = source
        self.data = data
    }

    /// Reads a `NotificationMessage`; nil for one without a topic.
    init?(_ element: XMLElement) {
        guard let topic = element["Topic"]?.text, !topic.isEmpty, topic.utf8.count <= 512 else { return nil }
        self.topic = topic.split(separator: "/").prefix(12).map { String($0).withoutPrefix }
        // The message is inside an element of the same name. Some firmware leaves the outer one out.
        let message = element["Message"]?["Message"] ?? element["Message"]
        time = message?.attribute("UtcTime").flatMap(XMLDateTime.parse)
        operation = message?.attribute("PropertyOperation").flatMap(Operation.init)
        func items(_ name: String) -> [Item] {
            (message?[name]?.all("SimpleItem") ?? []).prefix(32).map { item in
                Item(
                    name: (item.attribute("Name") ?? "").printable(upTo: 64),
                    value: (item.attribute("Value") ?? "").printable(upTo: 128))
            }
        }
        source = items("Source")
        data = items("Data")
    }

    /// Names what the message is about: topic and source. Messages with the same key are about the same sensor.
    public var key: String {
        (topic + source.map { "\($0.name)=\($0.value)" }.sorted()).joined(separator: "/")
    }
}
