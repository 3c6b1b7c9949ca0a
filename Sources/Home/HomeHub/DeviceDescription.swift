import HomeTypes

/// A device as the config describes it.
public struct DeviceDescription: Sendable, Hashable {
    /// The identifier, unique in the home.
    public var id: String
    /// The name that people read.
    public var name: String
    /// The device's type.
    public var kind: DeviceKind

    /// Describes a device.
    public init(id: String, name: String, kind: DeviceKind) {
        self.id = id
        self.name = name
        self.kind = kind
    }
}
