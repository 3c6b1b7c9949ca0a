import RTP
import Transport

/// The moment that each RTP timestamp of a track stands for, so that a viewer can play picture and sound together.
///
/// The camera's sender reports relate its RTP clocks to one wall clock of its own (RFC 3550, section 6.4.1). That wall
/// clock may be wrong by years, so it is used only for the relation between the tracks. The rest comes from the
/// gateway's clock. Before the first report, the arrival of the packets has to do.
struct TrackClock {
    /// The RTP clock rate in hertz.
    let clockRate: Int

    private var anchorTimestamp: UInt32 = 0
    private var anchor: Instant?
    private var fromReport = false

    init(clockRate: Int) {
        self.clockRate = max(clockRate, 1)
    }

    /// Records when a packet with the track's `timestamp` arrived. The packet with the least delay shows best when its
    /// timestamp was now. So an arrival earlier than expected moves the anchor at once, and a later one moves it
    /// slowly, just fast enough to follow a drifting clock.
    mutating func recordArrival(timestamp: UInt32, at now: Instant) {
        guard !fromReport else { return }
        guard let expected = instant(of: timestamp) else {
            set(timestamp, at: now)
            return
        }
        let late = now - expected
        if late < .zero || late > .seconds(1) || late < .seconds(-1) {
            set(timestamp, at: now)
        } else {
            set(timestamp, at: expected + .nanoseconds(late.wholeNanoseconds / 512))
        }
    }

    /// Records that `timestamp` stands for `instant`, according to a sender report whose wall clock has been
    /// translated.
    mutating func recordReport(timestamp: UInt32, at instant: Instant) {
        fromReport = true
        set(timestamp, at: instant)
    }

    /// Shifts what a report said by `correction`, because the camera's wall clock is now known better.
    mutating func correct(by correction: Duration) {
        if fromReport { anchor = anchor.map { $0 + correction } }
    }

    /// Forgets everything, because the source has started again.
    mutating func reset() {
        anchor = nil
        fromReport = false
    }

    /// The timestamp that stands for `now`; nil before the first packet.
    func timestamp(at now: Instant) -> UInt32? {
        guard let anchor else { return nil }
        let ticks = (now - anchor).inSeconds * Double(clockRate)
        guard abs(ticks) < 9e15 else { return nil }
        return anchorTimestamp &+ UInt32(truncatingIfNeeded: Int64(ticks.rounded()))
    }

    /// The moment that `timestamp` stands for; nil before the first packet.
    func instant(of timestamp: UInt32) -> Instant? {
        guard let anchor else { return nil }
        let ticks = Int64(Int32(bitPattern: timestamp &- anchorTimestamp))
        return anchor + .nanoseconds(ticks * 1_000_000_000 / Int64(clockRate))
    }

    private mutating func set(_ timestamp: UInt32, at instant: Instant) {
        anchorTimestamp = timestamp
        anchor = instant
    }
}

/// Translates one camera's wall clock into the gateway's monotonic clock, in the same way for all of its tracks.
struct SourceWallClock {
    private var anchor: (ntp: UInt64, instant: Instant)?

    /// The instant that the camera's NTP time stands for.
    /// A report is never older than its NTP time, so the report with the least delay ties the clocks together best.
    /// When a report had less delay than all before it, what those said was late by the same `correction` (negative),
    /// and the camera's other tracks must be moved by it too. If a camera sets its clock, so that it is off by more
    /// than a second, the clocks are tied again.
    mutating func instant(of ntp: UInt64, receivedAt now: Instant) -> (instant: Instant, correction: Duration) {
        var correction = Duration.zero
        if let anchor {
            let ticks = Int64(bitPattern: ntp &- anchor.ntp)
            let seconds = Double(ticks) / 4_294_967_296
            if abs(seconds) < 86_400 {
                let translated = anchor.instant + .nanoseconds(Int64(seconds * 1e9))
                let early = translated - now
                if early <= .zero, early > .seconds(-1) { return (translated, .zero) }
                if early > .zero, early < .seconds(1) { correction = now - translated }
            }
        }
        anchor = (ntp, now)
        return (now, correction)
    }

    /// Forgets the camera's clock.
    mutating func reset() {
        anchor = nil
    }
}
