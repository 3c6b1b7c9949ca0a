/// What happens to datagrams on the way from one host to another.
public struct LinkConditions: Sendable {
    /// The delay of every datagram.
    public var latency: Duration
    /// The most that a datagram is delayed in addition, evenly distributed. The order stays the same.
    public var jitter: Duration = .zero
    /// The share of datagrams that are lost, independently of each other, from 0 to 1.
    public var loss: Double = 0
    /// Losses that come in bursts, in addition to ``loss``.
    public var burstLoss: BurstLoss?
    /// The share of datagrams that are held back by ``reorderingDelay`` and overtaken by those behind them.
    public var reordering: Double = 0
    /// How long a reordered datagram is held back.
    public var reorderingDelay: Duration = .milliseconds(10)
    /// The share of datagrams that arrive twice.
    public var duplication: Double = 0
    /// The rate in bits per second, including IP and UDP headers; nil for no limit.
    public var bitsPerSecond: Int?
    /// How long a datagram may wait for the rate before it is dropped.
    public var queueLimit: Duration = .milliseconds(200)

    /// The bytes that may exceed the rate at a time on a line that has no queue and drops what exceeds its rate, as a filter
    /// does that polices traffic; nil for a line with a queue.
    public var policedBurst: Int?

    /// Whether all datagrams of the source share the rate and the queue, whatever their destination.
    public var sharesLine = false

    /// Conditions with only a latency.
    public init(latency: Duration = .milliseconds(1)) {
        self.latency = latency
    }

    /// Conditions with a latency and independent losses.
    public init(latency: Duration, loss: Double) {
        self.latency = latency
        self.loss = loss
    }

    /// Nothing arrives.
    public static var cut: LinkConditions { LinkConditions(latency: .zero, loss: 1) }
}

/// Losses by the Gilbert-Elliott model: a good state without losses and a bad one with many.
public struct BurstLoss: Sendable {
    /// The chance that the link turns bad before a datagram.
    public var becomesBad: Double
    /// The chance that the link turns good before a datagram; its inverse is the mean length of a burst.
    public var becomesGood: Double
    /// The share of datagrams that are lost while the link is bad.
    public var lossWhileBad: Double

    /// Describes the model.
    public init(becomesBad: Double, becomesGood: Double, lossWhileBad: Double = 1) {
        self.becomesBad = becomesBad
        self.becomesGood = becomesGood
        self.lossWhileBad = lossWhileBad
    }
}
