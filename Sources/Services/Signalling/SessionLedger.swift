import Transport

/// How long a live view lasts and how many there may be.
public struct SessionLimits: Sendable, Equatable {
    /// The length of a lease, and of each extension that names none, in seconds.
    public var durationSeconds: UInt16 = 300
    /// The longest that a session may last over all of its extensions, in seconds.
    public var maximumDurationSeconds: Int = 86_400
    /// How many sessions may watch one camera.
    public var perCamera = 500
    /// How many sessions one principal may hold.
    public var perPrincipal = 1_000
    /// How many sessions there may be at all.
    public var total = 2_000

    /// The defaults.
    public init() {}
}

/// The leases of all live views: who holds what, until when. Pure: the time is handed in.
///
/// A lease ends by its owner's word, by its time, or because its viewer vanished; whatever comes first, once.
struct SessionLedger {
    /// One lease.
    struct Lease: Equatable {
        let sessionID: String
        let deviceID: String
        let principal: String
        let start: Instant
        var expiry: Instant
    }

    let limits: SessionLimits
    private(set) var leases: [String: Lease] = [:]

    init(limits: SessionLimits) {
        self.limits = limits
    }

    /// The instant of the next expiry.
    var nextExpiry: Instant? { leases.values.map(\.expiry).min() }

    /// Says whether another session may start.
    func admit(deviceID: String, principal: String) throws(SignallingError) {
        if leases.count >= limits.total {
            throw .limitReached("the gateway already holds \(leases.count) live views, its limit; end one first")
        }
        let onCamera = leases.values.count { $0.deviceID == deviceID }
        if onCamera >= limits.perCamera {
            throw .limitReached("camera \(deviceID) already has \(onCamera) live views, its limit; end one first")
        }
        let held = leases.values.count { $0.principal == principal }
        if held >= limits.perPrincipal {
            throw .limitReached("\(principal) already holds \(held) live views, the limit; end one first")
        }
    }

    /// Starts a lease. The caller has asked ``admit(deviceID:principal:)`` in the same step.
    mutating func start(sessionID: String, deviceID: String, principal: String, at now: Instant) -> Lease {
        let seconds = min(Int(limits.durationSeconds), limits.maximumDurationSeconds)
        let lease = Lease(
            sessionID: sessionID, deviceID: deviceID, principal: principal, start: now,
            expiry: now + .seconds(seconds))
        leases[sessionID] = lease
        return lease
    }

    /// The lease called `sessionID`, if it belongs to `principal`. A foreign session is as unknown as one that never
    /// was, so nobody can find out which identifiers exist.
    func lease(_ sessionID: String, of principal: String) throws(SignallingError) -> Lease {
        guard let lease = leases[sessionID], lease.principal == principal else { throw .unknownSession }
        return lease
    }

    /// Moves the expiry to `now` plus what is granted; never to an earlier time than it had. Asking twice is the same
    /// as asking once.
    /// - Returns: the granted seconds from `now`.
    mutating func extend(
        _ sessionID: String, of principal: String, bySeconds requested: UInt16?, at now: Instant
    ) throws(SignallingError) -> UInt16 {
        var lease = try lease(sessionID, of: principal)
        // Clients re-arm one timer with the first duration, so an extension shorter than that would let the lease end
        // between two of their calls (Home APIs for iOS, the sample's timer).
        let wanted = max(Int(requested ?? 0), Int(limits.durationSeconds))
        let end = min(now + .seconds(wanted), lease.start + .seconds(limits.maximumDurationSeconds))
        guard end > now, wanted > 0 else {
            throw .failedPrecondition(
                "the session has reached its longest duration of \(limits.maximumDurationSeconds) seconds; "
                    + "start a new one")
        }
        lease.expiry = max(lease.expiry, end)
        leases[sessionID] = lease
        let granted = (lease.expiry - now).inSeconds.rounded()
        return UInt16(min(max(granted, 1), Double(UInt16.max)))
    }

    /// Ends a lease, whoever holds it.
    mutating func end(_ sessionID: String) -> Lease? {
        leases.removeValue(forKey: sessionID)
    }

    /// Takes out the leases whose time has come.
    mutating func expire(at now: Instant) -> [Lease] {
        let expired = leases.values.filter { $0.expiry <= now }.sorted {
            ($0.expiry, $0.sessionID) < ($1.expiry, $1.sessionID)
        }
        for lease in expired { leases[lease.sessionID] = nil }
        return expired
    }
}
