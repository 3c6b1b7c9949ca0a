public import Foundation
public import HomeTypes

/// A request from the cloud to the fulfilment endpoint.
///
/// Source: Cloud-to-cloud reference, intents `action.devices.SYNC`, `QUERY`, `EXECUTE` and `DISCONNECT`.
public struct CloudRequest: Sendable, Equatable {
    /// One command for some devices.
    public struct Execution: Sendable, Equatable {
        /// For example `action.devices.commands.OnOff`.
        public var command: String
        /// Its parameters.
        public var parameters: JSONValue
        /// What the person added, such as a PIN.
        public var challenge: JSONValue
    }

    /// Commands that go to the same devices.
    public struct Group: Sendable, Equatable {
        /// The devices.
        public var devices: [String]
        /// The commands, one after another.
        public var executions: [Execution]
    }

    /// What the cloud wants.
    public enum Intent: Sendable, Equatable {
        /// The list of the devices.
        case sync
        /// The states of devices.
        case query(devices: [String])
        /// Commands.
        case execute([Group])
        /// The account is no longer linked.
        case disconnect
    }

    /// Repeated in the response.
    public var requestID: String
    /// What the cloud wants.
    public var intent: Intent

    /// The maximum number of devices in one request, and of commands. A command for several devices counts once for
    /// each of them.
    static let maximumCount = 1_000

    private struct Body: Decodable {
        struct Input: Decodable {
            var intent: String?
            var payload: JSONValue?
        }

        var requestId: String?
        var inputs: [Input]?
    }

    /// Reads a request.
    /// - Throws: `invalidArgument`, which names the wrong place.
    public init(json: Data) throws(HomeError) {
        let body: Body
        do {
            body = try JSONDecoder().decode(Body.self, from: json)
        } catch let error as DecodingError {
            throw HomeError(error, body: json)
        } catch {
            throw .invalidArgument("the body cannot be read")
        }
        guard let requestID = body.requestId, (1...256).contains(requestID.utf8.count) else {
            throw .invalidArgument("requestId is missing, or longer than 256 bytes")
        }
        self.requestID = requestID
        guard let input = body.inputs?.first, body.inputs?.count == 1 else {
            throw .invalidArgument("inputs must have one entry")
        }
        let payload = input.payload ?? .null
        switch input.intent {
        case "action.devices.SYNC": intent = .sync
        case "action.devices.DISCONNECT": intent = .disconnect
        case "action.devices.QUERY": intent = .query(devices: try Self.devices(payload, "inputs[0].payload"))
        case "action.devices.EXECUTE":
            guard case .array(let commands)? = payload[path: "commands"], commands.count <= Self.maximumCount else {
                throw .invalidArgument("inputs[0].payload.commands is not a list of at most \(Self.maximumCount)")
            }
            var groups: [Group] = []
            for (index, command) in commands.enumerated() {
                groups.append(try Self.group(command, "inputs[0].payload.commands[\(index)]"))
            }
            guard groups.reduce(0, { $0 + $1.devices.count * $1.executions.count }) <= Self.maximumCount else {
                throw .invalidArgument(
                    "inputs[0].payload.commands has more than \(Self.maximumCount) commands, counted for each device"
                )
            }
            intent = .execute(groups)
        default: throw .invalidArgument("inputs[0].intent is not one of SYNC, QUERY, EXECUTE and DISCONNECT")
        }
    }

    private static func group(_ command: JSONValue, _ place: String) throws(HomeError) -> Group {
        guard case .array(let list)? = command[path: "execution"], (1...maximumCount).contains(list.count) else {
            throw .invalidArgument("\(place).execution is not a list of commands")
        }
        var executions: [Execution] = []
        for (index, item) in list.enumerated() {
            guard let name = item[path: "command"]?.string else {
                throw .invalidArgument("\(place).execution[\(index)].command is missing")
            }
            executions.append(
                Execution(
                    command: name, parameters: item[path: "params"] ?? .object([:]),
                    challenge: item[path: "challenge"] ?? .null))
        }
        return Group(devices: try devices(command, place), executions: executions)
    }

    private static func devices(_ value: JSONValue, _ place: String) throws(HomeError) -> [String] {
        guard case .array(let list)? = value[path: "devices"], list.count <= maximumCount else {
            throw .invalidArgument("\(place).devices is not a list of at most \(maximumCount)")
        }
        var ids: [String] = []
        var known: Set<String> = []
        for (index, item) in list.enumerated() {
            guard let id = item[path: "id"]?.string else {
                throw .invalidArgument("\(place).devices[\(index)].id is missing")
            }
            if known.insert(id).inserted { ids.append(id) }
        }
        return ids
    }
}
