/// What the broker retains of a camera that this gateway has published, maybe long ago: a description, or states below
/// a prefix that it no longer uses. The camera may have left the home since then, while the broker or the gateway was
/// away.
public struct RetainedCamera: Sendable, Hashable {
    /// The identifier of the camera.
    public let cameraID: String
    /// The topic above those of its states. The config may have named another prefix then.
    public let base: String
    /// Whether this is a description, which names its gateway. Without one, another gateway may have published the
    /// states.
    public let isDescription: Bool
    /// Whether the identifier is of the kind that the home mints, which no other program gives.
    public let isMinted: Bool

    /// Reads a message of the broker.
    /// - Parameter isMinted: whether an identifier is of the kind that the home mints, which no other program gives.
    /// - Returns: nil for any other message, and for the description of another gateway.
    public init?(_ message: MQTTMessage, settings: CameraPublisher.Settings, isMinted: (String) -> Bool) {
        // A message that is not retained is new, and the gateway knows what it publishes now.
        guard message.isRetained, message.payload.count <= MQTTHome.longestDescription,
            let id = settings.cameraID(describedBy: message.topic), let json = MQTTPayload(message).json,
            json["origin"]?["name"]?.string == settings.origin
        else { return nil }
        let availability = (json["availability"]?.array ?? []).compactMap { $0["topic"]?.string }
        guard let topic = availability.first(where: { $0.hasSuffix("/\(id)/availability") }), TopicName.isValid(topic)
        else { return nil }
        let base = String(topic.dropLast("/availability".count))
        let isMintedID = isMinted(id)
        // Anybody who may write descriptions chooses what they name. Below another prefix, a topic with an identifier that
        // some other program may have given, such as `zigbee2mqtt/lamp/availability`, is not the gateway's to clear.
        guard base == settings.base(id) || (isMintedID && !base.hasPrefix("$")) else { return nil }
        cameraID = id
        self.base = base
        isDescription = true
        self.isMinted = isMintedID
    }

    /// Reads a message at a topic below a former prefix.
    /// - Parameters:
    ///   - state: says whether a camera was online.
    ///   - isMinted: whether an identifier is of the kind that the home mints, which no other program gives.
    /// - Returns: nil for any other message.
    public init?(state: MQTTMessage, settings: CameraPublisher.Settings, isMinted: (String) -> Bool) {
        guard state.isRetained, !state.payload.isEmpty, settings.isFormer(state.topic) else { return nil }
        let base = state.topic.dropLast("/availability".count)
        let id = String(base.split(separator: "/").last ?? "")
        guard isMinted(id) else { return nil }
        cameraID = id
        self.base = String(base)
        isDescription = false
        self.isMinted = true
    }
}

extension CameraPublisher.Settings {
    /// The camera whose description a topic takes; nil for any other topic.
    fileprivate func cameraID(describedBy topic: String) -> String? {
        let (head, tail) = ("\(discoveryPrefix)/device/gatehouse_", "/config")
        guard topic.hasPrefix(head), topic.hasSuffix(tail), topic.utf8.count > head.utf8.count + tail.utf8.count
        else { return nil }
        let id = String(topic.dropFirst(head.count).dropLast(tail.count))
        return descriptionTopic(id) == topic && !id.contains("/") ? id : nil
    }
}
