/// The sender of a command, and the conditions that it sets. It is a value that can be sent to another gateway.
public struct Caller: Sendable, Codable, Hashable {
    /// What a caller may do.
    public enum Scope: String, Sendable, Codable, CaseIterable {
        /// Read the state and the history of devices.
        case read
        /// Send commands to devices and write their attributes.
        case control
        /// See and hear cameras, live and recorded, and speak through them. It includes ``view``.
        case media
        /// See and hear cameras live, and nothing else: neither speak nor see what was recorded.
        case view
        /// Change what the home consists of, and who may use it.
        case admin
        /// Create, run and read automations.
        case automate
        /// Let automations unlock, open and change locks. People need only `control` for that.
        case unlock
    }

    /// The name of the token that authenticated the request.
    public var principal: String
    /// What the token permits, and where.
    public var access: Access
    /// Names the request in logs.
    public var requestID: String
    /// The same for repetitions of one request, so that it takes effect once; nil if the caller did not give one.
    public var idempotencyKey: String?
    /// The time that is left for the command, in seconds, counted from when the value was received; nil for no limit.
    public var remainingSeconds: Double?
    /// The caller's address; nil if it is unknown.
    public var address: String?
    /// The addresses at which the caller reaches the gateway, the best first.
    public var reachedAddresses: [String]

    /// Describes a caller.
    public init(
        principal: String, access: Access = .everything, requestID: String = "",
        idempotencyKey: String? = nil, remainingSeconds: Double? = nil, address: String? = nil,
        reachedAddresses: [String] = []
    ) {
        self.principal = principal
        self.access = access
        self.requestID = requestID
        self.idempotencyKey = idempotencyKey
        self.remainingSeconds = remainingSeconds
        self.address = address
        self.reachedAddresses = reachedAddresses
    }
}
