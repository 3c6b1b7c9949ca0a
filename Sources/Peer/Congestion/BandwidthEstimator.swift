import Transport

/// Estimates what the path to one peer carries, and how much may be sent into it, as in Google Congestion Control
/// (draft-ietf-rmcat-gcc-02): from delays and losses by transport-wide feedback, and otherwise from receiver reports, round
/// trips and the receiver's own estimate.
///
/// Nobody can turn the rate of a camera. So there is no limit as long as nothing shows that the path is too slow, which is
/// the difference from the draft, where every sender starts slowly. A limit begins when a queue builds up, or when packets
/// are lost for want of room. Loss alone does not show that (``LossPlacement``, ``RateLimit``).
///
/// It does no I/O and has no clock. All rates are in bits a second, with the headers of UDP and IP.
public struct BandwidthEstimator: Sendable {
    /// The headers of IPv4 and UDP, in bytes.
    public static let headerBytes = 28
    /// The lowest limit. Sound needs some of it, and an estimate that has collapsed must be able to recover.
    public static let floor = 100_000.0

    /// What has been sent to the peer so far, and what would be sent to it.
    public struct Traffic: Sendable {
        /// Datagrams with media.
        public var datagrams: UInt64
        /// Their bytes, without the headers of UDP and IP.
        public var bytes: UInt64
        /// What would be sent without a limit, in bits a second.
        public var demand: Double
        /// Whether a limit may begin. While a backlog is paced in another way, its queue means nothing.
        public var mayBegin: Bool
        /// Whether pictures wait that are too old for the live edge. If the limit ended now, all of them would leave at once.
        public var isBehind: Bool

        /// Describes what is sent.
        public init(datagrams: UInt64, bytes: UInt64, demand: Double, mayBegin: Bool, isBehind: Bool = false) {
            self.datagrams = datagrams
            self.bytes = bytes
            self.demand = demand
            self.mayBegin = mayBegin
            self.isBehind = isBehind
        }

        /// Bytes with all headers.
        public var wireBytes: UInt64 { bytes &+ datagrams &* UInt64(BandwidthEstimator.headerBytes) }
    }

    /// The loss from which its placement is looked at, and from which a lower rate is tried without more evidence.
    static let loss = (some: 0.08, heavy: 0.3)
    /// How often in a row heavy loss is measured before a trial.
    static let heavyWindows = 4
    /// A path that carries this multiple of the demand drains every queue.
    static let room = 1.05
    /// The pause after a limit that was wrong. It doubles each time.
    private static let pause = (first: Duration.seconds(20), longest: Duration.seconds(600))
    /// After this time, transport-wide feedback has come to an end.
    private static let silence = Duration.seconds(2)
    /// Without any report for this long, the limit is halved: a multiple of the usual time between two, and the bounds of that.
    private static let patience = (multiple: 2, least: Duration.seconds(2), most: Duration.seconds(20))

    // By transport-wide feedback.
    var groups = ArrivalGroups()
    var delay = DelayDetector()
    var delivered = DeliveredRate()
    var service = ServiceRate()
    var window = LossWindow()
    var sudden = SuddenLoss()
    var probe = ProbePlan() { didSet { nextProbe = probe.nextDeadline } }
    /// When ``probeBytes(_:next:at:)`` has to be asked. It is stored, so that it can be read without the rest.
    public private(set) var nextProbe: Instant?
    /// When the path in use became that.
    var pathSince = Instant.zero
    /// When transport-wide feedback came last.
    var feedbackAt: Instant?

    // By receiver reports.
    var roundTrips = RoundTripDetector()
    var receiver = ReceiverEstimate()

    var placement = LossPlacement()
    var sent = SentRate()
    var limitation: RateLimit?
    var heavyCount = 0
    var nextDoubt = Instant.zero
    private var pause = pause.first
    private var watch = ReportWatch()
    /// When the peer reported anything last, or when the limit was halved because it did not.
    private var heardAt = Instant.zero
    /// The newest report, and the usual time between two of them.
    private var reports: (newest: Instant, pause: Duration?)?
    /// The highest rate that has been seen to arrive.
    var proven = 0.0
    /// When a probe showed that last.
    var provenAt: Instant?
    /// When the peer got a larger stream last.
    private(set) var raisedAt: Instant?
    /// The share of packets that was lost in the newest window without a limit, or is lost at any rate; 0 to 1.
    public internal(set) var lossShare = 0.0

    /// The share of packets lost in the newest moments, 0 to 1.
    public var newestLoss: Double { window.packets >= Self.fewPackets ? window.share : lossShare }

    /// The fewest packets whose loss means anything.
    private static let fewPackets = 20

    /// Whether much more is lost than just before, and it is not known yet why.
    public var losesSuddenly: Bool { sudden.since != nil }

    /// Nothing is known.
    public init() {}

    /// What the path carries, as far as this is known: the limit, or the highest rate that has arrived. Nil before the
    /// first report.
    public func estimate(at now: Instant) -> Double? {
        if let limit = limit(at: now) { return limit }
        return proven > 0 ? proven : nil
    }

    /// How much may be sent; nil while there is no reason to send less than everything.
    public func limit(at now: Instant) -> Double? {
        // Each send asks, so nothing is allocated.
        let reported = receiver.limit(at: now).map { max(Self.floor, $0) }
        return Self.lower(Self.lower(limitation?.target, reported), watch.isSilent ? ReportWatch.rate : nil)
    }

    private static func lower(_ one: Double?, _ other: Double?) -> Double? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }

    /// Whether a limit is only tried, and may end at once.
    public var isOnTrial: Bool { limitation?.isOnTrial ?? false }

    /// From now on the peer gets a larger stream. Heavy loss soon after that means that the path does not carry it.
    public mutating func recordLargerStream(at now: Instant) {
        raisedAt = now
        receiver.recordLargerStream(at: now)
    }

    /// How long packets wait on the path, in milliseconds, as far as this can be determined.
    public var queueDelay: Double { delay.queueDelay }

    /// Whether transport-wide feedback has come lately.
    public func hasFeedback(at now: Instant) -> Bool { feedbackAt.map { now - $0 < Self.silence } ?? false }

    /// Where a missing packet was among those that left with it. Not for packets that were paced.
    public mutating func recordMissing(frame: UInt64, position: Int, of count: Int) {
        guard limitation == nil else { return }
        placement.recordLost(frame: frame, position: position, of: count)
    }

    /// Takes the receiver's own estimate (REMB), which may say anything. It counts while it is below the demand and no
    /// transport-wide feedback comes, which knows more.
    public mutating func recordReceiverEstimate(_ bitsPerSecond: UInt64, demand: Double, at now: Instant) {
        watch.recordReport(at: now)
        guard !hasFeedback(at: now), demand > 0 else { return receiver.setAside() }
        receiver.record(Double(bitsPerSecond), demand: demand, at: now)
    }

    /// Some time has passed. A peer that has gone silent gets less.
    public mutating func recordTime(at now: Instant) {
        let usual = (reports?.pause ?? .zero) * Self.patience.multiple
        let patience = min(max(usual, Self.patience.least), Self.patience.most)
        guard limitation != nil, now - heardAt >= patience else { return }
        heardAt = now
        limitation?.halve(at: now)
    }

    /// Some time has passed, in which a peer that reports what it gets should have done so. One that stays silent gets little.
    /// - Parameter sent: the bytes that were sent to the peer so far.
    public mutating func recordTime(sent: UInt64, at now: Instant) { watch.recordTime(sent: sent, at: now) }

    /// The peer has reported on a part of what it gets, or what carries it does: TCP.
    public mutating func recordPartialReport(at now: Instant) { watch.recordReport(at: now) }

    // MARK: - The limit

    mutating func begin(_ cause: RateLimit.Cause, delivered: Double, loss: Double, at now: Instant) {
        limitation = RateLimit(because: cause, delivered: delivered, loss: loss, floor: Self.floor, at: now)
        heavyCount = 0
        placement.removeAll()
        sudden.end()
        raisedAt = nil
    }

    mutating func judgeLimit(
        _ loss: LossWindow.Measurement?, _ usage: PathUsage, delivered: Double?, _ traffic: Traffic, at now: Instant
    ) {
        guard
            let verdict = limitation?.judge(
                loss, usage, delivered: delivered, sent: sent.newest, traffic, at: now)
        else {
            return
        }
        switch verdict {
        case .stays: return
        case .ends:
            proven = max(limitation?.target ?? 0, delivered ?? 0)
            pause = Self.pause.first
        case .endsAsRandom:
            nextDoubt = now + pause
            pause = min(pause * 2, Self.pause.longest)
        }
        lossShare = limitation?.usualLoss ?? 0
        limitation = nil
        window.restart(at: now)
    }

    /// The peer has reported something, however little.
    public mutating func recordHeard(at now: Instant) {
        heardAt = now
        var pause = reports.map { max(now - $0.newest, .zero) }
        // A request for a lost packet brings a report of its own, which says little of when the next regular one comes. There
        // may be hundreds. So without transport-wide feedback, a pause counts by its length: many short ones together weigh no
        // more than one long one.
        if let newest = pause, let usual = reports?.pause {
            if newest < usual {
                pause = usual + (newest - usual) * (hasFeedback(at: now) ? 1 : newest / usual) / 32
            } else {
                pause = usual + (newest - usual) / 4
            }
        }
        reports = (now, pause)
        watch.recordReport(at: now)
    }
}

/// What the delays show.
enum PathUsage {
    case normal
    /// The queue grows, or is long and does not become shorter.
    case overuse
    /// The queue becomes shorter.
    case underuse
}
