import Foundation

/// The messages of one subscription, as Pub/Sub delivers them: pulled messages come again unless they are acknowledged
/// in time. It does not have a clock.
public struct SDMSubscription: Sendable {
    /// The maximum number of waiting messages. The oldest are dropped: a subscriber that was gone for long reads the
    /// current state.
    public static let capacity = 1_000
    /// How long a pulled message waits for its acknowledgement.
    public static let patience = Duration.seconds(30)

    /// A message as it is delivered.
    public struct Message: Sendable, Equatable {
        /// Acknowledges this delivery.
        public var acknowledgement: String
        /// The message as JSON.
        public var data: Data
        /// Names the message.
        public var id: String
        /// When it was added.
        public var publishedAt: Date
    }

    private struct Entry {
        let number: UInt64
        let data: Data
        let device: String?
        let addedAt: Date
        /// When it may be delivered again, on a clock that is never set; nil if it was never delivered.
        var dueAt: Duration?
    }

    private var entries: [Entry] = []
    private var next: UInt64 = 1
    /// How many messages were dropped.
    public private(set) var dropped: UInt64 = 0

    /// A subscription without messages.
    public init() {}

    /// Adds a message.
    /// - Parameters:
    ///   - device: the device that it is about.
    ///   - now: the wall clock, which the subscriber sees.
    public mutating func add(_ data: Data, about device: String? = nil, at now: Date) {
        entries.append(Entry(number: next, data: data, device: device, addedAt: now))
        next += 1
        if entries.count > Self.capacity {
            entries.removeFirst()
            dropped += 1
        }
    }

    /// The messages that wait, the oldest first.
    /// - Parameter uptime: a clock that is never set, as the time since any beginning.
    public mutating func pull(upTo count: Int, at uptime: Duration) -> [Message] {
        var messages: [Message] = []
        for index in entries.indices where messages.count < count {
            guard entries[index].dueAt.map({ $0 <= uptime }) ?? true else { continue }
            entries[index].dueAt = uptime + Self.patience
            let entry = entries[index]
            messages.append(
                Message(
                    acknowledgement: "\(entry.number)", data: entry.data, id: "\(entry.number)",
                    publishedAt: entry.addedAt))
        }
        return messages
    }

    /// Forgets the messages about some devices.
    public mutating func removeMessages(about isGone: (_ device: String) -> Bool) {
        entries.removeAll { $0.device.map(isGone) ?? false }
    }

    /// Forgets messages. An unknown one was acknowledged before.
    public mutating func acknowledge(_ acknowledgements: [String]) {
        let numbers = Set(acknowledgements.compactMap { UInt64($0) })
        entries.removeAll { numbers.contains($0.number) }
    }
}
