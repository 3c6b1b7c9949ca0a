import Foundation
import HomeTypes

/// Several commands in one request.
extension HomeHub {
    /// The maximum number of commands in one request.
    public static let maximumBatch = 100

    /// Sends commands one after the other. One that fails does not stop the others, unless the caller loses the rights
    /// meanwhile: a camera may take seconds for each of them.
    /// - Returns: the outcome of each command, in order.
    /// - Throws: `invalidArgument` for too many commands.
    public func send(_ commands: [(call: CommandCall, body: Data)]) async throws(HomeError) -> [Result<Data, HomeError>]
    {
        guard commands.count <= Self.maximumBatch else {
            throw HomeError.invalidArgument(
                "commands has \(commands.count) items; one request may have \(Self.maximumBatch)")
        }
        var results: [Result<Data, HomeError>] = []
        for (index, command) in commands.enumerated() {
            var call = command.call
            // A repetition of the request repeats each of its commands.
            call.caller.idempotencyKey = call.caller.idempotencyKey.map { "\($0)#\(index)" }
            do throws(HomeError) {
                if index > 0 { try requireStill(call) }
                results.append(.success(try await send(call, body: command.body)))
            } catch {
                results.append(.failure(error))
            }
        }
        return results
    }
}
