import Transport

/// The part of a camera's life that an administrator sees: outages with their reason, recoveries with their duration.
///
/// While the gateway retries a camera, its state changes many times a minute. The log gets a line only for a
/// transition: the camera is gone, the reason has changed, the camera is given up for now, it is back. A camera that
/// comes and goes all the time gets one line each ``window``, which counts its outages. This type reads no clock and
/// writes nothing, so a test runs days of a bad camera in milliseconds.
struct CameraLog {
    /// The condition of a camera, as far as the log cares.
    enum Condition: Equatable {
        /// It delivers media; the text says which.
        case up(String)
        /// It delivers nothing, for a reason; says whether it is left alone for longer.
        case down(reason: String, isGivenUp: Bool)
        /// Nobody needs its media.
        case resting
        /// On its way to one of the others.
        case moving
    }

    /// One line.
    struct Line: Equatable {
        enum Kind: Equatable {
            /// The camera delivers media for the first time.
            case up
            /// The camera has gone down.
            case down
            /// It is still down, now for another reason.
            case stillDown
            /// It is tried only rarely.
            case givenUp
            /// It is back.
            case back
            /// It comes and goes. From here on outages are counted.
            case unstable
        }

        var kind: Kind
        var reason: String?
        /// How long it was up, down, or counted.
        var duration: Duration?
        /// How many outages there were in `duration`.
        var outages: Int?
        /// The tracks that it delivers.
        var tracks: String?

        init(
            _ kind: Kind, reason: String? = nil, duration: Duration? = nil, outages: Int? = nil, tracks: String? = nil
        ) {
            self.kind = kind
            self.reason = reason
            self.duration = duration
            self.outages = outages
            self.tracks = tracks
        }
    }

    /// More outages than this in a ``window`` are counted instead of logged.
    static let outagesToTell = 5
    static let window: Duration = .seconds(600)
    /// A longer outage is always logged.
    static let longOutage: Duration = .seconds(60)
    /// How many reasons of one outage are logged, so that a camera with a new reason each time cannot flood the log.
    static let reasonsToTell = 4

    private struct Outage {
        let since: Instant
        var isTold: Bool
        var reportedAt: Instant
        var reasons: [String]
        var isGivenUp = false
    }

    private var upSince: Instant?
    private var outage: Outage?
    private var isKnown = false
    /// When the latest outages began, oldest first; only as many as are needed to decide whether to log them.
    private var recent: [Instant] = []
    private var counting: (since: Instant, outages: Int)?

    /// Accepts a condition and returns what to log.
    mutating func record(_ condition: Condition, at now: Instant) -> [Line] {
        switch condition {
        case .moving: return []
        case .resting:
            // Media after a rest is not a recovery, unless an outage came before it. The next failure is logged again,
            // but not every failure of a camera that is requested again and again.
            upSince = nil
            if let told = outage?.reportedAt, now - told >= Self.window { outage?.reasons = [] }
            return []
        case .up(let tracks): return rise(tracks, at: now)
        case .down(let reason, let isGivenUp): return fall(reason, isGivenUp: isGivenUp, at: now)
        }
    }

    private mutating func rise(_ tracks: String, at now: Instant) -> [Line] {
        guard upSince == nil else { return [] }
        upSince = now
        defer {
            outage = nil
            isKnown = true
        }
        if let outage {
            return outage.isTold ? [Line(.back, duration: now - outage.since, tracks: tracks)] : []
        }
        return isKnown ? [] : [Line(.up, tracks: tracks)]
    }

    private mutating func fall(_ reason: String, isGivenUp: Bool, at now: Instant) -> [Line] {
        guard var current = outage else { return begin(reason, isGivenUp: isGivenUp, at: now) }
        defer { outage = current }
        guard current.isTold else {
            guard now - current.since >= Self.longOutage else { return [] }
            current.isTold = true
            current.reportedAt = now
            current.reasons = [reason]
            return [Line(.down, reason: reason)]
        }
        if isGivenUp, !current.isGivenUp {
            current.isGivenUp = true
            current.reportedAt = now
            current.reasons.append(reason)
            return [Line(.givenUp, reason: reason, duration: now - current.since)]
        }
        guard !current.reasons.contains(reason), current.reasons.count < Self.reasonsToTell else { return [] }
        current.reportedAt = now
        current.reasons.append(reason)
        return [Line(.stillDown, reason: reason, duration: now - current.since)]
    }

    private mutating func begin(_ reason: String, isGivenUp: Bool, at now: Instant) -> [Line] {
        let wasUp = upSince.map { now - $0 }
        upSince = nil
        isKnown = true
        recent.removeAll { now - $0 > Self.window }
        recent.append(now)
        if recent.count > Self.outagesToTell + 1 { recent.removeFirst() }
        outage = Outage(since: now, isTold: true, reportedAt: now, reasons: [reason], isGivenUp: isGivenUp)
        guard recent.count > Self.outagesToTell else {
            counting = nil
            return [Line(isGivenUp ? .givenUp : .down, reason: reason, duration: wasUp)]
        }
        outage?.isTold = false
        guard let counted = counting else {
            counting = (now, 0)
            return [Line(.unstable, reason: reason, duration: now - recent[0], outages: recent.count)]
        }
        counting?.outages += 1
        guard now - counted.since >= Self.window else { return [] }
        counting = (now, 0)
        return [Line(.unstable, reason: reason, duration: now - counted.since, outages: counted.outages + 1)]
    }
}
