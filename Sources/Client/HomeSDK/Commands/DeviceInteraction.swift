import Foundation
import GatewayClient
import HomeTypes

/// The connection from a trait to its endpoint of a device.
struct DeviceInteraction: TraitInteraction {
    let model: HomeModel
    let device: String
    let endpoint: Int

    private func path(_ trait: any Trait.Type, _ rest: String = "") -> String {
        let device = GatewayConnection.segment(device)
        return "/v1/devices/\(device)/traits/\(GatewayConnection.segment(trait.name))\(rest)?endpoint=\(endpoint)"
    }

    /// Sends a command. It takes effect once, even if the connection is lost and the command is sent again.
    func send(_ command: any Command.Type, parameters: Data) async throws(HomeError) -> Data {
        var request = GatewayRequest(.post, path(command.trait, "/commands/\(command.name)"), body: parameters)
        request.idempotencyKey = UUID().uuidString
        request.timeout = model.configuration.commandTimeout
        return try await model.connection.sendRepeatedly(request).body
    }

    func update(_ trait: any Trait.Type, attributes: Data) async throws(HomeError) -> Data {
        var request = GatewayRequest(.patch, path(trait), body: attributes)
        request.timeout = model.configuration.commandTimeout
        return try await model.connection.send(request).body
    }
}
