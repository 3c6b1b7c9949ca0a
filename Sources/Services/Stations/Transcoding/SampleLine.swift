import Transport

/// Decides where decoded sound goes on a line of 48,000 samples per second. Every 960 of them become one Opus packet.
///
/// A camera's timestamps and the number of samples that it sends never agree for long: its sound chip has a clock of
/// its own, packets get lost, and clocks are set. Browsers conceal sound whose timestamps do not step by exactly 960.
/// So the line only ever advances by whole samples, and the difference is corrected: a small one by stretching the
/// sound by at most half a percent, which nobody hears; a gap by silence, or by a step of whole packets if it is long.
struct SampleLine: Sendable {
    /// What to do with one decoded piece.
    struct Placement: Equatable, Sendable {
        /// Samples of silence that fill up the current packet, before ``skip``.
        var padding = 0
        /// Samples of the line that are skipped, in whole packets.
        var skip = 0
        /// Samples of silence before the piece.
        var silence = 0
        /// Samples to add to the piece (or to remove from it, if negative) by stretching it.
        var stretch = 0
        /// Where the piece then begins on the line.
        var position: Int64 = 0
    }

    /// The samples of one packet.
    static let packet = 960
    /// The line's rate in hertz.
    static let rate: Int64 = 48_000

    /// A difference up to this is corrected slowly; a larger one is a gap or a jump.
    private static let drift: Int64 = rate / 10
    /// A gap up to this is filled with silence.
    private static let longestSilence: Int64 = rate / 2
    /// If packets are missing, a gap of this length or more is filled.
    private static let shortestLoss: Int64 = rate / 200
    /// Correction begins at this difference and ends close to zero.
    private static let tolerance = Double(rate) / 200
    /// Timestamps that jump this often within ``trial`` mean nothing.
    private static let mostJumps = 12
    private static let trial: Int64 = rate * 10

    private let clockRate: Int64
    private var lastTimestamp: UInt32?
    private var lastArrival: Instant = .zero
    /// The ticks of the source since the anchor, unwrapped.
    private var ticks: Int64 = 0
    private var anchor: Int64 = 0
    private var smoothed = 0.0
    private var isWorkingOff = false
    private var jumps = 0
    private var trialEnd: Int64 = 0
    /// The position after everything placed so far.
    private(set) var end: Int64 = 0
    /// Whether the source's timestamps are trusted.
    private(set) var believesTimestamps = true

    /// A line for a source of `clockRate` hertz.
    init(clockRate: Int) {
        self.clockRate = Int64(max(clockRate, 1))
    }

    /// How far the line is behind the source's timestamps, in samples, smoothed.
    var difference: Double { smoothed }

    /// Places a piece of `count` samples with the source's timestamp `timestamp`.
    /// - Parameter hasLoss: whether packets before it are missing.
    mutating func place(timestamp: UInt32, count: Int, hasLoss: Bool, at arrival: Instant) -> Placement {
        var placement = Placement()
        if let lastTimestamp {
            ticks += Int64(Int32(bitPattern: timestamp &- lastTimestamp))
            let elapsed = Int64(max((arrival - lastArrival).inSeconds, 0) * Double(Self.rate))
            settle(anchor + ticks * Self.rate / clockRate - end, elapsed, hasLoss, count, &placement)
        } else {
            anchor = end
            ticks = 0
        }
        lastTimestamp = timestamp
        lastArrival = arrival
        placement.position = end + Int64(placement.padding + placement.skip + placement.silence)
        end = placement.position + Int64(count + placement.stretch)
        return placement
    }

    private mutating func settle(
        _ difference: Int64, _ elapsed: Int64, _ hasLoss: Bool, _ count: Int, _ placement: inout Placement
    ) {
        guard believesTimestamps else {
            // A pause counts only if the wall clock shows it; what came at its end may fill all of it.
            if elapsed > Self.rate { leaveGap(max(elapsed - Int64(count), 0), &placement) }
            return
        }
        if difference > Self.drift || hasLoss && difference > Self.shortestLoss {
            // A gap cannot be much longer than the time in which nothing came; a jump of a clock can.
            if difference <= elapsed + 2 * Self.rate {
                leaveGap(difference, &placement)
            } else {
                rebase()
            }
            if !hasLoss { recordJump() }
        } else if difference < -Self.drift {
            rebase()
            recordJump()
        } else {
            workOff(Double(difference), count, &placement)
        }
    }

    private mutating func leaveGap(_ gap: Int64, _ placement: inout Placement) {
        smoothed = 0
        isWorkingOff = false
        guard gap > Self.longestSilence else {
            placement.silence = Int(gap)
            return
        }
        let packet = Int64(Self.packet)
        let padding = (packet - end % packet) % packet
        let skip = (gap - padding) / packet * packet
        placement.padding = Int(padding)
        placement.skip = Int(skip)
        placement.silence = Int(gap - padding - skip)
    }

    /// From here on the timestamps start again.
    private mutating func rebase() {
        anchor = end
        ticks = 0
        smoothed = 0
        isWorkingOff = false
    }

    private mutating func recordJump() {
        if end > trialEnd {
            jumps = 0
            trialEnd = end + Self.trial
        }
        jumps += 1
        if jumps > Self.mostJumps { believesTimestamps = false }
    }

    private mutating func workOff(_ difference: Double, _ count: Int, _ placement: inout Placement) {
        // Cameras take timestamps from a system clock in milliseconds, or from when the packet is sent: a single one
        // says little.
        smoothed += (difference - smoothed) / 32
        if abs(smoothed) > Self.tolerance { isWorkingOff = true }
        if abs(smoothed) < Self.tolerance / 8 { isWorkingOff = false }
        guard isWorkingOff else { return }
        let most = Double(max(count / 200, 1))
        let stretch = min(max((smoothed / 16).rounded(.awayFromZero), -most), most)
        placement.stretch = Int(stretch)
        smoothed -= stretch
    }
}
