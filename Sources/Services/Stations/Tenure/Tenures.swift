import DatagramPort
import Transport

/// The tenures that this gateway has. Code that acts for a device asks here before each effect: the answer costs a lock, and
/// waits for nobody.
///
/// As far as this gateway knows, a device that it never asked for belongs to nobody else. Only the registry of cameras asks,
/// before a source starts.
public final class Tenures: Sendable {
    private enum Standing {
        case held(Tenure)
        /// Another gateway had a tenure when this one asked.
        case elsewhere
    }

    private let coordinator: any Coordinator
    private let now: @Sendable () -> Instant
    private let standings = Locked<[String: Standing]>([:])

    /// - Parameters:
    ///   - coordinator: who grants tenures.
    ///   - now: the clock of their deadlines.
    public init(
        _ coordinator: any Coordinator = LocalCoordinator(),
        now: @escaping @Sendable () -> Instant = { MonotonicClock.now }
    ) {
        self.coordinator = coordinator
        self.now = now
    }

    /// Asks the coordinator for a device.
    /// - Throws: `runsElsewhere` while another gateway has it.
    public func take(_ device: String) async throws(StationError) {
        guard let tenure = await coordinator.tenure(of: device) else {
            standings.withLock { $0[device] = .elsewhere }
            throw .runsElsewhere(camera: device)
        }
        renew(tenure)
        try check(device)
    }

    /// A tenure that has a new deadline, or follows one that ended. One with an older epoch comes too late, and is ignored.
    public func renew(_ tenure: Tenure) {
        standings.withLock { standings in
            if case .held(let known)? = standings[tenure.device], known.epoch > tenure.epoch { return }
            standings[tenure.device] = .held(tenure)
        }
    }

    /// Gives a device back.
    public func release(_ device: String) async {
        guard case .held(let tenure)? = standings.withLock({ $0.removeValue(forKey: device) }) else { return }
        await coordinator.release(tenure)
    }

    /// Whether this gateway may act for a device now.
    public func mayAct(for device: String) -> Bool {
        switch standings.withLock({ $0[device] }) {
        case .held(let tenure): tenure.deadline > now()
        case .elsewhere: false
        case nil: true
        }
    }

    /// Fails unless this gateway may act for a device now.
    public func check(_ device: String) throws(StationError) {
        guard mayAct(for: device) else { throw .runsElsewhere(camera: device) }
    }

    /// The epoch of a device's tenure; nil without one.
    public func epoch(of device: String) -> UInt64? {
        guard case .held(let tenure)? = standings.withLock({ $0[device] }) else { return nil }
        return tenure.epoch
    }
}
