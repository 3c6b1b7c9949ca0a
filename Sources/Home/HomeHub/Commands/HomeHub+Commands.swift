import Foundation
import HomeTypes

extension HomeHub {
    /// Sends a command to a trait of a device.
    /// - Parameters:
    ///   - call: the command, and who sends it.
    ///   - body: the parameters as JSON.
    /// - Returns: the result as JSON.
    /// - Throws: `notFound` for a device, trait or command that does not exist, `invalidArgument` for parameters that
    ///   break the vocabulary's constraints, and what the command itself throws.
    public func send(_ call: CommandCall, body: Data) async throws(HomeError) -> Data {
        let trait = type(of: try self.trait(call.trait, of: call.deviceID))
        guard trait.supportedCommandTypes.contains(call.command) else {
            let list = trait.supportedCommandTypes.joined(separator: ", ")
            throw HomeError.notFound(
                "trait \(trait.name) has no command of this name; it has \(list.isEmpty ? "none" : list)")
        }
        guard call.caller.scopes.contains(.control) else {
            throw HomeError.permissionDenied("\(call.caller.principal) may not send commands")
        }
        if let handler = self.commands.handler(of: call) { return try await handler.run(call, body: body, in: self) }
        guard let driver = try self.state(of: call.deviceID).driver else {
            throw HomeError.unavailable("device \(call.deviceID) is not connected")
        }
        return try await driver.execute(call, body: body)
    }

    /// The attributes of a trait of a device.
    public func trait(_ name: String, of deviceID: String) throws(HomeError) -> any Trait {
        let device = try self.device(deviceID)
        guard let trait = device.traits[name] else {
            let names = device.traits.all.map { type(of: $0).name }.joined(separator: ", ")
            throw HomeError.notFound("device \(device.id) has no trait of this name; it has \(names)")
        }
        return trait
    }
}
