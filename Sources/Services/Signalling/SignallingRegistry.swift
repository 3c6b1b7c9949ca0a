import MediaRelay
import Stations
import Transport

/// What the services of live views share: the cameras' stations, and who observes what happens.
final class SignallingRegistry: Sendable {
    private struct State {
        var stations: [String: CameraStation] = [:]
        var observers: [@Sendable (LiveViewChange) -> Void] = []
    }

    let configuration: LiveViewService.Configuration
    let relay: MediaRelay
    private let state = Locked(State())

    init(configuration: LiveViewService.Configuration, relay: MediaRelay) {
        self.configuration = configuration
        self.relay = relay
    }

    /// The time by which leases end.
    var now: Instant { configuration.now() }

    /// The station of a device.
    func station(of deviceID: String) throws(SignallingError) -> CameraStation {
        guard let station = state.withLock({ $0.stations[deviceID] }) else { throw .unknownDevice(deviceID) }
        return station
    }

    /// Whether a station is still its device's: the device may have been removed meanwhile, or have another one.
    func has(_ station: CameraStation) -> Bool { state.withLock { $0.stations[station.id] === station } }

    /// Adds a station. One with the same identifier is replaced.
    func add(_ station: CameraStation) { state.withLock { $0.stations[station.id] = station } }

    /// Takes a station away.
    func remove(_ deviceID: String) { state.withLock { $0.stations[deviceID] = nil } }

    /// Calls `handler` at each change from now on.
    func observe(_ handler: @escaping @Sendable (LiveViewChange) -> Void) {
        state.withLock { $0.observers.append(handler) }
    }

    /// Reports a change to everybody who observes.
    func announce(_ change: LiveViewChange) {
        let observers = state.withLock { $0.observers }
        for observer in observers { observer(change) }
    }
}
