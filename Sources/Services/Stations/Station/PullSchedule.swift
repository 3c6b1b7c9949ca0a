import Transport

/// When a camera is pulled.
public enum PullMode: String, Sendable, Equatable {
    /// From the gateway's start to its end: a viewer has its first picture at once.
    case always
    /// While somebody needs it: for cameras that run on a battery.
    case onDemand = "on-demand"
}

/// Decides whether a camera is pulled: while somebody holds it, and for a while after the last holder has gone. Pure: the time is passed in.
struct PullSchedule {
    /// How long the camera is pulled after the last hold has ended, so that a viewer who returns finds it running.
    let idleTime: Duration
    let mode: PullMode
    /// The holders of the camera, and until when they hold it; nil for as long as they do not let go.
    private(set) var holds: [Int: (owner: CameraHold.Owner, expiry: Instant?)] = [:]
    private var nextHold = 1
    /// The end of the time that is granted without a hold.
    private var grace: Instant?
    private var isEnabled = false
    private var isAllowed = true

    init(mode: PullMode, idleTime: Duration) {
        self.mode = mode
        self.idleTime = idleTime
    }

    /// The gateway runs, or stops: a disabled camera is not pulled, even if somebody needs it.
    mutating func enable(_ isEnabled: Bool) {
        self.isEnabled = isEnabled
    }

    /// Something of the camera may leave, or nothing: then it is not pulled, even if somebody needs it.
    mutating func allow(_ isAllowed: Bool) {
        self.isAllowed = isAllowed
    }

    /// Holds the camera until ``end(_:at:)``, or until `expiry`.
    mutating func hold(for owner: CameraHold.Owner, until expiry: Instant? = nil) -> Int {
        defer { nextHold += 1 }
        holds[nextHold] = (owner, expiry)
        return nextHold
    }

    /// Ends a hold. Ending it twice has no further effect. One that has expired leaves no idle time behind.
    mutating func end(_ hold: Int, at now: Instant) {
        guard let ended = holds.removeValue(forKey: hold), ended.expiry.map({ now < $0 }) ?? true,
            !holds.values.contains(where: { $0.expiry == nil })
        else { return }
        extendGrace(to: now + idleTime)
    }

    /// Holds the camera for an owner who has no object to keep, for example after a press of the button. Another such
    /// moment makes the hold longer.
    mutating func hold(for owner: CameraHold.Owner, atLeastUntil expiry: Instant) {
        guard let known = holds.first(where: { $0.value.owner == owner && $0.value.expiry != nil }) else {
            _ = hold(for: owner, until: expiry)
            return
        }
        holds[known.key]?.expiry = known.value.expiry.map { max($0, expiry) }
    }

    /// Forgets the holds whose time is over.
    mutating func expire(at now: Instant) {
        holds = holds.filter { $0.value.expiry.map { now < $0 } ?? true }
    }

    /// The holders of the camera, in the order in which they came.
    func owners(at now: Instant) -> [CameraHold.Owner] {
        holds.sorted { $0.key < $1.key }.filter { $0.value.expiry.map { now < $0 } ?? true }.map(\.value.owner)
    }

    private mutating func extendGrace(to end: Instant) {
        grace = grace.map { max($0, end) } ?? end
    }

    /// Whether the camera is to be pulled at `now`.
    func isWanted(at now: Instant) -> Bool {
        guard isEnabled, isAllowed else { return false }
        return mode == .always || !owners(at: now).isEmpty || grace.map { now < $0 } ?? false
    }

    /// Whether somebody wants to see what the camera shows at this moment. A recording takes it a little later, too.
    func isWatched(at now: Instant) -> Bool { owners(at: now).contains(where: \.isLive) }

    /// When ``isWanted(at:)`` or ``isWatched(at:)`` may change by itself.
    func nextDeadline(after now: Instant) -> Instant? {
        guard isEnabled, isAllowed else { return nil }
        let watched = lastEnd(of: holds.values.filter(\.owner.isLive).map(\.expiry))
        let wanted = mode == .onDemand ? lastEnd(of: holds.values.map(\.expiry) + (grace.map { [$0] } ?? [])) : nil
        return [watched, wanted].compactMap { $0 }.filter { $0 > now }.min()
    }

    /// The last of these ends; nil if one of them never comes, or there is none.
    private func lastEnd(of ends: [Instant?]) -> Instant? {
        let known = ends.compactMap { $0 }
        return known.count == ends.count ? known.max() : nil
    }
}
