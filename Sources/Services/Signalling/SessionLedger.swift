import Transport

/// How long a live view lasts and how many there may be.
public struct SessionLimits: Sendable, Equatable {
    /// The length of a lease, and of each extension that names none, in seconds.
    public var durationSeconds: UInt16 = 300
    /// The longest duration of a session over all of its extensions, in seconds.
    public var maximumDurationSeconds: Int = 86_400
    /// How many sessions may watch one camera. Principals share them; see ``PlaceShares``.
    public var perCamera = 500
    /// How many sessions one principal may hold.
    public var perPrincipal = 1_000
    /// How many sessions there may be in all. Principals share them; see ``PlaceShares``.
    public var total = 2_000

    /// The defaults.
    public init() {}
}

/// The leases of all live views: who holds what, until when. Pure: the time is passed in.
///
/// A lease ends when its owner ends it, when its time is over, or when its viewer has vanished; whichever comes first,
/// and only once.
struct SessionLedger {
    /// One lease.
    struct Lease: Equatable {
        let sessionID: String
        let deviceID: String
        let principal: String
        let start: Instant
        var expiry: Instant
    }

    /// The place of a session that is starting, which counts like a session.
    struct Reservation: Equatable {
        let number: UInt64
        let deviceID: String
        let principal: String
    }

    /// Why another session may not start.
    struct Obstacle: Equatable {
        enum Scope: Equatable {
            /// The gateway has reached its limit.
            case all
            /// The camera has reached its limit.
            case camera
            /// The principal has reached its limit, whatever the camera.
            case principal
        }

        let scope: Scope
        let refusal: PlaceShares.Refusal
        let error: SignallingError
    }

    let limits: SessionLimits
    private(set) var leases: [String: Lease] = [:]
    private var reservations: [UInt64: Reservation] = [:]
    private var nextReservation: UInt64 = 0

    init(limits: SessionLimits) {
        self.limits = limits
    }

    /// The instant of the next expiry.
    var nextExpiry: Instant? { leases.values.map(\.expiry).min() }

    /// What prevents another session; nil if nothing does.
    func obstacle(deviceID: String, principal: String) -> Obstacle? {
        let holders =
            leases.values.map { ($0.deviceID, $0.principal) }
            + reservations.values.map { ($0.deviceID, $0.principal) }
        let everybody = holders.map(\.1)
        if let refusal = PlaceShares(total: limits.total).refusal(of: principal, holders: everybody) {
            return Obstacle(
                scope: .all, refusal: refusal,
                error: .limitReached(.gateway(views: everybody.count, refusal)))
        }
        let here = holders.filter { $0.0 == deviceID }.map(\.1)
        if let refusal = PlaceShares(total: limits.perCamera).refusal(of: principal, holders: here) {
            return Obstacle(
                scope: .camera, refusal: refusal,
                error: .limitReached(.camera(deviceID, views: here.count, refusal)))
        }
        let held = everybody.count { $0 == principal }
        guard held >= limits.perPrincipal else { return nil }
        return Obstacle(
            scope: .principal, refusal: .share(limits.perPrincipal),
            error: .limitReached(.principal(principal, views: held)))
    }

    /// Reserves a place for a session that is starting. It is held until ``start(_:sessionID:at:)`` or ``cancel(_:)``.
    mutating func reserve(deviceID: String, principal: String) throws(SignallingError) -> Reservation {
        if let obstacle = obstacle(deviceID: deviceID, principal: principal) { throw obstacle.error }
        let reservation = Reservation(number: nextReservation, deviceID: deviceID, principal: principal)
        nextReservation += 1
        reservations[reservation.number] = reservation
        return reservation
    }

    /// Returns the place of a start that failed. Has no effect once it has become a session.
    mutating func cancel(_ reservation: Reservation) {
        reservations[reservation.number] = nil
    }

    /// Starts a lease in the place that was reserved for it.
    mutating func start(_ reservation: Reservation, sessionID: String, at now: Instant) -> Lease {
        reservations[reservation.number] = nil
        let seconds = min(Int(limits.durationSeconds), limits.maximumDurationSeconds)
        let lease = Lease(
            sessionID: sessionID, deviceID: reservation.deviceID, principal: reservation.principal, start: now,
            expiry: now + .seconds(seconds))
        leases[sessionID] = lease
        return lease
    }

    /// The lease called `sessionID`, if it belongs to `principal`. Another principal's session is as unknown as one
    /// that never existed, so nobody can find out which identifiers exist.
    func lease(_ sessionID: String, of principal: String) throws(SignallingError) -> Lease {
        guard let lease = leases[sessionID], lease.principal == principal else { throw .unknownSession }
        return lease
    }

    /// Moves the expiry to `now` plus the granted time, but never to an earlier time than before. Asking twice has the
    /// same effect as asking once.
    /// - Returns: the granted seconds from `now`.
    mutating func extend(
        _ sessionID: String, of principal: String, bySeconds requested: UInt16?, at now: Instant
    ) throws(SignallingError) -> UInt16 {
        var lease = try lease(sessionID, of: principal)
        // Clients restart one timer with the first duration, so after a shorter extension the lease would end between
        // two of their calls (Home APIs for iOS, the sample's timer).
        let wanted = max(Int(requested ?? 0), Int(limits.durationSeconds))
        let end = min(now + .seconds(wanted), lease.start + .seconds(limits.maximumDurationSeconds))
        guard end > now, wanted > 0 else {
            throw .maximumDurationReached(seconds: limits.maximumDurationSeconds)
        }
        lease.expiry = max(lease.expiry, end)
        leases[sessionID] = lease
        let granted = (lease.expiry - now).inSeconds.rounded()
        return UInt16(min(max(granted, 1), Double(UInt16.max)))
    }

    /// Ends a lease, regardless of its holder.
    mutating func end(_ sessionID: String) -> Lease? {
        leases.removeValue(forKey: sessionID)
    }

    /// Removes the leases whose time has come.
    mutating func expire(at now: Instant) -> [Lease] {
        let expired = leases.values.filter { $0.expiry <= now }.sorted {
            ($0.expiry, $0.sessionID) < ($1.expiry, $1.sessionID)
        }
        for lease in expired { leases[lease.sessionID] = nil }
        return expired
    }
}
