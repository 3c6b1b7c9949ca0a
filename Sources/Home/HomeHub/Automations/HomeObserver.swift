import Foundation
import HomeTypes

/// What the home reports to an observer.
public enum HomeObservation: Sendable {
    /// The current state of a device that is new or has changed.
    case device(DeviceSnapshot)
    /// A device has left the home.
    case deviceRemoved(id: String)
    /// The current state of a structure, without the time.
    case structure(StructureSnapshot)
    /// A structure has left the home.
    case structureRemoved(id: String)
    /// A trait of a device has sent an event.
    case event(deviceID: String, endpoint: UInt16, trait: String, name: String, fields: [String: JSONObject.Value])
}

/// Receives what happens in the home, when it happens, in order.
///
/// The hub calls it between two changes. `take` must not block. A device that is not watched costs one call of
/// `watches`.
public protocol HomeObserver: Sendable {
    /// Whether the observer wants reports about a device.
    func watches(deviceID: String) -> Bool

    /// Handles what has happened.
    func take(_ observation: HomeObservation)
}

extension HomeHub {
    /// Reports the current state of the structures and of the devices that an observer watches, and every change from
    /// then on. The hub keeps the observer for as long as it exists.
    public func add(_ observer: any HomeObserver) {
        observers.append(observer)
        reportStructures(to: observer)
        reportState(of: order.filter { observer.watches(deviceID: $0) }, to: observer)
    }

    private func reportStructures(to observer: any HomeObserver) {
        for structure in directory.structures { observer.take(.structure(directory.snapshot(of: structure.record))) }
    }

    /// Reports the current state of devices to an observer. Those that the home does not have are left out.
    public func reportState(of devices: [String], to observer: any HomeObserver) {
        for id in devices {
            if let state = states[id] { observer.take(.device(state.snapshot)) }
        }
    }

    /// Reports to an observer what it has dropped.
    /// - Parameters:
    ///   - devices: the devices that it knows and whose changes it has dropped. One that the home does not have has left.
    ///   - structures: whether it has dropped changes of structures.
    public func reportMissed(of devices: [String], structures: Bool, to observer: any HomeObserver) {
        if structures { reportStructures(to: observer) }
        for id in devices { observer.take(states[id].map { .device($0.snapshot) } ?? .deviceRemoved(id: id)) }
    }

    /// Reports a change to the observers.
    func reportToObservers(_ change: HomeChange) {
        let device = change.observedDevice
        for observer in observers {
            if let device, !observer.watches(deviceID: device) { continue }
            guard let observation = HomeObservation(change) else { return }
            observer.take(observation)
        }
    }
}

extension HomeChange {
    /// The device that it is about, if observers receive it.
    fileprivate var observedDevice: String? {
        switch self {
        case .device(let device), .deviceAdded(let device): device.id
        case .deviceRemoved(let id), .doorbellPressed(let id, _, _), .detection(let id, _, _),
            .recordingBegan(let id, _, _), .recordingEnded(let id, _, _), .traitEvent(let id, _, _):
            id
        case .structure, .structureRemoved, .room, .roomRemoved, .session, .alarm, .configuration, .missed: nil
        }
    }
}

extension HomeObservation {
    /// What observers receive for a change; nil for a change that they do not receive.
    init?(_ change: HomeChange) {
        switch change {
        case .device(let device), .deviceAdded(let device): self = .device(device)
        case .deviceRemoved(let id): self = .deviceRemoved(id: id)
        case .structure(let structure): self = .structure(structure)
        case .structureRemoved(let id): self = .structureRemoved(id: id)
        case .doorbellPressed(let id, _, let press): self.init(press, of: id)
        case .detection(let id, _, let detection): self.init(detection, of: id)
        case .recordingBegan(let id, _, let event): self.init(event, of: id)
        case .recordingEnded(let id, _, let event): self.init(event, of: id)
        case .traitEvent(let id, _, let event):
            let fields = (try? JSONDecoder().decode(JSONObject.self, from: event.fields)) ?? JSONObject()
            self = .event(
                deviceID: id, endpoint: event.endpoint, trait: event.trait, name: event.name, fields: fields.members)
        case .room, .roomRemoved, .session, .alarm, .configuration, .missed: return nil
        }
    }

    /// An event of the vocabulary that a camera has sent.
    private init<Kind: Event>(_ event: Kind, of deviceID: String) {
        // The fields are plain values, which JSON always has.
        let fields = (try? JSONDecoder().decode(JSONObject.self, from: JSONEncoder().encode(event))) ?? JSONObject()
        self = .event(
            deviceID: deviceID, endpoint: DeviceState.cameraEndpoint, trait: Kind.trait.name, name: Kind.name,
            fields: fields.members)
    }

    /// A detection has the same fields for each kind.
    private init(_ detection: DetectionEvent, of deviceID: String) {
        var fields: [String: JSONObject.Value] = [
            "phase": .text(detection.phase.rawValue), "eventSessionId": .text(detection.eventSessionId),
        ]
        if let time = detection.cameraTimestamp { fields["cameraTimestamp"] = .text(time.formatted(.iso8601)) }
        self = .event(
            deviceID: deviceID, endpoint: DeviceState.cameraEndpoint, trait: detection.kind.traitName,
            name: detection.kind.eventName, fields: fields)
    }
}
