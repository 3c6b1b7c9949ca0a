import Congestion
import RTP
import Transport

/// What the gateway knows about the path to one viewer, and what it does about it.
struct ViewerLine {
    /// Repairs stop waiting for the viewer's requests at the first share of loss, and wait for them again below the second.
    private static let heavyLoss = (from: 0.08, until: 0.04)
    /// From this share of loss, everything is sent twice if the path back loses many packets too.
    private static let lossForSendingTwice = 0.12
    private static let mostRandomLoss = 0.4
    /// How many windows of reports in a row have heavy loss before much more is sent. A line that has just become too slow
    /// looks as if it lost packets at random, until the estimator knows better.
    private static let leastHeavyReports = 2
    /// The path back is judged over this many feedback messages. It loses many packets if ``lostFeedback`` of them are lost.
    private static let feedbackWindow = 24
    private static let lostFeedback = 3
    /// The time between two round trips that are measured behind media: where they matter now, and otherwise.
    private static let roundTripInterval = (soon: Duration.milliseconds(150), later: Duration.seconds(1))

    var estimator = BandwidthEstimator()
    var budget = RateBudget()
    private var meter = LossMeter()
    /// What the path carries in bits a second; nil while unknown.
    private(set) var estimate: Double?
    /// Whether losses are repaired before the viewer asks (see ``Viewer/repair(_:through:at:)``).
    private(set) var repairsEarly = false
    /// How many windows of reports in a row had heavy loss, as far as it matters.
    private var heavyReports = 0
    private var share = 0.0
    private var losesRequests = false
    private var lastFeedback: UInt8?
    private var feedbackMessages = (expected: 0, received: 0)
    /// When the next round trip is measured; nil for never.
    private var nextRoundTrip: Instant?

    /// - Parameter measuresRoundTrips: whether no transport-wide feedback is to be expected, so that round trips have to show
    ///   what waits on the path.
    init(measuresRoundTrips: Bool = false) { nextRoundTrip = measuresRoundTrips ? .zero : nil }

    /// Whether the path loses many packets at random, so that much more has to be sent than it carries. With more loss than
    /// radio has, sending more does not help.
    var isLossy: Bool {
        repairsEarly && heavyReports >= Self.leastHeavyReports && !isLimited && !estimator.losesSuddenly
            && estimator.newestLoss < Self.mostRandomLoss
    }

    /// What is lost, as far as it matters for repairs.
    var losses: RateBudget.Losses {
        isLossy ? .lossy : estimator.losesSuddenly || estimator.isProbing ? .sudden : .usual
    }

    /// Whether everything is sent twice without a request.
    var sendsTwice: Bool { isLossy && losesRequests && share >= Self.lossForSendingTwice }

    /// Whether the second copy of each repair is sent, too.
    var repairsTwice: Bool { isLossy && !sendsTwice }

    /// Whether the viewer gets less than everything.
    var isLimited: Bool { budget.isLimited }

    /// The limit, in bits a second; nil for none.
    func limit(at now: Instant) -> Double? { estimator.limit(at: now) }

    /// Reads a receiver report's block about the video.
    mutating func record(_ block: RTCPReportBlock, _ traffic: BandwidthEstimator.Traffic, at now: Instant) {
        estimator.recordHeard(at: now)
        guard let window = meter.record(block, isLimited: isLimited, at: now) else { return }
        share = window.share
        let packetBytes = Double(traffic.wireBytes) / Double(max(traffic.datagrams, 1))
        estimator.recordReport(
            BandwidthEstimator.Report(
                expected: window.packets, lost: window.lost, duration: window.duration, packetBytes: packetBytes),
            traffic, at: now)
        update(at: now)
        // What is lost for want of room must not be sent again sooner.
        let random = isLimited ? estimator.lossShare : share
        repairsEarly = random >= (repairsEarly ? Self.heavyLoss.until : Self.heavyLoss.from)
        heavyReports = repairsEarly ? min(heavyReports + 1, Self.leastHeavyReports) : 0
    }

    /// All feedback of a datagram has been read: what it shows counts from now on.
    mutating func endFeedback(_ traffic: BandwidthEstimator.Traffic, _ log: SendLog, at now: Instant) {
        estimator.endFeedback(traffic, log, at: now)
        update(at: now)
    }

    /// Takes over what the estimator says.
    mutating func update(at now: Instant) {
        estimator.recordTime(at: now)
        let wasLimited = isLimited
        budget.setLimit(estimator.limit(at: now), at: now)
        estimate = estimator.estimate(at: now)
        if isLimited, !wasLimited { (repairsEarly, heavyReports) = (false, 0) }
    }

    /// Takes the viewer's own estimate.
    mutating func recordReceiverEstimate(_ bitsPerSecond: UInt64, demand: Double, at now: Instant) {
        estimator.recordReceiverEstimate(bitsPerSecond, demand: demand, at: now)
        update(at: now)
    }

    /// The viewer is reached on another path from now on.
    mutating func recordPathChange(at now: Instant) { estimator.recordPathChange(at: now) }

    /// When the next packets of a probe are due.
    var nextProbe: Instant? { estimator.nextProbe }

    /// Whether a check has to follow the media that has just been sent, because its round trip is worth knowing.
    mutating func takeRoundTripDue(at now: Instant) -> Bool {
        guard let due = nextRoundTrip, now >= due, !estimator.hasFeedback(at: now) else { return false }
        nextRoundTrip =
            now + (estimator.wantsRoundTrips(at: now) ? Self.roundTripInterval.soon : Self.roundTripInterval.later)
        return true
    }

    /// Records a message of transport-wide feedback. Gaps in the messages' numbers show the losses of the path back.
    mutating func recordFeedback(number: UInt8) {
        defer { lastFeedback = number }
        guard let lastFeedback else { return }
        let step = number &- lastFeedback
        // Larger steps are messages that arrived out of order.
        guard step > 0, step < 128 else { return }
        feedbackMessages.expected += Int(step)
        feedbackMessages.received += 1
        guard feedbackMessages.expected >= Self.feedbackWindow else { return }
        let lost = Double(feedbackMessages.expected - feedbackMessages.received) / Double(feedbackMessages.expected)
        // One window without any loss is enough to stop: with 20 % of loss that is one window in 200.
        losesRequests = losesRequests ? lost > 0 : lost * Double(Self.feedbackWindow) >= Double(Self.lostFeedback)
        feedbackMessages = (0, 0)
    }
}
