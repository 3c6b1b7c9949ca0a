import Foundation

/// A command with an idempotency key that would act twice if it were repeated, and its outcome.
public struct KeptResult: Sendable, Hashable, Codable {
    /// The caller that sent the command.
    public var principal: String
    /// The device; empty for a request that creates an object.
    public var deviceID: String
    /// The number of the endpoint.
    public var endpoint: UInt16?
    /// The trait's name.
    public var trait: String
    /// The command's name, or what is created.
    public var command: String
    /// The caller's key.
    public var idempotencyKey: String
    /// The fingerprint of the parameters.
    public var parameters: UInt64
    /// The result; nil while the command runs, and permanently if the gateway ended before it knew the result.
    public var result: Data?
    /// When the command began or was applied.
    public var time: Date

    /// Describes a result.
    public init(
        principal: String, deviceID: String, endpoint: UInt16?, trait: String, command: String, idempotencyKey: String,
        parameters: UInt64, result: Data?, time: Date
    ) {
        self.principal = principal
        self.deviceID = deviceID
        self.endpoint = endpoint
        self.trait = trait
        self.command = command
        self.idempotencyKey = idempotencyKey
        self.parameters = parameters
        self.result = result
        self.time = time
    }

    /// Names the command and its repetitions.
    var name: String {
        [principal, deviceID, endpoint.map { "\($0)" } ?? "", trait, command, idempotencyKey].joined(
            separator: "\u{1F}")
    }
}
