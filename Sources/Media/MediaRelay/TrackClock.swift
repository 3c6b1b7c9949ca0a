import RTP
import Transport

/// What moment each RTP timestamp of a track stands for, so that a viewer can play picture and sound together.
///
/// The camera's sender reports relate its RTP clocks to one wall clock of its own (RFC 3550, section 6.4.1). That wall
/// clock may be wrong by years, so it is only used for what it is good for: the relation between the tracks. The
/// gateway's clock gives the rest. Until a report has come, the arrival of the packets has to do.
struct TrackClock {
    /// The RTP clock rate in hertz.
    let clockRate: Int

    private var anchorTimestamp: UInt32 = 0
    private var anchor: Instant?
    private var fromReport = false

    init(clockRate: Int) {
        self.clockRate = max(clockRate, 1)
    }

    /// Notes when a packet with the track's `timestamp` arrived. The packet that was delayed least says best when
    /// its timestamp was now, so an earlier arrival than expected moves the anchor, and a later one does so slowly
    /// enough to follow a drifting clock.
    mutating func noteArrival(timestamp: UInt32, at now: Instant) {
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

    /// Notes that `timestamp` stands for `instant`, by a sender report whose wall clock has been translated.
    mutating func noteReport(timestamp: UInt32, at instant: Instant) {
        fromReport = true
        set(timestamp, at: instant)
    }

    /// Moves what a report has said by `correction`, because the camera's wall clock has been understood better.
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

/// Translates one camera's wall clock into the gateway's monotonic one, the same way for all of its tracks.
struct SourceWallClock {
    private var anchor: (ntp: UInt64, instant: Instant)?

    /// The instant that the camera's NTP time stands for.
    ///
    /// A report is never older than its NTP time, so the one that was delayed least ties the clocks together best. When
    /// one comes that was delayed less than those before it, all that they said was late by the same `correction`
    /// (negative), and the camera's other tracks must be moved with it. A camera that sets its clock, more than a second
    /// away from where it should be, is tied again.
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
