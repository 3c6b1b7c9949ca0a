import Transport

/// How much is sent into a path that is too slow: additive increase, multiplicative decrease
/// (draft-ietf-rmcat-gcc-02, sections 5.5 and 6).
///
/// Deviation from section 6, where 10 % of loss lowers the rate whatever its cause: a bad radio link loses a fifth of
/// everything at any rate, and a lower rate helps nobody there. So a decrease because of loss is checked. If the loss stays
/// as it was, after a second decrease too, the path loses that share anyway: the rate returns to what it was, and only more
/// loss than that counts.
struct RateLimit: Sendable {
    /// Why the rate is limited.
    enum Cause: Sendable {
        /// A queue builds up on the path.
        case queue
        /// Packets are lost for want of room.
        case loss
        /// So much is lost that a lower rate is tried.
        case trial
    }

    /// What follows from a judgement.
    enum Verdict: Equatable {
        case stays
        /// The path carries everything.
        case ends
        /// The loss that led here has nothing to do with the rate.
        case endsAsRandom
    }

    /// The factors after a queue and after loss (`beta` of section 5.5), and when the first one had no effect. A full queue
    /// has to drain, too.
    private static let decrease = (queue: 0.85, loss: 0.95, again: 0.8)
    /// The growth in a second: at first, the part that comes with each second without trouble, and the most.
    private static let growth = (first: 0.08, more: 0.06, most: 0.4)
    /// What is added in a second while the rate is near the one that was too high, in bits a second: some packets.
    private static let step = 60_000.0
    /// The rate is near the one that was too high up to this share of it.
    private static let near = 1.2
    /// After so many seconds without trouble, it may be another path.
    private static let capacityMemory = 4.5
    /// The rate is at most this much above what arrives (section 5.5).
    private static let headroom = (share: 1.5, bits: 20_000.0)
    /// The time between a decrease and a judgement of what it has brought.
    private static let reaction = Duration.milliseconds(250)
    /// The packets that judge it: as many as tell the loss before from none, and the bounds of that.
    private static let packets = (factor: 16.0, least: 24, most: 240)
    /// The share of the loss that has to go away for the decrease to be right.
    private static let effect = 0.4
    /// The limit is used when so much of it is sent.
    private static let filled = 0.75
    /// How much more loss than usual counts, and by how many standard deviations of chance.
    private static let excess = (share: 0.04, deviations: 2.5)
    /// From this multiple of the demand on, after such a time without trouble, the path carries everything. A line that
    /// polices its mean rate lets more pass for a while, so after losses it takes longer.
    private static let enough = (
        share: 1.2, time: Duration.milliseconds(1_500), timeAfterLoss: Duration.milliseconds(2_500)
    )

    private struct Check {
        /// The share of loss before.
        var loss: Double
        /// The rate before; nil if there was no limit.
        var target: Double?
        /// Whether the rate may not have become low enough: what arrived before a decrease says little about the line.
        var isFirst = true
    }

    let cause: Cause
    /// Bits a second, with all headers.
    private(set) var target: Double
    private let floor: Double
    private var window = LossWindow()
    /// When the rate was lowered last. What left before says nothing about the present rate.
    private(set) var loweredAt: Instant
    private var grownAt: Instant
    /// What left before this says nothing about the rate.
    private var countsFrom: Instant
    /// The decrease that is being checked: the loss and the rate before it, nil if there was no limit.
    private var check: Check?
    /// The share that the path loses at any rate.
    private(set) var usualLoss = 0.0
    /// Since when the rate is enough for everything; nil if it is not.
    private var enoughSince: Instant?
    /// Whether the path showed by losses, and not by a queue, that it was full.
    private var dropsPackets: Bool
    /// The rate at which the path was full.
    private var capacity: Double?

    /// Limits the rate for the first time.
    /// - Parameters:
    ///   - delivered: what arrives, in bits a second.
    ///   - loss: the share of packets that is lost.
    ///   - floor: the lowest rate.
    init(because cause: Cause, delivered: Double, loss: Double, floor: Double, at now: Instant) {
        self.cause = cause
        self.floor = floor
        target = max(floor, delivered * (cause == .queue ? Self.decrease.queue : Self.decrease.loss))
        loweredAt = now
        grownAt = now
        countsFrom = now
        capacity = delivered
        dropsPackets = cause != .queue
        window.restart(at: now)
        if cause != .queue { check = Check(loss: loss, target: nil) }
    }

    /// Whether the first decrease has not been found right yet.
    var isOnTrial: Bool { cause == .trial && check != nil && check?.target == nil }

    /// Counts a packet.
    mutating func recordArrival(of packet: SendLog.Packet) {
        if packet.sentAt > countsFrom { window.recordArrival(wasMissing: packet.wasMissing) }
    }

    /// Counts a packet that is missing.
    mutating func recordMissing(_ packet: SendLog.Packet) {
        if packet.sentAt > countsFrom { window.recordMissing() }
    }

    /// What has left so far says nothing about the rate: a probe was among it.
    mutating func passOver(until now: Instant) {
        countsFrom = now
        window.restart(at: now)
    }

    /// The peer is reached on another path. How much that carries is not known.
    mutating func recordPathChange(at now: Instant) {
        capacity = nil
        passOver(until: now)
    }

    /// Nothing has been heard from the peer for a while.
    mutating func halve(at now: Instant) {
        lower(to: target / 2, full: nil, at: now)
        check = nil
    }

    /// The path has been seen to carry so much.
    mutating func raise(to proven: Double, at now: Instant) {
        guard proven > target else { return }
        target = proven
        if let capacity, capacity < proven { self.capacity = nil }
        grownAt = now
    }

    /// Draws conclusions from what has been reported since the last time.
    /// - Parameters:
    ///   - measured: the loss, where the caller measures it; otherwise it is what has been counted.
    ///   - usage: what the delays show.
    ///   - delivered: what arrives, in bits a second; nil if that is not known now.
    ///   - sent: what was sent lately, in bits a second; nil if that is not known now.
    ///   - traffic: what would be sent without a limit, and whether pictures wait.
    mutating func judge(
        _ measured: LossWindow.Measurement? = nil, _ usage: PathUsage, delivered: Double?, sent: Double?,
        _ traffic: BandwidthEstimator.Traffic, at now: Instant
    ) -> Verdict {
        if usage == .overuse {
            if now - loweredAt >= Self.reaction, let delivered {
                lower(to: delivered * Self.decrease.queue, full: delivered, at: now)
                check = nil
                dropsPackets = false
            }
            return .stays
        }
        if let loss = measured ?? window.close(after: Self.reaction, packetsNeeded, at: now) {
            if let verdict = judge(loss, delivered: delivered, sent: sent, at: now) { return verdict }
        }
        if usage == .normal, check == nil, now - loweredAt >= Self.reaction * 2 { grow(delivered: delivered, at: now) }
        return isEnough(for: traffic, at: now) ? .ends : .stays
    }

    /// Whether the path has carried everything for long enough, and nothing waits that would leave at once without a limit.
    private mutating func isEnough(for traffic: BandwidthEstimator.Traffic, at now: Instant) -> Bool {
        guard target >= traffic.demand * Self.enough.share, check == nil else {
            enoughSince = nil
            return false
        }
        let since = enoughSince ?? now
        enoughSince = since
        let time = dropsPackets ? Self.enough.timeAfterLoss : Self.enough.time
        return now - max(since, loweredAt) >= time && !traffic.isBehind
    }

    private var packetsNeeded: Int {
        guard let check else { return usualLoss < Self.excess.share / 2 ? Self.packets.least : Self.packets.least * 3 }
        let share = max(check.loss - usualLoss, 0.01)
        return min(max(Int(Self.packets.factor * (1 - share) / share), Self.packets.least), Self.packets.most)
    }

    private mutating func judge(_ loss: LossWindow.Measurement, delivered: Double?, sent: Double?, at now: Instant)
        -> Verdict?
    {
        if var check {
            self.check = nil
            guard loss.share - usualLoss > (check.loss - usualLoss) * (1 - Self.effect) else {
                // The decrease has helped, so some of what was taken for random was not.
                usualLoss = min(usualLoss, (usualLoss * 3 + loss.share) / 4)
                return nil
            }
            if check.isFirst, let delivered {
                // What arrived before the decrease is still among what was measured. A line that polices its mean rate let
                // much more pass until then.
                let arrives = min(delivered, max(sent ?? target, target) * (1 - loss.share))
                lower(to: arrives * Self.decrease.again, full: nil, at: now)
                check.isFirst = false
                self.check = check
                return nil
            }
            usualLoss = loss.share
            guard let before = check.target else { return .endsAsRandom }
            target = max(target, before)
            grownAt = now
            return nil
        }
        let likely = max(usualLoss, 0.01)
        let chance = (likely * (1 - likely) / Double(max(loss.packets, 1))).squareRoot()
        guard loss.share > usualLoss + max(Self.excess.share, Self.excess.deviations * chance) else {
            // Only a check makes it larger: a rate that grows slowly loses more and more.
            usualLoss = min(usualLoss, usualLoss + (loss.share - usualLoss) / 8)
            return nil
        }
        check = Check(loss: loss.share, target: target)
        dropsPackets = true
        // What the path loses anyway would have had room. What arrives says too little when less was sent than allowed.
        let usual = min(usualLoss, 0.5)
        let arrived = (delivered ?? 0) / (1 - usual)
        let isFilled = delivered != nil && (sent ?? target) >= target * Self.filled
        let room = isFilled ? arrived : max(arrived, target * (1 - (loss.share - usual)))
        lower(to: room * Self.decrease.loss, full: room, at: now)
        return nil
    }

    private mutating func lower(to rate: Double, full: Double?, at now: Instant) {
        target = max(floor, min(target, rate))
        if let full { capacity = capacity.map { $0 + (full - $0) / 4 } ?? full }
        loweredAt = now
        grownAt = now
        passOver(until: now)
    }

    private mutating func grow(delivered: Double?, at now: Instant) {
        let time = min(max((now - grownAt).inSeconds, 0), 1.5)
        grownAt = now
        let quiet = (now - loweredAt).inSeconds
        if let capacity, target > capacity * Self.near || quiet > Self.capacityMemory { self.capacity = nil }
        let share = min(Self.growth.first + Self.growth.more * quiet, Self.growth.most)
        let grown = target + (capacity == nil ? target * share : min(Self.step, target * share)) * time
        let most = delivered.map { $0 * Self.headroom.share + Self.headroom.bits } ?? grown
        target = max(target, min(grown, most))
    }
}
