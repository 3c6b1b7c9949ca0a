/// The rules for topics (MQTT 3.1.1, section 4.7).
enum TopicName {
    /// The longest topic that is used, in bytes. The protocol permits 65,535.
    static let longest = 1_024

    /// Whether a message can be published to `topic`, and a subscription to it matches only it.
    static func isValid(_ topic: String) -> Bool {
        !topic.isEmpty && topic.utf8.count <= longest
            && !topic.unicodeScalars.contains { $0 == "+" || $0 == "#" || $0.value < 0x20 || $0.value == 0x7F }
    }

    /// Whether a subscription to `filter` receives the messages of `topic`. Only `+` is understood as a wildcard.
    static func matches(_ topic: String, filter: String) -> Bool {
        var (levels, patterns) = (topic.utf8[...], filter.utf8[...])
        let slash = UInt8(ascii: "/")
        while true {
            let (level, pattern) = (levels.prefix { $0 != slash }, patterns.prefix { $0 != slash })
            guard pattern.elementsEqual("+".utf8) || pattern.elementsEqual(level) else { return false }
            (levels, patterns) = (levels[level.endIndex...], patterns[pattern.endIndex...])
            let slashes = (levels.popFirst() != nil, patterns.popFirst() != nil)
            guard slashes.0, slashes.1 else { return slashes.0 == slashes.1 }
        }
    }
}
