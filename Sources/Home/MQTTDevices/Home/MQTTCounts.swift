/// What was read on the broker, and what could not be read, with the reasons.
public struct MQTTCounts: Sendable, Hashable {
    /// A message or a description that could not be used.
    public struct Problem: Sendable, Hashable {
        /// Where it came from.
        public var topic: String
        /// What was wrong with it.
        public var reason: String
    }

    /// How many of the newest problems are kept.
    static let kept = 32
    /// The longest reason that is kept, in characters. It may quote what the broker sent.
    static let longestReason = 200
    /// How many ignored entities are counted, of all kinds.
    static let maximumIgnored = 10_000

    /// The messages that were handed in.
    public var messages: UInt64 = 0
    /// The messages whose payload could not be read.
    public private(set) var unreadable: UInt64 = 0
    /// The newest of them, oldest first.
    public private(set) var unreadableMessages: [Problem] = []
    /// The descriptions that do not become a device, and why: the newest of them, oldest first.
    public private(set) var refused: [Problem] = []
    /// How often a description was refused.
    public private(set) var refusals: UInt64 = 0
    /// The entities for which the home does not have a trait, by their kind.
    public var ignored: [String: Int] { ignoredEntities.mapValues(\.count) }
    private var ignoredEntities: [String: Set<String>] = [:]
    private var ignoredCount = 0

    /// Nothing was read.
    public init() {}

    mutating func refuse(_ topic: String, _ reason: String) {
        refusals += 1
        Self.keep(Problem(topic: topic, reason: String(reason.prefix(Self.longestReason))), in: &refused)
    }

    /// Forgets the refusals of a topic that describes something else now.
    mutating func clearRefusals(of topic: String) { refused.removeAll { $0.topic == topic } }

    mutating func couldNotRead(_ topic: String, _ reason: String) {
        unreadable += 1
        unreadableMessages.removeAll { $0.topic == topic }
        Self.keep(Problem(topic: topic, reason: String(reason.prefix(Self.longestReason))), in: &unreadableMessages)
    }

    mutating func ignore(_ kind: String, id: String) {
        // The names come from the broker. A kind is counted until there are too many of them.
        guard ignoredEntities[kind] != nil || ignoredEntities.count < 128, kind.utf8.count <= 128 else { return }
        guard ignoredCount < Self.maximumIgnored else { return }
        if ignoredEntities[kind, default: []].insert(id).inserted { ignoredCount += 1 }
    }

    private static func keep(_ problem: Problem, in list: inout [Problem]) {
        guard !list.contains(problem) else { return }
        if list.count >= kept { list.removeFirst() }
        list.append(problem)
    }
}
