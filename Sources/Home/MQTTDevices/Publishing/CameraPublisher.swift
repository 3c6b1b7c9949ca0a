import Foundation
import HomeTypes

/// What the gateway publishes about its cameras, so that Home Assistant finds them by MQTT discovery. It does no I/O:
/// it knows what it has published and returns what has changed.
public struct CameraPublisher: Sendable {
    /// Where to publish.
    public struct Settings: Sendable, Hashable {
        /// The first level of the topics of discovery.
        public var discoveryPrefix: String
        /// The first level of the gateway's own topics.
        public var topicPrefix: String
        /// The first levels of the gateway's own topics at earlier times.
        public var formerPrefixes: [String]
        /// Names the gateway on the broker. No other gateway has this name there.
        public var gateway: String
        /// Whether messages may switch recording.
        public var acceptsCommands: Bool
        /// Whether pictures of events are published.
        public var publishesPictures: Bool

        /// Describes where to publish.
        public init(
            discoveryPrefix: String = "homeassistant", topicPrefix: String = "gatehouse", formerPrefixes: [String] = [],
            gateway: String = "gatehouse", acceptsCommands: Bool = false, publishesPictures: Bool = false
        ) {
            self.discoveryPrefix = discoveryPrefix
            self.topicPrefix = topicPrefix
            self.formerPrefixes = formerPrefixes
            self.gateway = gateway
            self.acceptsCommands = acceptsCommands
            self.publishesPictures = publishesPictures
        }

        /// The topic that says whether the gateway is online.
        public var statusTopic: String { "\(topicPrefix)/status" }

        /// Matches the topics of all descriptions of devices, also of those that other programs publish.
        public var descriptionFilter: String { "\(discoveryPrefix)/device/+/config" }

        /// Whether a topic is one of those.
        public func isDescription(_ topic: String) -> Bool { TopicName.matches(topic, filter: descriptionFilter) }

        /// Match the topics by which the gateway finds what is left below its former prefixes.
        public var formerFilters: Set<String> {
            Set(formerPrefixes.filter { $0 != topicPrefix }.map { "\($0)/+/availability" })
        }

        /// Whether a topic is one of those.
        public func isFormer(_ topic: String) -> Bool {
            formerFilters.contains { TopicName.matches(topic, filter: $0) }
        }

        /// The topic that describes a camera.
        func descriptionTopic(_ camera: String) -> String { "\(discoveryPrefix)/device/gatehouse_\(camera)/config" }

        /// The topic above those of a camera's states.
        func base(_ camera: String) -> String { "\(topicPrefix)/\(camera)" }

        /// The topics above those of a camera's states, now and at earlier times.
        func bases(_ camera: String) -> [String] {
            [base(camera)] + formerPrefixes.filter { $0 != topicPrefix }.map { "\($0)/\(camera)" }
        }

        /// Tells the gateway's descriptions from those of other gateways on the same broker, also after the gateway has lost
        /// its state. Home Assistant shows it in its log, and permits no further keys in a description.
        var origin: String { "Gatehouse (\(gateway))" }
    }

    /// The command in a message.
    public enum Command: Sendable, Hashable {
        /// Permit or forbid that a camera is recorded.
        case setRecording(cameraID: String, isAllowed: Bool)
    }

    /// Where to publish.
    public let settings: Settings
    private var cameras: [String: PublishedCamera] = [:]

    /// Nothing is published yet.
    public init(settings: Settings) { self.settings = settings }

    /// The topics that commands come from; empty if commands are not accepted.
    public var commandTopics: Set<String> {
        guard settings.acceptsCommands else { return [] }
        return Set(cameras.values.filter { $0.allowsRecording != nil }.map { topic($0.id, "recording/set") })
    }

    /// All messages again, after the broker has connected.
    public var everything: [MQTTPublication] {
        [retained(settings.statusTopic, "online")]
            + cameras.values.sorted { $0.id < $1.id }.flatMap(introduction)
    }

    /// The last message of the gateway when it stops.
    public var farewell: MQTTPublication { retained(settings.statusTopic, "offline") }

    /// Adopts a camera, and returns what has changed.
    public mutating func update(_ camera: PublishedCamera) -> [MQTTPublication] {
        let before = cameras.updateValue(camera, forKey: camera.id)
        guard let before else { return introduction(camera) }
        let description = discovery(camera)
        return (description == discovery(before) ? [] : [description])
            + states(camera).filter { !states(before).contains($0) }
    }

    /// The identifiers of all cameras that are published.
    public var cameraIDs: [String] { cameras.keys.sorted() }

    /// The camera as it was published; nil for an unknown one.
    public func camera(_ id: String) -> PublishedCamera? { cameras[id] }

    /// Handles that the recording of a camera has begun or ended.
    public mutating func setRecording(_ isRecording: Bool, of id: String) -> [MQTTPublication] {
        guard var camera = cameras[id] else { return [] }
        camera.isRecording = isRecording
        return update(camera)
    }

    /// Removes a camera.
    /// - Parameter isMinted: whether the home has minted the identifier, so that no other program uses it in topics below
    ///   former prefixes.
    public mutating func remove(_ id: String, isMinted: Bool = false) -> [MQTTPublication] {
        guard cameras.removeValue(forKey: id) != nil else { return [] }
        return removal(of: id, at: settings.base(id), isMinted: isMinted)
    }

    /// Removes from the broker what it retains from an earlier time: a camera that has left the home while the broker or the
    /// gateway was away, or the states of a camera at topics that it no longer uses.
    /// - Parameter isInHome: whether the home has the camera.
    public func clear(_ former: RetainedCamera, isInHome: Bool) -> [MQTTPublication] {
        let id = former.cameraID
        guard isInHome || cameras[id] != nil else {
            return former.isDescription ? removal(of: id, at: former.base, isMinted: former.isMinted) : []
        }
        return former.base == settings.base(id) ? [] : clearedStates(at: former.base)
    }

    /// The description goes last: as long as the broker retains it, the next connection finds what is still to be removed.
    /// That includes what is left below other prefixes, because the connection ended while it was cleared there: once the
    /// description is gone, nothing says whose those states are.
    private func removal(of id: String, at base: String, isMinted: Bool) -> [MQTTPublication] {
        let others = isMinted ? settings.bases(id).filter { $0 != base } : []
        return (others + [base]).flatMap { clearedStates(at: $0) } + [retained(settings.descriptionTopic(id), "")]
    }

    /// The availability goes last: as long as the broker retains it, the next connection finds what is still to be
    /// cleared below a former prefix.
    private func clearedStates(at base: String) -> [MQTTPublication] {
        // Of any kind: what a camera detects is learned again in each run.
        let kinds = DetectionKind.allCases.map(\.rawValue)
        let names = ["picture", "recording", "recording/active"] + kinds + ["availability"]
        return names.map { retained("\(base)/\($0)", "") }
    }

    /// Publishes an event of a camera. The broker does not keep it, because it is over.
    public func event(_ type: String, at camera: String, _ channel: EventChannel) -> [MQTTPublication] {
        guard cameras[camera] != nil else { return [] }
        let payload = JSONValue.object(["event_type": .string(type)])
        return [MQTTPublication(topic: topic(camera, channel.rawValue), payload: payload.data, qualityOfService: 1)]
    }

    /// The picture of the newest event at a camera, as JPEG. The broker retains it for later subscribers.
    public func picture(_ jpeg: [UInt8], at camera: String) -> [MQTTPublication] {
        guard settings.publishesPictures, cameras[camera] != nil else { return [] }
        return [
            MQTTPublication(
                topic: topic(camera, "picture"), payload: Data(jpeg), isRetained: true, qualityOfService: 1)
        ]
    }

    /// The topics of events.
    public enum EventChannel: String, Sendable {
        case doorbell, detection
    }

    /// The command in a message; nil for a message that is not a command.
    public func command(_ message: MQTTMessage) -> Command? {
        // A retained command was meant for an earlier time.
        guard settings.acceptsCommands, !message.isRetained,
            let camera = cameras.values.first(where: { topic($0.id, "recording/set") == message.topic })
        else { return nil }
        switch String(decoding: message.payload, as: UTF8.self) {
        case "ON": return .setRecording(cameraID: camera.id, isAllowed: true)
        case "OFF": return .setRecording(cameraID: camera.id, isAllowed: false)
        default: return nil
        }
    }

    // MARK: Messages

    private func topic(_ camera: String, _ name: String) -> String { "\(settings.base(camera))/\(name)" }

    private func retained(_ topic: String, _ text: String) -> MQTTPublication {
        MQTTPublication(topic: topic, text: text, isRetained: true, qualityOfService: 1)
    }

    /// Everything about a camera, for a broker that may have messages from an earlier time.
    private func introduction(_ camera: PublishedCamera) -> [MQTTPublication] {
        // It may still retain a picture from a time when the config asked for pictures.
        let pictures = settings.publishesPictures ? [] : [retained(topic(camera.id, "picture"), "")]
        return [discovery(camera)] + states(camera) + pictures
    }

    private func states(_ camera: PublishedCamera) -> [MQTTPublication] {
        func word(_ isOn: Bool) -> String { isOn ? "ON" : "OFF" }
        var result = [retained(topic(camera.id, "availability"), camera.isOnline ? "online" : "offline")]
        for kind in camera.detections {
            result.append(retained(topic(camera.id, kind), word(camera.activeDetections.contains(kind))))
        }
        result.append(retained(topic(camera.id, "recording/active"), word(camera.isRecording)))
        if let allows = camera.allowsRecording { result.append(retained(topic(camera.id, "recording"), word(allows))) }
        return result
    }

    /// One message describes the camera with everything that it has.
    private func discovery(_ camera: PublishedCamera) -> MQTTPublication {
        let identifier = "gatehouse_\(camera.id)"
        var parts: [String: JSONValue] = [:]
        func add(_ name: String, _ platform: String, _ title: String, _ more: [String: JSONValue]) {
            var part: [String: JSONValue] = [
                "platform": .string(platform), "unique_id": .string("\(identifier)_\(name)"), "name": .string(title),
                "state_topic": .string(topic(camera.id, name)),
            ]
            part.merge(more) { $1 }
            parts[name] = .object(part)
        }
        if camera.isDoorbell {
            add("doorbell", "event", "Doorbell", ["device_class": "doorbell", "event_types": ["press"]])
        }
        for kind in camera.detections {
            let classes = ["motion": "motion", "person": "occupancy", "sound": "sound"]
            add(kind, "binary_sensor", kind.capitalized, classes[kind].map { ["device_class": .string($0)] } ?? [:])
        }
        if !camera.detections.isEmpty {
            let types = camera.detections.map(JSONValue.string)
            add("detection", "event", "Detection", ["event_types": .array(types)])
        }
        add(
            "recording_active", "binary_sensor", "Recording",
            ["device_class": "running", "state_topic": .string(topic(camera.id, "recording/active"))])
        if camera.allowsRecording != nil, settings.acceptsCommands {
            add(
                "recording", "switch", "Recording allowed",
                ["command_topic": .string(topic(camera.id, "recording/set"))])
        }
        if settings.publishesPictures {
            parts["picture"] = [
                "platform": "image", "unique_id": .string("\(identifier)_picture"), "name": "Picture",
                "image_topic": .string(topic(camera.id, "picture")), "content_type": "image/jpeg",
            ]
        }
        let description: JSONValue = .object([
            "device": [
                "identifiers": [.string(identifier)], "name": .string(camera.name), "manufacturer": "Gatehouse",
            ],
            "origin": ["name": .string(settings.origin)],
            "availability": [
                ["topic": .string(settings.statusTopic)], ["topic": .string(topic(camera.id, "availability"))],
            ], "availability_mode": "all",
            "components": .object(parts),
        ])
        return MQTTPublication(
            topic: settings.descriptionTopic(camera.id), payload: description.data, isRetained: true,
            qualityOfService: 1)
    }
}
