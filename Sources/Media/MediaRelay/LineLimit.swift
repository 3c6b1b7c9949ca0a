import Transport

/// Decides whether a viewer's path is too slow for the stream, and how much is sent into it then.
///
/// Loss alone does not show that: a bad radio link loses a fifth of everything, whatever the rate. So heavy loss leads to a
/// trial: for some seconds the gateway sends less than arrived before. If the loss goes away, the path was too slow. The
/// viewer then gets a limited rate, which grows step by step. If the loss stays, it has another cause, and the viewer gets
/// everything again.
///
/// This is not congestion control. It keeps a picture going on a path that is much too slow, and keeps retransmissions from
/// flooding it.
struct LineLimit {
    /// The share of loss that leads to a trial if it is measured three times in a row. Random loss of 20 % reaches it in one of
    /// thousands of windows. A path that is too slow reaches it soon, because the viewer asks for the packets that it drops.
    private static let heavyLoss = 0.3
    private static let heavyWindows = 3
    /// The rate of a trial, as a share of the media that arrived before. The path carries that much.
    private static let trialShare = 0.95
    /// The pause after a trial without effect. It doubles each time.
    private static let firstPause = Duration.seconds(30)
    private static let longestPause = Duration.seconds(600)
    /// How the rate grows after a window without new losses: at first, and after the path's limit has been met.
    private static let growth = (first: 1.15, later: 1.04)
    /// How much more loss than the path's usual one is too much.
    private static let tolerance = 0.08
    /// The lowest rate, in bytes a second: 200 kbit/s.
    private static let leastRate = 25_000.0
    /// The time between two groups of packets.
    static let interval = Duration.milliseconds(10)
    /// How far retransmissions may run ahead of the rate, in seconds. They go before new packets, because a picture with a
    /// hole makes all later ones useless.
    private static let repairAdvance = 0.4

    private enum State {
        case open
        /// The gateway sends less, to see whether fewer packets are lost. `loss` is the share before.
        case trial(loss: Double)
        /// The gateway sends less. `loss` is the share that the path loses at any rate.
        case limited(loss: Double)
    }

    private var state = State.open
    /// Bytes of payload a second.
    private(set) var rate = 0.0
    private var heavyCount = 0
    /// Whether the rate has been too high for the path once.
    private var hasMetLimit = false
    /// Whether the current window covers packets that were sent before the last change.
    private var passesOver = false
    private var nextTrial = Instant.zero
    private var pause = firstPause
    private var credit = 0.0
    private var creditedAt = Instant.zero

    /// Whether the viewer gets less than everything.
    var isOn: Bool {
        if case .open = state { false } else { true }
    }

    /// Draws conclusions from a measurement of loss.
    /// - Parameters:
    ///   - bytes: The bytes sent to the viewer in the window, without retransmissions.
    ///   - streamRate: The track's rate, in bytes a second.
    mutating func judge(_ window: LossMeter.Window, bytes: UInt64, streamRate: UInt64, at now: Instant) {
        if case .open = state {
            heavyCount = window.share >= Self.heavyLoss ? heavyCount + 1 : 0
            guard heavyCount >= Self.heavyWindows, now >= nextTrial else { return }
            let arrived = Double(bytes) * (1 - window.share) / window.duration.inSeconds
            begin(at: max(min(arrived, Double(streamRate)) * Self.trialShare, Self.leastRate), now)
            state = .trial(loss: window.share)
            return
        }
        guard !passesOver else {
            passesOver = false
            return
        }
        switch state {
        case .open: break
        case .trial(let before) where window.share > before / 2:
            end()
            nextTrial = now + pause
            pause = min(pause * 2, Self.longestPause)
        case .trial:
            pause = Self.firstPause
            state = .limited(loss: min(window.share, 0.15))
        case .limited(let usual):
            if window.share > usual + Self.tolerance {
                rate = max(rate * max(1 - (window.share - usual), 0.5) * 0.97, Self.leastRate)
                passesOver = true
                hasMetLimit = true
            } else {
                rate *= hasMetLimit ? Self.growth.later : Self.growth.first
            }
            if rate > Double(streamRate) * 1.25 { end() }
        }
    }

    private mutating func begin(at rate: Double, _ now: Instant) {
        self.rate = rate
        passesOver = true
        hasMetLimit = false
        credit = 0
        creditedAt = now
    }

    private mutating func end() {
        state = .open
        heavyCount = 0
    }

    private mutating func refill(at now: Instant) {
        // At most the credit of one interval and a late wake-up.
        credit = min(credit + rate * (now - creditedAt).inSeconds, max(rate * 0.03, 1_500))
        creditedAt = now
    }

    /// How many packets may leave now.
    mutating func packets(at now: Instant) -> Int {
        refill(at: now)
        return credit > 0 ? Int(credit / 1_200) + 1 : 0
    }

    /// Deducts sent bytes from the credit.
    mutating func spend(_ bytes: UInt64) { credit -= Double(bytes) }

    /// Deducts a retransmission from the credit. Returns false, and deducts nothing, if the credit is used up.
    mutating func takeForRepair(_ bytes: Int, at now: Instant) -> Bool {
        guard isOn else { return true }
        refill(at: now)
        guard credit > -rate * Self.repairAdvance else { return false }
        credit -= Double(bytes)
        return true
    }
}
