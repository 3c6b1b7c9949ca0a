import Foundation
import HomeTypes
import PushAvStreamTransport
import Signalling

/// The handlers of the traits' commands. A command without one goes to the device's backend.
struct CommandTable: Sendable {
    private struct Key: Hashable {
        let trait: String
        let command: String
    }

    private var handlers: [Key: any CommandHandling] = [:]
    /// The handlers of commands that the gateway itself carries out for cameras. Other devices have them in their backends.
    private var cameraHandlers: [Key: any CommandHandling] = [:]

    /// Adds the handler of a command. It gets parameters that satisfy the vocabulary's constraints.
    mutating func on<Sent: Command>(_ command: Sent.Type, _ handle: @escaping CommandHandler<Sent>.Handle) {
        let key = Key(trait: Sent.trait.name, command: Sent.name)
        handlers[key] = CommandHandler<Sent>(handle: handle)
    }

    /// Adds the handler of a command of a Matter cluster, whose errors carry Matter's statuses.
    mutating func onCluster<Sent: Command>(_ command: Sent.Type, _ handle: @escaping CommandHandler<Sent>.Handle) {
        let key = Key(trait: Sent.trait.name, command: Sent.name)
        handlers[key] = CommandHandler<Sent>(handle: handle, carriesMatterStatus: true)
    }

    /// Adds the handler of a command of cameras.
    mutating func onCamera<Sent: Command>(_ command: Sent.Type, _ handle: @escaping CommandHandler<Sent>.Handle) {
        let key = Key(trait: Sent.trait.name, command: Sent.name)
        cameraHandlers[key] = CommandHandler<Sent>(handle: handle)
    }

    /// The handler of a command, or nil.
    /// - Parameter isCamera: whether the command is for a camera.
    func handler(of call: CommandCall, isCamera: Bool) -> (any CommandHandling)? {
        let key = Key(trait: call.trait, command: call.command)
        return handlers[key] ?? (isCamera ? cameraHandlers[key] : nil)
    }
}

/// Statuses of Matter's interaction model (Matter core specification, section 8.10.1).
enum MatterStatus {
    static let invalidCommand = 0x85
    static let unsupportedAttribute = 0x86
    static let constraintError = 0x87
    static let unsupportedWrite = 0x88
    static let invalidDataType = 0x8D
}

/// Runs one command of a trait.
protocol CommandHandling: Sendable {
    /// Takes the parameters as JSON, and returns the result as JSON.
    func run(_ call: CommandCall, body: Data, in hub: HomeHub) async throws(HomeError) -> Data
}

/// Reads and checks the parameters of a command, runs it, and writes its result.
struct CommandHandler<Sent: Command>: CommandHandling {
    /// The command itself. It throws `HomeError` or `SignallingError`; the compiler (Swift 6.3) fails with an internal
    /// error if a closure's type says so and its result depends on a generic parameter.
    typealias Handle = @Sendable (HomeHub, CommandCall, Sent) async throws -> Sent.Response

    let handle: Handle
    var carriesMatterStatus = false

    func run(_ call: CommandCall, body: Data, in hub: HomeHub) async throws(HomeError) -> Data {
        do {
            let parameters = try self.parameters(body)
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(try await handle(hub, call, parameters))
        } catch let error as HomeError {
            throw error
        } catch let error as SignallingError {
            throw HomeError(error)
        } catch let error as TransportFault {
            throw HomeError(error)
        } catch {
            throw HomeError.internal("\(Sent.name) failed: \(error)")
        }
    }

    private func parameters(_ body: Data) throws(HomeError) -> Sent {
        do {
            let parameters = try JSONDecoder().decode(Sent.self, from: body)
            try parameters.validate()
            return parameters
        } catch let error as DecodingError {
            throw refusal(of: body, error)
        } catch var error as HomeError {
            if carriesMatterStatus { error.subtype = .matter(.init(code: MatterStatus.constraintError)) }
            throw error
        } catch {
            throw HomeError.internal("\(Sent.name) failed: \(error)")
        }
    }

    private func refusal(of body: Data, _ error: DecodingError) -> HomeError {
        var refusal = HomeError(error, body: body)
        if carriesMatterStatus {
            refusal.subtype = .matter(.init(code: Self.status(of: error, body)))
        }
        return refusal
    }

    /// A value that a field cannot hold breaks a constraint; a missing field makes the command invalid.
    private static func status(of error: DecodingError, _ body: Data) -> Int {
        switch error {
        case .dataCorrupted(let context):
            context.codingPath.isEmpty && !error.isAboutNumber(in: body)
                ? MatterStatus.invalidCommand : MatterStatus.constraintError
        case .typeMismatch: MatterStatus.invalidDataType
        default: MatterStatus.invalidCommand
        }
    }
}
