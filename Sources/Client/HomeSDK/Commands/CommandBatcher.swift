import Foundation
import GatewayClient
import HomeTypes
import Transport

/// Collects commands that are sent in one request (Home APIs, `CommandBatcher`).
public final class CommandBatcher {
    struct Entry: Encodable {
        var deviceID: String
        var endpoint: Int
        var trait: String
        var command: String
        var parameters: JSONValue
    }

    private(set) var entries: [Entry] = []
    let outcome = Locked<[Result<Data, HomeError>]?>(nil)

    init() {}

    /// Adds a command.
    /// - Parameter trait: the trait that receives it, taken from a device's type.
    /// - Returns: its response, once the batch has been sent.
    /// - Throws: `failedPrecondition` for a trait that does not belong to a device, `invalidArgument` for a command of
    ///   another trait or with parameters that are not allowed.
    @discardableResult
    public func add<Sent: Command>(_ command: Sent, to trait: some Trait) throws(HomeError) -> BatchedCommand<Sent> {
        guard let interaction = trait.interaction as? DeviceInteraction else {
            throw .failedPrecondition("this trait does not belong to a device; get it from a device's type")
        }
        guard Sent.trait.identifier == type(of: trait).identifier else {
            throw .invalidArgument("\(Sent.name) is a command of \(Sent.trait.name), not of \(type(of: trait).name)")
        }
        try command.validate()
        let parameters: JSONValue
        do {
            parameters = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(command))
        } catch {
            throw .encodingFailed("\(Sent.name) cannot be written as JSON: \(error)")
        }
        entries.append(
            Entry(
                deviceID: interaction.device, endpoint: interaction.endpoint, trait: Sent.trait.name,
                command: Sent.name, parameters: parameters))
        return BatchedCommand(place: entries.count - 1, outcome: outcome)
    }
}

/// A command of a batch.
public struct BatchedCommand<Sent: Command>: Sendable {
    let place: Int
    let outcome: Locked<[Result<Data, HomeError>]?>

    /// The response, after `sendBatchedCommands` has returned.
    /// - Throws: the error of this command; `failedPrecondition` before the batch was sent.
    public var response: Sent.Response {
        get throws(HomeError) {
            guard let results = outcome.withLock({ $0 }), results.indices.contains(place) else {
                throw .failedPrecondition("the batch with \(Sent.name) has not been sent")
            }
            let data = try results[place].get()
            do {
                return try JSONDecoder().decode(Sent.Response.self, from: data)
            } catch {
                throw .parseError("the response to \(Sent.name) cannot be read: \(error)")
            }
        }
    }
}

/// Any JSON value.
enum JSONValue: Codable, Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .unsigned(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}
