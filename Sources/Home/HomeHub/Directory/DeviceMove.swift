/// Where a change of a device's name and place has moved it. Another change may have moved it on since then.
public struct DeviceMove: Sendable, Hashable {
    /// The device.
    public var deviceID: String
    /// The structure that the change found it in.
    public var former: String
    /// The structure that the change left it in.
    public var structureID: String

    /// Describes a move.
    public init(_ deviceID: String, from former: String, to structureID: String) {
        self.deviceID = deviceID
        self.former = former
        self.structureID = structureID
    }

    /// Whether the structure is another one.
    public var changesStructure: Bool { former != structureID }
}
