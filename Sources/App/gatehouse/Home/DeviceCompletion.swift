import ArgumentParser
import Foundation
import GatewayClient
import HomeTypes

/// Completes the names of a home's things in the shell. It asks the gateway on this machine, and stays silent where that
/// fails. A thing whose name could mean something to a shell is offered by its id (see ``ShellWord``).
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
    static let devices = CompletionKind.custom { _, _, _ in await words("/v1/devices") }
    /// The names of rooms.
    static let rooms = CompletionKind.custom { _, _, _ in await words("/v1/rooms") }
    /// The names of structures.
    static let structures = CompletionKind.custom { _, _, _ in await words("/v1/structures") }

    /// What to type for each thing: its key, the name that it alone has, or its id.
    private static func words(_ path: String) async -> [String] {
        guard let options = try? GatewayOptions.parse([]), let connection = try? options.connect() else { return [] }
        var request = GatewayRequest(.get, path)
        request.timeout = .seconds(2)
        guard let data = try? await connection.send(request).body,
            let answer = try? JSONDecoder().decode(Answer.self, from: data)
        else { return [] }
        let things = answer.devices ?? answer.rooms ?? answer.structures ?? []
        let counts = Dictionary(things.compactMap(\.name).map { ($0.lowercased(), 1) }, uniquingKeysWith: +)
        return things.compactMap { thing in
            let name = thing.name.flatMap { counts[$0.lowercased()] == 1 ? $0 : nil }
            return ShellWord.first(thing.key, name, thing.id)
        }
    }
}
