import Transport

/// When a camera is pulled.
public enum PullMode: String, Sendable, Equatable {
    /// From the gateway's start to its end: a viewer has its first picture at once.
    case always
    /// While somebody wants it: cameras that live on a battery.
    case onDemand = "on-demand"
}

/// Who wants a camera pulled, and until when it goes on after the last of them has gone. Pure: the time is handed in.
struct PullSchedule {
    /// How long the camera is pulled after the last lease has ended, so that a viewer who comes back finds it running.
    let idleTime: Duration
    let mode: PullMode
    /// What each lease is for.
    private(set) var leases: [Int: String] = [:]
    private var nextLease = 1
    /// The end of what is granted without a lease.
    private var grace: Instant?
    private var isEnabled = false

    init(mode: PullMode, idleTime: Duration) {
        self.mode = mode
        self.idleTime = idleTime
    }

    /// The gateway runs, or stops: a disabled camera is not pulled whoever wants it.
    mutating func enable(_ isEnabled: Bool) {
        self.isEnabled = isEnabled
    }

    /// Takes a lease; it lasts until it is released.
    mutating func acquire(reason: String) -> Int {
        defer { nextLease += 1 }
        leases[nextLease] = reason
        return nextLease
    }

    /// Ends a lease; ending it twice is ending it once.
    mutating func release(_ lease: Int, at now: Instant) {
        guard leases.removeValue(forKey: lease) != nil, leases.isEmpty else { return }
        extendGrace(to: now + idleTime)
    }

    /// Something has happened that somebody will want to see: pull for `duration` though nobody has asked yet.
    mutating func noteAttention(for duration: Duration, at now: Instant) {
        extendGrace(to: now + duration)
    }

    private mutating func extendGrace(to end: Instant) {
        grace = grace.map { max($0, end) } ?? end
    }

    /// Whether the camera is to be pulled at `now`.
    func isWanted(at now: Instant) -> Bool {
        guard isEnabled else { return false }
        return mode == .always || !leases.isEmpty || grace.map { now < $0 } ?? false
    }

    /// When ``isWanted(at:)`` may change by itself.
    func nextDeadline(after now: Instant) -> Instant? {
        guard isEnabled, mode == .onDemand, leases.isEmpty, let grace, grace > now else { return nil }
        return grace
    }
}

/// Somebody's wish that a camera is pulled. It ends with ``release()``, or when nobody holds it any more.
public final class PullLease: Sendable {
    private let ending: Locked<(@Sendable () -> Void)?>

    init(_ end: @escaping @Sendable () -> Void) {
        ending = Locked(end)
    }

    deinit {
        release()
    }

    /// Ends the lease; doing so twice is doing so once.
    public func release() {
        let end = ending.withLock { $0.take() }
        end?()
    }
}
