import DatagramPort
import HomeTypes
import Transport

/// A command for a device.
public struct CommandCall: Sendable, Hashable {
    /// The device.
    public var deviceID: String
    /// The number of the endpoint; nil to have one chosen.
    public var endpoint: UInt16?
    /// The trait's name.
    public var trait: String
    /// The command's name.
    public var command: String
    /// The caller that sends it.
    public var caller: Caller
    /// When it was received. The caller's time starts here.
    public var received: Instant

    /// Describes a command.
    public init(
        deviceID: String, endpoint: UInt16? = nil, trait: String, command: String, caller: Caller,
        received: Instant = MonotonicClock.now
    ) {
        self.endpoint = endpoint
        self.deviceID = deviceID
        self.trait = trait
        self.command = command
        self.caller = caller
        self.received = received
    }

    /// When the caller gives up; nil for a caller without a limit.
    public var deadline: Instant? {
        guard let seconds = caller.remainingSeconds, seconds.isFinite else { return nil }
        // A caller may write any number. A year does not limit a command.
        return received + .seconds(min(max(seconds, 0), 365 * 86_400))
    }

    /// Fails once the caller has given up.
    /// - Throws: `deadlineExceeded`.
    func requireTime(at now: Instant) throws(HomeError) {
        guard let deadline, deadline <= now else { return }
        throw HomeError.deadlineExceeded(
            "the deadline of \(command) passed before it was applied; nothing was changed")
    }
}
