import Foundation
import HomeHub
import HomeTypes
import MQTTDevices

/// Devices on the broker in the words of the home.
extension MQTTDevice {
    /// What the home calls the device with this key. Keys of the config contain no colon.
    static func homeKey(_ key: String) -> String { "mqtt:\(key)" }

    /// The parts as the home describes them: the root node first, which says what the product is.
    /// - Parameter id: the device's identifier in the home.
    func endpointDescriptions(id: String) -> [EndpointDescription] {
        var information = Matter.BasicInformationTrait.Attributes(
            describing: id, name: name, vendor: product.vendorName, product: product.productName)
        // Matter's limits: 64 bytes for versions, 32 for the other two (Matter core specification, section 11.1.5).
        information.softwareVersionString = product.softwareVersion?.cut(toBytes: 64)
        information.hardwareVersionString = product.hardwareVersion?.cut(toBytes: 64)
        information.serialNumber = product.serialNumber?.cut(toBytes: 32)
        // A longer identifier that is cut could be the beginning of another one.
        if let unique = product.uniqueID, unique.utf8.count <= 32 { information.uniqueID = unique }
        var root = EndpointDescription(
            id: EndpointDescription.root, types: [RootNodeDeviceType.self],
            connectivity: SourceConnectivity(mqtt: isReachable))
        root.traits.set(Matter.BasicInformationTrait(attributes: information))
        return [root]
            + endpoints.map { endpoint in
                EndpointDescription(
                    id: UInt16(clamping: endpoint.number),
                    types: endpoint.types.compactMap { Vocabulary.deviceType(named: $0) },
                    traits: TraitCollection(mqtt: endpoint.values),
                    connectivity: SourceConnectivity(mqtt: endpoint.isReachable))
            }
    }

    /// Whether the device can be reached: any part of it is enough. Nil where that is not known.
    var isReachable: Bool? {
        let answers = endpoints.map(\.isReachable)
        if answers.contains(true) { return true }
        return answers.contains(nil) ? nil : false
    }
}

extension SourceConnectivity {
    /// How a part of a device on the broker is connected.
    init(mqtt isReachable: Bool?) {
        self.init(
            connectivityState: isReachable.map { $0 ? .online : .offline } ?? .unknown, dataSourceLocality: .localPeer)
    }

    /// How a device is connected that an earlier run knew, and that the broker has not described yet.
    static let notDescribedYet = SourceConnectivity(connectivityState: .offline, dataSourceLocality: .unspecified)
}

extension TraitCollection {
    /// The traits with these attributes. A value that the vocabulary does not have is left out, alone.
    init(mqtt values: TraitValues) {
        self.init()
        for (trait, attributes) in values.traits {
            if let whole = Self.read([trait: .object(attributes)]) {
                merge(whole)
                continue
            }
            merge(Self.read([trait: [:]]) ?? TraitCollection())
            for (name, value) in attributes {
                merge(Self.read([trait: .object([name: value])]) ?? TraitCollection())
            }
        }
    }

    private static func read(_ traits: [String: JSONValue]) -> TraitCollection? {
        try? JSONDecoder().decode(TraitCollection.self, from: JSONValue.object(traits).data)
    }
}

extension MQTTDeviceReport {
    /// The device that the report is about; nil for one about a person.
    var key: String? {
        switch self {
        case .described(let device): device.key
        case .removed(let key), .values(let key, _, _), .reachability(let key, _, _), .event(let key, _, _): key
        case .tracker, .trackerRemoved, .presence: nil
        }
    }

    /// What the report means to a device of the home; nil for one about the device as a whole, or about a person.
    var update: DeviceUpdate? {
        switch self {
        case .values(_, let endpoint, let values):
            .report(endpoint: UInt16(clamping: endpoint), TraitCollection(mqtt: values))
        case .reachability(_, let endpoint, let isReachable):
            .connectivity(endpoint: UInt16(clamping: endpoint), SourceConnectivity(mqtt: isReachable))
        case .event(_, _, .doorbellPressed): .doorbellPressed(.init())
        case .event(_, let endpoint, .button(let gesture)):
            gesture.event(endpoint: UInt16(clamping: endpoint)).map(DeviceUpdate.event)
        case .described, .removed, .tracker, .trackerRemoved, .presence: nil
        }
    }

    /// Whether the report is about the device as a whole.
    var isDescription: Bool {
        switch self {
        case .described, .removed: true
        case .values, .reachability, .event, .tracker, .trackerRemoved, .presence: false
        }
    }

    /// Whether the report is about something that happened, and not about a state.
    var isEvent: Bool {
        if case .event = self { return true }
        return false
    }
}

extension ButtonGesture {
    /// The event of the trait `Switch` that this is; nil for a count of presses that the trait cannot say.
    /// A device that reports a double press does not report its first press, so each gesture is one event.
    fileprivate func event(endpoint: UInt16) -> TraitEvent? {
        // The two positions of a momentary switch: 0 while it is not pressed, and 1.
        switch self {
        case .press: try? TraitEvent(Matter.SwitchTrait.InitialPressEvent(newPosition: 1), endpoint: endpoint)
        case .presses(let count):
            try? TraitEvent(
                Matter.SwitchTrait.MultiPressCompleteEvent(
                    previousPosition: 1, totalNumberOfPressesCounted: UInt8(clamping: count)), endpoint: endpoint)
        case .hold: try? TraitEvent(Matter.SwitchTrait.LongPressEvent(newPosition: 1), endpoint: endpoint)
        case .release: try? TraitEvent(Matter.SwitchTrait.ShortReleaseEvent(previousPosition: 1), endpoint: endpoint)
        case .releaseAfterHold:
            try? TraitEvent(Matter.SwitchTrait.LongReleaseEvent(previousPosition: 1), endpoint: endpoint)
        }
    }
}
