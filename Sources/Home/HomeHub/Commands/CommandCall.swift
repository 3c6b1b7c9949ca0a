import HomeTypes

/// A command on its way to a device.
public struct CommandCall: Sendable, Hashable {
    /// The device.
    public var deviceID: String
    /// The trait's name.
    public var trait: String
    /// The command's name.
    public var command: String
    /// Who sends it.
    public var caller: Caller

    /// Describes a command.
    public init(deviceID: String, trait: String, command: String, caller: Caller) {
        self.deviceID = deviceID
        self.trait = trait
        self.command = command
        self.caller = caller
    }
}
