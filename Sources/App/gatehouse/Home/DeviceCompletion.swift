import ArgumentParser
import Foundation
import GatewayClient
import HomeTypes

/// Completes the names of a home's things in the shell. It asks the gateway on this machine, and stays silent where that
/// fails.
enum HomeCompletion {
    private struct Named: Decodable {
        var id: String
        var key: String?
        var name: String?
    }

    private struct Answer: Decodable {
        var devices: [Named]?
        var rooms: [Named]?
        var structures: [Named]?
    }

    /// The keys of devices.
    static let devices = CompletionKind.custom { _, _, _ in await names("/v1/devices") { $0.key ?? $0.id } }
    /// The names of rooms.
    static let rooms = CompletionKind.custom { _, _, _ in await names("/v1/rooms") { $0.name } }
    /// The names of structures.
    static let structures = CompletionKind.custom { _, _, _ in await names("/v1/structures") { $0.name } }

    private static func names(_ path: String, _ name: (Named) -> String?) async -> [String] {
        guard let options = try? GatewayOptions.parse([]), let connection = try? options.connect() else { return [] }
        var request = GatewayRequest(.get, path)
        request.timeout = .seconds(2)
        guard let data = try? await connection.send(request).body,
            let answer = try? JSONDecoder().decode(Answer.self, from: data)
        else { return [] }
        return (answer.devices ?? answer.rooms ?? answer.structures ?? []).compactMap(name)
    }
}
