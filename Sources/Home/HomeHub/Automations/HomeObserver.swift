import Foundation
import HomeTypes

/// What an observer hears of the home.
public enum HomeObservation: Sendable {
    /// A device is now this.
    case device(DeviceSnapshot)
    /// A device has left the home.
    case deviceRemoved(id: String)
    /// A structure is now this. The time is not a part of it.
    case structure(StructureSnapshot)
    /// A structure has left the home.
    case structureRemoved(id: String)
    /// A trait of a device has sent an event.
    case event(deviceID: String, endpoint: UInt16, trait: String, name: String, fields: [String: JSONObject.Value])
}

/// Hears what happens in the home, at the moment at which it happens, in order.
///
/// The hub calls it between two changes. It must not block, and asks for nothing that it does not need: a device that nobody
/// watches costs one question.
public protocol HomeObserver: Sendable {
    /// Whether the observer wants to hear of a device.
    func watches(deviceID: String) -> Bool

    /// Takes what has happened.
    func take(_ observation: HomeObservation)
}

extension HomeHub {
    /// Tells an observer the present state of the structures and of the devices that it watches, and from then on every
    /// change. It is kept as long as the hub.
    public func add(_ observer: any HomeObserver) {
        observers.append(observer)
        for structure in directory.structures { observer.take(.structure(directory.snapshot(of: structure.record))) }
        tell(observer, of: order.filter { observer.watches(deviceID: $0) })
    }

    /// Tells an observer the present state of devices. Those that the home does not have are left out.
    public func tell(_ observer: any HomeObserver, of devices: [String]) {
        for id in devices {
            if let state = states[id] { observer.take(.device(state.snapshot)) }
        }
    }

    /// Tells the observers what has changed.
    func tellObservers(_ change: HomeChange) {
        for observer in observers {
            switch change {
            case .device(let device), .deviceAdded(let device):
                if observer.watches(deviceID: device.id) { observer.take(.device(device)) }
            case .deviceRemoved(let id):
                if observer.watches(deviceID: id) { observer.take(.deviceRemoved(id: id)) }
            case .structure(let structure): observer.take(.structure(structure))
            case .structureRemoved(let id): observer.take(.structureRemoved(id: id))
            case .doorbellPressed(let id, _, let press): Self.tell(observer, press, of: id)
            case .detection(let id, _, let detection): Self.tell(observer, detection, of: id)
            case .recordingBegan(let id, _, let event): Self.tell(observer, event, of: id)
            case .recordingEnded(let id, _, let event): Self.tell(observer, event, of: id)
            case .traitEvent(let id, _, let event):
                guard observer.watches(deviceID: id) else { continue }
                let fields = (try? JSONDecoder().decode(JSONObject.self, from: event.fields)) ?? JSONObject()
                observer.take(
                    .event(
                        deviceID: id, endpoint: event.endpoint, trait: event.trait, name: event.name,
                        fields: fields.members))
            case .room, .roomRemoved, .session, .alarm, .missed: break
            }
        }
    }

    /// An event of the vocabulary that a camera has sent.
    private static func tell<Kind: Event>(_ observer: any HomeObserver, _ event: Kind, of deviceID: String) {
        guard observer.watches(deviceID: deviceID) else { return }
        // The fields are plain values, which JSON always has.
        let fields = (try? JSONDecoder().decode(JSONObject.self, from: JSONEncoder().encode(event))) ?? JSONObject()
        observer.take(
            .event(
                deviceID: deviceID, endpoint: DeviceState.cameraEndpoint, trait: Kind.trait.name, name: Kind.name,
                fields: fields.members))
    }

    /// A detection has the same fields for each kind.
    private static func tell(_ observer: any HomeObserver, _ detection: DetectionEvent, of deviceID: String) {
        guard observer.watches(deviceID: deviceID) else { return }
        var fields: [String: JSONObject.Value] = [
            "phase": .text(detection.phase.rawValue), "eventSessionId": .text(detection.eventSessionId),
        ]
        if let time = detection.cameraTimestamp { fields["cameraTimestamp"] = .text(time.formatted(.iso8601)) }
        observer.take(
            .event(
                deviceID: deviceID, endpoint: DeviceState.cameraEndpoint, trait: detection.kind.traitName,
                name: detection.kind.eventName, fields: fields))
    }
}
