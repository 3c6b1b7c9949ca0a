import Foundation
import HomeTypes
import Signalling

/// The handlers of the traits' commands. A command without one goes to the device's backend.
struct CommandTable: Sendable {
    private struct Key: Hashable {
        let trait: String
        let command: String
    }

    private var handlers: [Key: any CommandHandling] = [:]

    /// Adds the handler of a command. It gets parameters that keep the vocabulary's constraints.
    mutating func on<Command: TraitCommand>(
        _ command: Command.Type, _ handle: @escaping CommandHandler<Command>.Handle
    ) {
        let key = Key(trait: Command.trait.name, command: Command.name)
        self.handlers[key] = CommandHandler<Command>(handle: handle)
    }

    /// The handler of a command, or nil.
    func handler(of call: CommandCall) -> (any CommandHandling)? {
        self.handlers[Key(trait: call.trait, command: call.command)]
    }
}

/// Runs one command of a trait.
protocol CommandHandling: Sendable {
    /// Takes the parameters as JSON, and returns the result as JSON.
    func run(_ call: CommandCall, body: Data, in hub: HomeHub) async throws(HomeError) -> Data
}

/// Reads and checks the parameters of a command, runs it, and writes its result.
struct CommandHandler<Command: TraitCommand>: CommandHandling {
    /// The command itself. It throws `HomeError` or `SignallingError`; the compiler (Swift 6.3) ends with an internal error where a closure's
    /// type says so and its result depends on a generic parameter.
    typealias Handle = @Sendable (HomeHub, CommandCall, Command.Parameters) async throws -> Command.Result

    let handle: Handle

    func run(_ call: CommandCall, body: Data, in hub: HomeHub) async throws(HomeError) -> Data {
        do {
            let parameters = try JSONDecoder().decode(Command.Parameters.self, from: body)
            try parameters.validate()
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(try await self.handle(hub, call, parameters))
        } catch let error as HomeError {
            throw error
        } catch let error as SignallingError {
            throw HomeError(error)
        } catch let error as DecodingError {
            throw HomeError(error)
        } catch {
            throw HomeError.internal("\(Command.name) failed: \(error)")
        }
    }
}
