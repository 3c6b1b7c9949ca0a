import Transport

/// Finds the moment of each RTP timestamp of one track, in ticks of its clock since the origin of the monotonic clock.
///
/// Steps between timestamps are kept exactly, so that the durations of samples are those of the camera. The moments of
/// capture that the relay works out (``TappedBatch/capture``) only correct them: at once where the camera's timestamps
/// have jumped, and slowly where its clock drifts or where a sender report has given more. So both tracks of a camera
/// stay in step with each other and with the wall clock, whatever the camera's timestamps do.
struct RecordingTimeline: Sendable {
    /// The RTP clock rate.
    let clockRate: Int64
    /// Whether a slow correction may come in small steps. Sound is corrected in one.
    let correctsInSteps: Bool

    /// A difference of this much is a jump.
    static let jump = Duration.seconds(1)
    /// A smaller difference is tolerated: packets are sometimes late.
    static let tolerance = Duration.milliseconds(100)
    /// A difference is corrected when it has lasted this long.
    static let patience = Duration.seconds(2)
    /// Timestamps that jump this often within ``trial`` mean nothing: arrivals are used instead.
    static let mostJumps = 5
    static let trial = Duration.seconds(30)

    private var anchor: (timestamp: UInt32, ticks: Int64)?
    /// Since when the timestamps have differed from the captures in one direction, and by how much at least.
    private var difference: (since: Instant, ticks: Int64)?
    /// What remains of a correction that comes in steps.
    private var correction: Int64 = 0
    private var jumps = 0
    private var trialEnd = Instant.zero
    /// Whether the camera's timestamps are believed.
    private(set) var believesTimestamps = true

    init(clockRate: Int, correctsInSteps: Bool) {
        self.clockRate = Int64(max(clockRate, 1))
        self.correctsInSteps = correctsInSteps
    }

    /// What follows has nothing to do with what came before.
    mutating func restart() {
        anchor = nil
        difference = nil
        correction = 0
    }

    /// The moment of a timestamp, in ticks.
    /// - Parameters:
    ///   - capture: when it was captured, as far as is known.
    ///   - arrival: when it arrived.
    mutating func ticks(of timestamp: UInt32, capture: Instant, arrival: Instant) -> Int64 {
        let observed = ticks(at: plausible(capture, arrival))
        guard believesTimestamps else { return ticks(at: arrival) }
        guard let anchor else { return set(timestamp, observed) }
        let step = Int64(Int32(bitPattern: timestamp &- anchor.timestamp))
        var ticks = anchor.ticks + step + nextCorrection()
        let ahead = ticks - observed
        let jump = self.ticks(Self.jump)
        if ahead >= jump || ahead <= -jump && step < -jump {
            // What is ahead of its arrival was not captured when its timestamp says. What is behind may only be late,
            // unless the timestamps have gone back.
            recordJump(at: arrival)
            difference = nil
            correction = 0
            return set(timestamp, observed)
        }
        ticks += settle(ahead, at: arrival)
        return set(timestamp, ticks)
    }

    /// Notices a difference that lasts. Returns what has to be corrected at once.
    private mutating func settle(_ ahead: Int64, at arrival: Instant) -> Int64 {
        guard abs(ahead + correction) >= ticks(Self.tolerance) else {
            difference = nil
            return 0
        }
        guard let known = difference, (known.ticks < 0) == (ahead < 0) else {
            difference = (arrival, ahead)
            return 0
        }
        let least = abs(ahead) < abs(known.ticks) ? ahead : known.ticks
        difference = (known.since, least)
        guard arrival - known.since >= Self.patience else { return 0 }
        difference = nil
        if abs(least) >= ticks(Self.jump) { recordJump(at: arrival) }
        if correctsInSteps, abs(least) < ticks(Self.jump) {
            correction = -least
            return 0
        }
        return -least
    }

    /// The next step of a slow correction: pictures come five milliseconds sooner or later, which nobody sees.
    private mutating func nextCorrection() -> Int64 {
        guard correction != 0 else { return 0 }
        let most = max(clockRate / 200, 1)
        let step = min(max(correction, -most), most)
        correction -= step
        return step
    }

    private mutating func set(_ timestamp: UInt32, _ ticks: Int64) -> Int64 {
        anchor = (timestamp, ticks)
        return ticks
    }

    private mutating func recordJump(at now: Instant) {
        if now > trialEnd {
            jumps = 0
            trialEnd = now + Self.trial
        }
        jumps += 1
        if jumps > Self.mostJumps { believesTimestamps = false }
    }

    /// A capture that a sender report and a jump of the timestamps have put far from the arrival says nothing.
    private func plausible(_ capture: Instant, _ arrival: Instant) -> Instant {
        capture <= arrival + .milliseconds(500) && capture >= arrival - .seconds(3) ? capture : arrival
    }

    /// A moment in ticks.
    func ticks(at instant: Instant) -> Int64 {
        let (seconds, rest) = instant.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return seconds &* clockRate &+ rest &* clockRate / 1_000_000_000
    }

    /// A duration in ticks.
    func ticks(_ duration: Duration) -> Int64 {
        ticks(at: Instant(nanoseconds: duration.wholeNanoseconds))
    }

    /// The moment of ticks.
    func instant(of ticks: Int64) -> Instant {
        let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: clockRate)
        return Instant(nanoseconds: seconds &* 1_000_000_000 &+ rest &* 1_000_000_000 / clockRate)
    }
}
