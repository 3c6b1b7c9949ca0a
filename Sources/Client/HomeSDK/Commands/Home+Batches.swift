import Foundation
import GatewayClient
import HomeTypes
import Transport

extension Home {
    private struct Batch: Encodable {
        var commands: [CommandBatcher.Entry]
    }

    private struct Answer: Decodable {
        enum Entry: Decodable {
            case response(JSONValue)
            case failure(HomeError)

            private enum CodingKeys: CodingKey {
                case result, error
            }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                if container.contains(.error) {
                    self = .failure(try HomeErrorResponse(from: decoder).homeError)
                } else {
                    self = .response(try container.decodeIfPresent(JSONValue.self, forKey: .result) ?? .object([:]))
                }
            }
        }

        var results: [Entry]
    }

    /// Sends several commands in one request. The gateway starts them in their order.
    ///
    /// ```swift
    /// let (lamp, fan) = try await home.sendBatchedCommands { batch in
    ///     (try batch.add(Matter.OnOffTrait.on(), to: lampTrait), try batch.add(Matter.OnOffTrait.off(), to: fanTrait))
    /// }
    /// try lamp.response
    /// ```
    /// - Returns: what `body` returns, usually the commands that it added. A command that fails does not fail the others:
    ///   its `response` throws.
    /// - Throws: what `body` throws; what the gateway throws if it refuses the batch as a whole.
    public func sendBatchedCommands<Added>(_ body: (CommandBatcher) throws -> Added) async throws -> Added {
        let batcher = CommandBatcher()
        let added = try body(batcher)
        guard !batcher.entries.isEmpty else { return added }
        let data = try JSONEncoder().encode(Batch(commands: batcher.entries))
        var request = GatewayRequest(.post, "/v1/commands", body: data)
        request.idempotencyKey = UUID().uuidString
        request.timeout = model.configuration.commandTimeout
        let answer = try await model.connection.sendRepeatedly(request).body
        let results = try model.connection.decode(Answer.self, answer).results
        let outcomes = try results.map { entry throws -> Result<Data, HomeError> in
            switch entry {
            case .response(let response): .success(try JSONEncoder().encode(response))
            case .failure(let error): .failure(error)
            }
        }
        batcher.outcome.withLock { $0 = outcomes }
        return added
    }
}
