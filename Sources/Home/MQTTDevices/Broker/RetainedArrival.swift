import Transport

/// Whether the broker has sent all that it retains since it was connected.
///
/// MQTT does not say when that is so. The broker answers each subscription, and may send what it retains before its
/// answer or after it. So everything counts as sent when all subscriptions are answered and nothing retained has come
/// for a while.
struct RetainedArrival: Sendable {
    /// How long nothing must come. A network may stall for some seconds in between.
    static let pause = Duration.seconds(10)

    private var unanswered = 0
    /// When something last happened after which more may come.
    private var newest = Instant.zero

    /// The broker was connected. Nothing has come yet.
    mutating func begin(at now: Instant) {
        unanswered = 0
        newest = now
    }

    /// A subscription is sent.
    mutating func subscribe() { unanswered += 1 }

    /// A subscription was not sent after all, so no answer comes.
    mutating func takeBack() { unanswered = max(0, unanswered - 1) }

    /// The broker has answered a subscription.
    mutating func answer(at now: Instant) {
        unanswered = max(0, unanswered - 1)
        newest = now
    }

    /// A retained message has come. Only messages that answer a new subscription are marked as retained (MQTT 3.1.1,
    /// section 3.3.1.3).
    mutating func receive(at now: Instant) { newest = now }

    /// Whether everything has come.
    func isComplete(at now: Instant) -> Bool { unanswered == 0 && now - newest >= Self.pause }
}
