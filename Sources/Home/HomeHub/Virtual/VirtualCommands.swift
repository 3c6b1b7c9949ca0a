import Foundation
import HomeTypes

/// What the commands of traits do to a virtual device. A device reaches its target immediately: transition times are
/// accepted and ignored.
struct VirtualCommands: Sendable {
    private typealias Handler = @Sendable (Data, inout TraitCollection) throws -> Data

    private var handlers: [String: Handler] = [:]

    /// The commands that virtual devices accept.
    static let standard: VirtualCommands = {
        var table = VirtualCommands()
        table.addSwitching()
        table.addLevels()
        table.addColors()
        table.addClimate()
        table.addOpenings()
        table.addOthers()
        return table
    }()

    /// Adds a command that answers with a response.
    mutating func answer<Sent: Command>(
        _ command: Sent.Type, _ handle: @escaping @Sendable (Sent, inout TraitCollection) throws -> Sent.Response
    ) {
        handlers[Sent.identifier] = { body, traits in
            let response = try handle(try JSONDecoder().decode(Sent.self, from: body), &traits)
            return try JSONEncoder().encode(response)
        }
    }

    /// Adds a command without a response.
    mutating func on<Sent: Command>(
        _ command: Sent.Type, _ handle: @escaping @Sendable (Sent, inout TraitCollection) throws -> Void
    ) where Sent.Response == NoFields {
        answer(command) { sent, traits in
            try handle(sent, &traits)
            return NoFields()
        }
    }

    /// Whether virtual devices accept the command.
    func accepts(_ command: any Command.Type) -> Bool { handlers[command.identifier] != nil }

    /// Applies a command.
    /// - Returns: the response as JSON; nil for a command that virtual devices do not accept.
    /// - Throws: `outOfRange`, `failedPrecondition` and the like; the caller must then discard the traits.
    func apply(
        _ command: any Command.Type, body: Data, to traits: inout TraitCollection
    ) throws(HomeError) -> Data? {
        guard let handler = handlers[command.identifier] else { return nil }
        do {
            return try handler(body, &traits)
        } catch let error as HomeError {
            throw error
        } catch let error as DecodingError {
            throw HomeError(error, body: body)
        } catch {
            throw HomeError.internal("\(command.name) failed: \(error)")
        }
    }
}
