/// The phone or the key of a person, which reports whether the person is at home. It does not become a device.
struct TrackerEntity: Sendable {
    /// The topic that it reads.
    var topic: String { source.topic }
    private let source: ValueSource
    private let payloads: (home: String, away: String, reset: String)

    init(_ configuration: EntityConfiguration) throws(DiscoveryProblem) {
        guard let source = try configuration.source("state_topic", "value_template") else {
            throw DiscoveryProblem("state_topic is missing")
        }
        self.source = source
        payloads = (
            configuration.payload("payload_home", default: "home"),
            configuration.payload("payload_not_home", default: "not_home"),
            configuration.payload("payload_reset", default: "None")
        )
    }

    /// Whether the person is at home; nil if the tracker does not know. Any other word is the name of a place outside
    /// the home.
    func isHome(_ payload: MQTTPayload) throws(UnreadablePayload) -> Bool? {
        guard let text = try source.text(payload), text != payloads.reset else { return nil }
        return text == payloads.home
    }
}
