import DatagramPort
import Foundation
import HTTPTypes
import HomeHub
import HomeTypes
import Hummingbird

/// Several commands in one request.
extension GatewayAPI {
    /// The body of `POST /v1/commands`.
    struct CommandBatch: Decodable {
        var commands: [Item]

        /// One command.
        struct Item: Decodable {
            var deviceID: String
            var endpoint: UInt16?
            var trait: String
            var command: String
            var parameters: JSONObject?
        }
    }

    /// The response to `POST /v1/commands`: what became of each command, in order.
    struct CommandResults: Encodable {
        var results: [Item]

        /// The response of a command, or its error.
        struct Item: Encodable {
            var result: JSONObject?
            var error: HomeErrorResponse.Body?
        }
    }

    func addBatchRoute(to router: Router<GatewayRequestContext>) {
        router.post("/v1/commands") { request, context in
            // The caller's time starts here, before the body is read.
            let sender = try caller(request, context)
            let received = MonotonicClock.now
            let batch = try await JSONBody.read(CommandBatch.self, from: request)
            var commands: [(call: CommandCall, body: Data)] = []
            for item in batch.commands {
                let call = CommandCall(
                    deviceID: hub.names.id(of: item.deviceID), endpoint: item.endpoint, trait: item.trait,
                    command: item.command,
                    caller: sender, received: received)
                commands.append((call, try JSONEncoder().encode(item.parameters ?? JSONObject())))
            }
            let items = try await hub.send(commands).map { result throws -> CommandResults.Item in
                switch result {
                case .success(let data):
                    CommandResults.Item(result: try JSONDecoder().decode(JSONObject.self, from: data))
                case .failure(let error): CommandResults.Item(error: HomeErrorResponse(error).error)
                }
            }
            return try JSONBody.response(CommandResults(results: items))
        }
    }
}
