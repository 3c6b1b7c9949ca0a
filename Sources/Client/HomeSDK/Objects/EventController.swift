import Foundation
import HomeTypes

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

/// The events of a device, or of one of its types (Home APIs, `EventController`).
public final class EventController: Sendable {
    /// Nil for a value that was made by hand, which has no events.
    private let model: HomeModel?
    private let deviceID: String
    /// The endpoint; nil for the whole device.
    private let endpoint: Int?
    private let traits: [any Trait.Type]

    init(_ model: HomeModel?, deviceID: String, endpoint: Int?, traits: [any Trait.Type]) {
        self.model = model
        self.deviceID = deviceID
        self.endpoint = endpoint
        self.traits = traits
    }

    /// Whether a trait of the device can send the event.
    public func contains(_ event: any Event.Type) -> Bool {
        traits.contains { trait in trait.identifier == event.trait.identifier }
    }

    /// The events of one kind, from now on. A device that does not send them completes immediately.
    ///
    /// An event is delivered once. If a thousand wait for a subscriber that does not read them, the stream fails with
    /// `resourceExhausted`. If the connection was lost for so long that the gateway has not kept every event, it fails with
    /// `dataLoss`. It does not end when the app's rights change: a device that the app may no longer read sends nothing. The
    /// stream finishes when the device is removed from the home, and a later subscription to it completes immediately. A
    /// subscription to a device whose locality is `unspecified` fails with `unavailable`, as commands do.
    public func subscribe<Wanted: Event>(_ event: Wanted.Type) -> AnyPublisher<Wanted, HomeError> {
        guard contains(event) else { return Empty().eraseToAnyPublisher() }
        return publisher(of: event.trait) { $0.read(event) }
    }

    /// All events of a trait, from now on. A device without the trait completes immediately, and the stream finishes when the
    /// device is removed from the home.
    public func subscribe(_ trait: any Trait.Type) -> AnyPublisher<any Event, HomeError> {
        guard traits.contains(where: { $0.identifier == trait.identifier }) else {
            return Empty().eraseToAnyPublisher()
        }
        let kinds = trait.supportedEventTypes
        return publisher(of: trait) { event in
            for kind in kinds {
                if let value: any Event = event.read(kind) { return value }
            }
            return nil
        }
    }

    private func publisher<Value: Sendable>(
        of trait: any Trait.Type, _ read: @escaping @Sendable (HomeEvent) -> Value?
    ) -> AnyPublisher<Value, HomeError> {
        guard let model else { return Empty().eraseToAnyPublisher() }
        let (deviceID, endpoint) = (deviceID, endpoint)
        let events = StreamPublisher<Value> {
            EventSource(model, deviceID: deviceID) { event in
                // A gateway that does not name an endpoint means the whole device.
                guard endpoint == nil || event.endpoint == nil || event.endpoint == endpoint else { return nil }
                return read(event)
            }
        }
        return Deferred { () -> AnyPublisher<Value, HomeError> in
            // The home does not know yet how to reach the device, so nothing would come.
            if model.lastKnown?.hasLocality(of: trait, at: endpoint, of: deviceID) == false {
                let error = HomeError.unavailable("device \(deviceID) is not connected; subscribe again when it is")
                return Fail<Value, HomeError>(error: error).eraseToAnyPublisher()
            }
            return events.eraseToAnyPublisher()
        }.eraseToAnyPublisher()
    }
}

extension HomeState {
    /// Whether the connectivity of a device's trait is known, at one endpoint or at any; nil for a device without the
    /// trait.
    fileprivate func hasLocality(of trait: any Trait.Type, at endpoint: Int?, of device: String) -> Bool? {
        let localities = (devices[device]?.endpoints ?? []).filter { endpoint == nil || $0.id == endpoint }
            .flatMap(\.traits.all).filter { type(of: $0).identifier == trait.identifier }
            .map(\.metadata.sourceConnectivity.dataSourceLocality)
        return localities.isEmpty ? nil : localities.contains { $0 != .unspecified }
    }
}

extension HomeEvent {
    /// The event as a value of its type; nil for another event, and for one that cannot be read.
    func read<Wanted: Event>(_ type: Wanted.Type) -> Wanted? {
        guard name == type.name, var event = try? JSONDecoder().decode(type, from: data) else { return nil }
        event.metadata = EventMetadata(timestamp: timestamp.timeIntervalSince1970)
        return event
    }
}

extension DeviceType {
    /// The events of this part of the device. For a value that was made by hand, the stream completes immediately.
    public var events: EventController {
        for trait in traits.all {
            if let interaction = trait.interaction as? DeviceInteraction {
                return EventController(
                    interaction.model, deviceID: interaction.device, endpoint: interaction.endpoint,
                    traits: traits.all.map { Swift.type(of: $0) })
            }
        }
        return EventController(nil, deviceID: "", endpoint: nil, traits: [])
    }
}
