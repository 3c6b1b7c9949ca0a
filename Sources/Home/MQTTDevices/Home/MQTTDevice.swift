/// A device that messages on the broker describe.
public struct MQTTDevice: Sendable, Hashable {
    /// Names the device permanently: the first of its identifiers. It stays through renames and rediscovery.
    public var key: String
    /// Everything that names it: a description with any of these means this device.
    public var identifiers: Set<String>
    /// The name that people read.
    public var name: String
    /// The room that its description suggests.
    public var suggestedRoom: String?
    /// What the description says about the product.
    public var product: MQTTProduct
    /// Its parts, in the order in which people should see them. The first one names the device's type.
    public var endpoints: [MQTTEndpoint]
}

/// What a description says about a product: the attributes of `BasicInformation`.
public struct MQTTProduct: Sendable, Hashable {
    /// The manufacturer.
    public var vendorName: String?
    /// The model.
    public var productName: String?
    /// The firmware.
    public var softwareVersion: String?
    /// The version of the hardware.
    public var hardwareVersion: String?
    /// The serial number, or the address instead of it.
    public var serialNumber: String?
    /// The first identifier.
    public var uniqueID: String?

    /// Nothing is known.
    public init() {}
}

/// One part of a device.
public struct MQTTEndpoint: Sendable, Hashable {
    /// Its number, from 1. It stays the same while the device is known.
    public var number: Int
    /// The wire names of its device types.
    public var types: [String]
    /// The traits that it has, and what is known about them.
    public var values: TraitValues
    /// Whether it can be reached; nil while that is unknown.
    public var isReachable: Bool?
}

/// What has changed in the home on the broker.
public enum MQTTDeviceReport: Sendable, Hashable {
    /// The device is new, or its description has changed.
    case described(MQTTDevice)
    /// Nothing describes the device now.
    case removed(key: String)
    /// Attributes of a part have these values now.
    case values(key: String, endpoint: Int, TraitValues)
    /// Whether a part can be reached has changed.
    case reachability(key: String, endpoint: Int, isReachable: Bool?)
    /// Something happened.
    case event(key: String, endpoint: Int, EntityEvent)
    /// Something describes a tracker. The state of its person follows when the tracker reports it.
    case tracker(MQTTTracker)
    /// Nothing describes the tracker now.
    case trackerRemoved(MQTTTracker)
    /// The person who carries a tracker has arrived or left.
    case presence(MQTTTracker, isHome: Bool)
}

/// What reports whether a person is at home: a phone or a key.
public struct MQTTTracker: Sendable, Hashable {
    /// Names it permanently: its `unique_id`, or the topic that describes it.
    public var id: String
    /// The name that people read.
    public var name: String
    /// The topic of its state.
    public var topic: String

    /// Describes a tracker.
    public init(id: String, name: String, topic: String) {
        self.id = id
        self.name = name
        self.topic = topic
    }
}
