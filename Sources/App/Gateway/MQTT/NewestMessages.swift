import MQTTDevices
import Transport

/// Messages that wait for their reader, the newest of each topic. What a topic wanted before has been replaced, so nothing
/// that counts is lost, and no more wait than there are topics.
final class NewestMessages: Sendable {
    private let waiting = Locked<[MQTTMessage]>([])
    private let signal: AsyncStream<Void>.Continuation
    /// Yields after something was added.
    let arrivals: AsyncStream<Void>

    /// Nothing waits.
    init() { (arrivals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    /// Adds a message, in place of an older one of its topic.
    func add(_ message: MQTTMessage) {
        waiting.withLock { messages in
            messages.removeAll { $0.topic == message.topic }
            messages.append(message)
        }
        signal.yield()
    }

    /// Everything that waits.
    func takeAll() -> [MQTTMessage] {
        waiting.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
