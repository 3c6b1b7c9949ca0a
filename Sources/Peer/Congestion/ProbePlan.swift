import Transport

/// Finds out whether the path carries more than what is sent, by sending more for a moment.
///
/// A probe of some packets shows what a path with a queue carries. A line that polices its rate lets a burst pass, so a probe
/// that lasts longer follows one that went well. Both end at the first sign that they are too much.
struct ProbePlan: Sendable {
    /// How a probe ended.
    enum Outcome: Equatable {
        /// The path carries so many bits a second.
        case passed(Double)
        case failed
    }

    /// How long the two kinds of probes last.
    private static let lengths = (short: Duration.milliseconds(40), long: Duration.milliseconds(350))
    /// The time between two sends of a probe.
    private static let interval = Duration.milliseconds(5)
    /// The most that is sent at once, in bytes.
    private static let burst = 4_000.0
    /// How soon a probe follows another.
    private static let pause = (first: Duration.seconds(2), next: Duration.seconds(4))
    /// A probe without feedback for so long has failed.
    private static let patience = Duration.seconds(1)
    /// The additional share of loss, and the queue in milliseconds, that are too much at once, and at the end.
    private static let tolerance = (loss: 0.2, queue: 60.0, lossAtEnd: 0.08, queueAtEnd: 25.0)
    /// The packets that show the loss while a probe is on its way.
    private static let leastPackets = 12

    private struct Cluster {
        var rate: Double
        var isLong: Bool
        var begin: Instant
        /// What had been sent before, in bytes on the wire.
        var bytesBefore: UInt64
        /// The transport-wide sequence numbers that belong to it.
        var numbers: Range<UInt64>
        var isSent = false
        var arrived = 0
        var missing = 0
    }

    private var cluster: Cluster?
    private var wanted: Double?
    private var next = Instant.distantFuture

    /// What is to be found out: whether the path carries so many bits a second; nil for nothing.
    mutating func want(_ rate: Double?, at now: Instant) {
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
            begin(wanted, isLong: false, sent, number, at: now)
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

    private mutating func begin(_ rate: Double, isLong: Bool, _ sent: UInt64, _ number: UInt64, at now: Instant) {
        cluster = Cluster(rate: rate, isLong: isLong, begin: now, bytesBefore: sent, numbers: number..<UInt64.max)
    }

    private mutating func bytes(_ sent: UInt64, at now: Instant) -> Int {
        guard let cluster else { return 0 }
        next = now + Self.interval
        let due = cluster.rate / 8 * ((now - cluster.begin) + Self.interval).inSeconds
        return Int(min(max(due - Double(sent &- cluster.bytesBefore), 0), Self.burst))
    }

    private func length(of cluster: Cluster) -> Duration { cluster.isLong ? Self.lengths.long : Self.lengths.short }

    private mutating func end(at now: Instant) {
        cluster = nil
        next = now + Self.pause.next
    }

    /// Counts a packet that arrived, or that is missing.
    mutating func note(_ packet: SendLog.Packet, hasArrived: Bool) {
        guard let cluster, cluster.numbers.contains(packet.number) else { return }
        if hasArrived {
            self.cluster?.arrived += 1
            if packet.wasMissing { self.cluster?.missing = max(0, cluster.missing - 1) }
        } else {
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
        let isTooMuch = packets >= Self.leastPackets && loss > Self.tolerance.loss || queue > Self.tolerance.queue
        guard isTooMuch || cluster.isSent && reported >= cluster.numbers.upperBound else { return nil }
        // A short probe has too few packets to judge a small loss by.
        let hasRoom =
            loss <= (cluster.isLong ? Self.tolerance.lossAtEnd : Self.tolerance.loss)
            && queue <= Self.tolerance.queueAtEnd
        guard !isTooMuch, hasRoom, packets > 0 else {
            end(at: now)
            return .failed
        }
        guard cluster.isLong else {
            begin(cluster.rate, isLong: true, sent, number, at: now)
            next = now
            return nil
        }
        end(at: now)
        return .passed(cluster.rate)
    }
}
