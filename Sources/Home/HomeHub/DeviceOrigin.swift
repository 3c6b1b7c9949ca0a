/// Where devices of the home come from. Each origin has its own list of devices.
public enum DeviceOrigin: Int, Sendable, CaseIterable, Comparable {
    /// The cameras of the config.
    case cameras
    /// The virtual devices of the config.
    case virtual
    /// An MQTT broker.
    case mqtt

    public static func < (first: DeviceOrigin, second: DeviceOrigin) -> Bool { first.rawValue < second.rawValue }
}
