/// The rules for topics (MQTT 3.1.1, section 4.7).
enum TopicName {
    /// The longest topic that is used, in bytes. The protocol permits 65,535.
    static let longest = 1_024

    /// Whether a message can be published to `topic`, and a subscription to it matches only it.
    static func isValid(_ topic: String) -> Bool {
        !topic.isEmpty && topic.utf8.count <= longest
            && !topic.unicodeScalars.contains { $0 == "+" || $0 == "#" || $0.value < 0x20 || $0.value == 0x7F }
    }
}
