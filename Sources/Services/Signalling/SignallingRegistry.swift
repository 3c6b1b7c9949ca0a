import MediaRelay
import SDP
import Stations
import Transport

/// What the services of live views share: the cameras' stations, the sessions, and who observes what happens.
final class SignallingRegistry: Sendable {
    /// What the other services need to know of a live view.
    struct Session: Sendable {
        let id: String
        let deviceID: String
        let principal: String
        let station: CameraStation
        /// The codecs of the viewer's microphone by payload type; empty for a session without one.
        let talkbackCodecs: [UInt8: MediaCodec]
    }

    private struct State {
        var stations: [String: CameraStation] = [:]
        var observers: [@Sendable (LiveViewChange) -> Void] = []
        var sessions: [String: Session] = [:]
        /// The live views that have ended recently. Ending one of them again is not an error.
        var ended = EndedSessions()
    }

    let configuration: SignallingConfiguration
    let relay: MediaRelay
    /// The live views that have changed.
    let changes = ChangedSessions()
    private let state = Locked(State())

    init(configuration: SignallingConfiguration, relay: MediaRelay) {
        self.configuration = configuration
        self.relay = relay
    }

    /// The time by which leases end.
    var now: Instant { configuration.now() }

    // MARK: Stations

    /// The station of a device.
    func station(of deviceID: String) throws(SignallingError) -> CameraStation {
        guard let station = state.withLock({ $0.stations[deviceID] }) else { throw .unknownDevice(deviceID) }
        return station
    }

    /// Whether a station is still its device's: the device may have been removed meanwhile, or have another one.
    func has(_ station: CameraStation) -> Bool { state.withLock { $0.stations[station.id] === station } }

    /// Adds a station. One with the same identifier is replaced.
    func add(_ station: CameraStation) { state.withLock { $0.stations[station.id] = station } }

    /// Removes a station.
    func remove(_ deviceID: String) { state.withLock { $0.stations[deviceID] = nil } }

    // MARK: Sessions

    /// The identifier of a session that lives at `placement`.
    func identifier(at placement: RelayPlacement, using random: inout RandomSource) -> String {
        SessionIdentifier.make(gateway: configuration.gateway(), shard: placement.shard, using: &random)
    }

    /// The identifier of a session that lives outside the relay. It names the first shard, which every relay has.
    func identifier(using random: inout RandomSource) -> String {
        SessionIdentifier.make(gateway: configuration.gateway(), shard: 0, using: &random)
    }

    /// A live view has started.
    func begin(_ session: Session) {
        state.withLock { $0.sessions[session.id] = session }
        changes.add(session.id)
    }

    /// A live view has ended.
    func end(_ sessionID: String, because end: SessionEnd) {
        let now = now
        state.withLock { state in
            guard let session = state.sessions.removeValue(forKey: sessionID) else { return }
            state.ended.record(
                sessionID, .liveView, deviceID: session.deviceID, principal: session.principal, reason: end, at: now)
        }
        changes.add(sessionID)
    }

    /// Why a live view ended recently; nil for one that has not.
    func end(of sessionID: String) -> SessionEnd? {
        let now = now
        return state.withLock { $0.ended.entry(sessionID, .liveView, at: now)?.reason }
    }

    /// The live view that a request names.
    /// - Throws: `unknownSession` for one that is not alive.
    func session(_ reference: SessionReference) throws(SignallingError) -> Session {
        let session = state.withLock { $0.sessions[reference.mediaSessionId] }
        guard let session, reference.names(deviceID: session.deviceID, principal: session.principal) else {
            throw .unknownSession
        }
        return session
    }

    /// The live view that a request names; nil if it has ended recently.
    /// - Throws: `unknownSession` for one that never was, or that ended long ago.
    func sessionOrEnded(_ reference: SessionReference) throws(SignallingError) -> Session? {
        let now = now
        let (session, entry) = state.withLock { state in
            (state.sessions[reference.mediaSessionId], state.ended.entry(reference.mediaSessionId, .liveView, at: now))
        }
        if let session, reference.names(deviceID: session.deviceID, principal: session.principal) { return session }
        if let entry, reference.names(deviceID: entry.deviceID, principal: entry.principal) { return nil }
        throw .unknownSession
    }

    /// Whether somebody watches a device.
    func isWatched(_ deviceID: String) -> Bool {
        state.withLock { $0.sessions.values.contains { $0.deviceID == deviceID } }
    }

    // MARK: Observers

    /// Calls `handler` at each change from now on.
    func observe(_ handler: @escaping @Sendable (LiveViewChange) -> Void) {
        state.withLock { $0.observers.append(handler) }
    }

    /// Reports a change to all observers.
    func announce(_ change: LiveViewChange) {
        let observers = state.withLock { $0.observers }
        for observer in observers { observer(change) }
    }
}
