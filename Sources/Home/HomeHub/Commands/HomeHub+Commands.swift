import Foundation
import HomeTypes

extension HomeHub {
    /// Sends a command to a trait of a device.
    ///
    /// If the caller gives an idempotency key, a repetition of the command returns the first result for ten minutes. A
    /// repetition that arrives while the first command runs waits for its result.
    /// - Parameters:
    ///   - call: the command, and who sends it.
    ///   - body: the parameters as JSON.
    /// - Returns: the result as JSON.
    /// - Throws: `notFound` for a device, trait or command that does not exist, `invalidArgument` for parameters that
    ///   break the vocabulary's constraints, `deadlineExceeded` if the caller's time is over before the command is
    ///   applied, and what the command itself throws.
    public func send(_ call: CommandCall, body: Data) async throws(HomeError) -> Data {
        try require(.init(forCommandsOf: call.trait), of: call.deviceID, for: call.caller)
        let trait = type(of: try self.trait(call.trait, of: call.deviceID))
        guard trait.supportedCommandTypes.contains(where: { $0.name == call.command }) else {
            let list = trait.supportedCommandTypes.map { $0.name }.joined(separator: ", ")
            throw HomeError.notFound(
                "trait \(trait.name) has no command of this name; it has \(list.isEmpty ? "none" : list)")
        }
        guard let idempotencyKey = call.caller.idempotencyKey else { return try await apply(call, body: body) }
        let key = CommandResults.Key(
            principal: call.caller.principal, deviceID: call.deviceID, trait: call.trait, command: call.command,
            idempotencyKey: idempotencyKey)
        return try await once(
            key, parameters: body,
            isLate: { () throws(HomeError) in
                try call.requireTime(at: self.clock())
            }
        ) { () async throws(HomeError) in
            try await self.apply(call, body: body)
        }
    }

    /// Applies a command, unless its caller has given up.
    private func apply(_ call: CommandCall, body: Data) async throws(HomeError) -> Data {
        try call.requireTime(at: clock())
        if let handler = commands.handler(of: call) { return try await handler.run(call, body: body, in: self) }
        guard let driver = try state(of: call.deviceID).driver else {
            throw HomeError.unavailable("device \(call.deviceID) is not connected")
        }
        return try await driver.execute(call, body: body)
    }

    /// The attributes of a trait of a device.
    public func trait(_ name: String, of deviceID: String) throws(HomeError) -> any Trait {
        let device = try self.device(deviceID)
        guard let trait = device.traits[name] else {
            let names = device.traits.names.joined(separator: ", ")
            throw HomeError.notFound("device \(device.id) has no trait of this name; it has \(names)")
        }
        return trait
    }
}
