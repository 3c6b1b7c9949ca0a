import Transport

/// Finds out whether the path carries more than what is sent, by sending more for a moment.
///
/// A probe of some packets shows what a path with a queue carries. A line that polices its rate lets a burst pass: often a
/// second's worth of what it carries, which is saved up while less is sent. So probes that last longer follow one that went
/// well, and together they send more than such a line has saved up. All end at the first sign that they are too much.
struct ProbePlan: Sendable {
    /// How a probe ended.
    enum Outcome: Equatable {
        /// The path carries so many bits a second.
        case passed(Double)
        case failed
    }

    /// The probes that follow one another.
    private enum Stage {
        case short
        case long
        /// Empties the bucket of a line that polices its mean rate.
        case sustained
    }

    /// How long they last.
    private static let lengths = (
        short: Duration.milliseconds(40), long: Duration.milliseconds(350), sustained: Duration.milliseconds(1_500)
    )
    /// The longest sustained probe. Each move up that did not last doubles its length, because the bucket is larger than it.
    private static let longestSustained = Duration.seconds(6)
    /// The time between two sends of a probe.
    private static let interval = Duration.milliseconds(5)
    /// The most that is sent at once, in bytes.
    private static let burst = 4_000.0
    /// How soon a probe follows another. It must be soon, because a line that carries the rate again is noticed only by a probe.
    /// But a probe that fails late costs much: the pause is a multiple of the time that it took. After some of these in a row it
    /// is a little longer, and still leaves time for all probes and a key frame within ten seconds.
    private static let pause = (
        first: Duration.seconds(2), next: Duration.milliseconds(2_500), late: Duration.milliseconds(3_200), multiple: 2
    )
    /// How many probes in a row may fail late before the pause becomes longer.
    private static let patientFailures = 8
    /// A probe without feedback for so long has failed.
    private static let patience = Duration.seconds(1)
    /// The additional share of loss, and the queue in milliseconds, that are too much at once, and at the end.
    private static let tolerance = (loss: 0.2, queue: 60.0, lossAtEnd: 0.08, queueAtEnd: 25.0)
    /// The newest packets that show the loss while a probe is on its way, and by how many standard deviations of chance.
    private static let newest = (packets: 24, deviations: 2.5)

    private struct Cluster {
        var rate: Double
        var stage: Stage
        var begin: Instant
        /// When the first of the probes that follow one another began.
        var firstBegin: Instant
        /// What had been sent before, in bytes on the wire.
        var bytesBefore: UInt64
        /// The transport-wide sequence numbers that belong to it.
        var numbers: Range<UInt64>
        var isSent = false
        var arrived = 0
        var missing = 0
        /// Those since the loss was judged last. What arrived before a bucket was empty says nothing about the line.
        var newest = LossWindow()
    }

    private var cluster: Cluster?
    private var wanted: Double?
    private var next = Instant.distantFuture
    /// How many moves up in a row did not last.
    private var failures = 0
    /// How many probes in a row have failed late.
    private var lateFailures = 0

    /// What is to be found out: whether the path carries so many bits a second; nil for nothing.
    /// - Parameter failures: how many moves up in a row did not last.
    mutating func want(_ rate: Double?, failures: Int, at now: Instant) {
        self.failures = failures
        guard (rate == nil) != (wanted == nil) else {
            wanted = rate
            return
        }
        wanted = rate
        cluster = nil
        next = rate == nil ? .distantFuture : now + Self.pause.first
    }

    /// When ``bytesDue(_:next:at:)`` has something to say.
    var nextDeadline: Instant? {
        guard wanted != nil else { return nil }
        guard let cluster else { return next }
        return cluster.isSent ? cluster.begin + length(of: cluster) + Self.patience : next
    }

    /// Whether a probe is being sent, or not yet reported on.
    var isInFlight: Bool { cluster != nil }

    /// How many bytes have to leave now besides everything else.
    /// - Parameters:
    ///   - sent: the bytes on the wire so far.
    ///   - number: the next transport-wide sequence number.
    mutating func bytesDue(_ sent: UInt64, next number: UInt64, at now: Instant) -> Int {
        guard let wanted, now >= nextDeadline ?? .distantFuture else { return 0 }
        guard let running = cluster else {
            begin(wanted, .short, sent, number, at: now)
            return bytes(sent, at: now)
        }
        guard !running.isSent else {
            end(at: now)
            return 0
        }
        guard now - running.begin < length(of: running) else {
            cluster?.isSent = true
            cluster?.numbers = running.numbers.lowerBound..<max(number, running.numbers.lowerBound)
            return 0
        }
        return bytes(sent, at: now)
    }

    private mutating func begin(_ rate: Double, _ stage: Stage, _ sent: UInt64, _ number: UInt64, at now: Instant) {
        cluster = Cluster(
            rate: rate, stage: stage, begin: now, firstBegin: cluster?.firstBegin ?? now, bytesBefore: sent,
            numbers: number..<UInt64.max)
    }

    private mutating func bytes(_ sent: UInt64, at now: Instant) -> Int {
        guard let cluster else { return 0 }
        next = now + Self.interval
        let due = cluster.rate / 8 * ((now - cluster.begin) + Self.interval).inSeconds
        return Int(min(max(due - Double(sent &- cluster.bytesBefore), 0), Self.burst))
    }

    private func length(of cluster: Cluster) -> Duration {
        switch cluster.stage {
        case .short: Self.lengths.short
        case .long: Self.lengths.long
        case .sustained: min(Self.lengths.sustained * (1 << min(failures, 3)), Self.longestSustained)
        }
    }

    /// The socket does not even accept what is sent now. What has left of the probe says nothing about the path.
    mutating func recordBlocked(at now: Instant) {
        if cluster?.isSent == false { end(at: now) }
    }

    private mutating func end(hasFailed: Bool = true, at now: Instant) {
        guard let cluster else { return }
        if !hasFailed { lateFailures = 0 } else if cluster.stage != .short { lateFailures += 1 }
        let least = lateFailures > Self.patientFailures ? Self.pause.late : Self.pause.next
        next = now + max(least, (now - cluster.firstBegin) * Self.pause.multiple)
        self.cluster = nil
    }

    /// Whether the newest packets show that the probe is too much.
    private mutating func losesTooMuch(usualLoss: Double) -> Bool {
        guard let newest = cluster?.newest, newest.packets >= Self.newest.packets else { return false }
        cluster?.newest = LossWindow()
        let likely = max(usualLoss, 0.01)
        let chance = (likely * (1 - likely) / Double(newest.packets)).squareRoot()
        return newest.share - usualLoss > Self.tolerance.loss + Self.newest.deviations * chance
    }

    /// Counts a packet that arrived, or that is missing.
    mutating func record(_ packet: SendLog.Packet, hasArrived: Bool) {
        guard let cluster, cluster.numbers.contains(packet.number) else { return }
        if hasArrived {
            self.cluster?.newest.recordArrival(wasMissing: packet.wasMissing)
            self.cluster?.arrived += 1
            if packet.wasMissing { self.cluster?.missing = max(0, cluster.missing - 1) }
        } else {
            self.cluster?.newest.recordMissing()
            self.cluster?.missing += 1
        }
    }

    /// All messages of a datagram have been read.
    /// - Parameters:
    ///   - reported: the first packet that no feedback has reported on.
    ///   - usualLoss: the share of packets that the path loses anyway.
    ///   - queue: how long packets wait on the path, in milliseconds.
    ///   - sent: the bytes on the wire so far.
    ///   - number: the next transport-wide sequence number.
    mutating func judge(
        reported: UInt64, usualLoss: Double, queue: Double, _ sent: UInt64, next number: UInt64, at now: Instant
    ) -> Outcome? {
        guard let cluster, reported > cluster.numbers.lowerBound else { return nil }
        let packets = cluster.arrived + cluster.missing
        let loss = Double(cluster.missing) / Double(max(packets, 1)) - usualLoss
        let isTooMuch = losesTooMuch(usualLoss: usualLoss) || queue > Self.tolerance.queue
        guard isTooMuch || cluster.isSent && reported >= cluster.numbers.upperBound else { return nil }
        // A short probe has too few packets to judge a small loss by.
        let hasRoom =
            loss <= (cluster.stage == .short ? Self.tolerance.loss : Self.tolerance.lossAtEnd)
            && queue <= Self.tolerance.queueAtEnd
        guard !isTooMuch, hasRoom, packets > 0 else {
            end(at: now)
            return .failed
        }
        let following: Stage? =
            switch cluster.stage {
            case .short: .long
            case .long: .sustained
            case .sustained: nil
            }
        if let following {
            begin(cluster.rate, following, sent, number, at: now)
            next = now
            return nil
        }
        end(hasFailed: false, at: now)
        return .passed(cluster.rate)
    }
}
