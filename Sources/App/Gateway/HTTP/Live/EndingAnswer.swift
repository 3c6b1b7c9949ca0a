import NIOCore
import Transport

/// An answer without an end that the gateway ends, because its client may no longer have it. A client that takes a byte now and
/// then would keep the answer, and its place, for as long as it likes. So its connection is closed if it does not take the end
/// in time.
final class EndingAnswer: Sendable {
    /// How long the client may take.
    static let limit = TimeAmount.seconds(5)

    private let channel: any Channel
    private let isOver = Locked(false)

    init(on channel: any Channel) {
        self.channel = channel
    }

    /// The answer has to end.
    func begin() {
        channel.eventLoop.scheduleTask(in: Self.limit) { [channel, isOver] in
            // The connection may have another request by now.
            if !isOver.withLock({ $0 }) { channel.close(promise: nil) }
        }
    }

    /// The answer has ended.
    func end() { isOver.withLock { $0 = true } }
}
