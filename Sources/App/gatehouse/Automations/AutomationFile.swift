import Foundation
import HomeTypes
import Yams

/// An automation in a file: YAML or JSON.
struct AutomationFile {
    /// A draft of the largest size that the gateway takes, written generously.
    private static let byteLimit = 1 << 20
    /// Aliases in YAML can make a small file enormous.
    private static let valueLimit = 100_000

    /// The members of the draft.
    private(set) var members: [String: JSONObject.Value]
    /// The text, if it is JSON that needs no change.
    private var text: Data?

    /// Reads a file, or standard input for `-`.
    init(path: String) throws(HomeError) {
        do {
            let bytes = try InputFile.read(path, limit: Self.byteLimit, what: "automation")
            try self.init(bytes, name: path == "-" ? "standard input" : path)
        } catch let error as FileFault {
            throw .invalidArgument(error.description)
        } catch let error as HomeError {
            throw error
        } catch {
            throw .invalidArgument("\(path) cannot be read: \(error)")
        }
    }

    init(_ bytes: [UInt8], name: String) throws(HomeError) {
        if let object = try? JSONDecoder().decode(JSONObject.self, from: Data(bytes)) {
            members = object.members
            text = Data(bytes)
            return
        }
        let node: Node?
        do {
            node = try Yams.compose(yaml: String(decoding: bytes, as: UTF8.self))
        } catch {
            // Yams says where in the first line, and repeats the text below.
            let reason = "\(error)".split(whereSeparator: \.isNewline).first.map { ": \($0)" } ?? ""
            throw .invalidArgument("\(name) is neither YAML nor JSON\(reason)")
        }
        var left = Self.valueLimit
        guard let node, case .object(let members) = try Self.value(node, &left, name) else {
            throw .invalidArgument("\(name) must have keys and values: name, description, isActive and automationGraph")
        }
        self.members = members
    }

    /// The draft as JSON.
    var json: Data {
        get throws(HomeError) {
            if let text { return text }
            do { return try JSONEncoder().encode(members) } catch {
                throw .encodingFailed("the automation cannot be written as JSON: \(error)")
            }
        }
    }

    /// Changes members.
    mutating func merge(_ changes: [String: JSONObject.Value]) {
        guard !changes.isEmpty else { return }
        members.merge(changes) { $1 }
        text = nil
    }

    /// Puts identifiers in the place of the keys and names of devices and structures.
    mutating func resolveNames(_ home: HomeOverview) throws(HomeError) {
        guard let graph = members["automationGraph"] else { return }
        let resolved = try Self.resolve(graph, home)
        guard resolved != graph else { return }
        members["automationGraph"] = resolved
        text = nil
    }

    private static func resolve(
        _ value: JSONObject.Value, _ home: HomeOverview
    ) throws(HomeError) -> JSONObject.Value {
        switch value {
        case .list(let items):
            var result: [JSONObject.Value] = []
            for item in items { result.append(try resolve(item, home)) }
            return .list(result)
        case .object(var members):
            for (name, member) in members { members[name] = try resolve(member, home) }
            if case .object(var entity)? = members["entity"] {
                // What the home does not know may be the id of a device that is gone: the gateway says so.
                if case .text(let name)? = entity["device"], let device = try? home.device(named: name) {
                    entity["device"] = .text(device.id)
                }
                if case .text(let name)? = entity["structure"], let structure = try? home.structure(named: name) {
                    entity["structure"] = .text(structure.id)
                }
                members["entity"] = .object(entity)
            }
            return .object(members)
        default: return value
        }
    }

    /// Reads YAML as its version 1.2 does: `on` is a text, not true, and 8:00 is not a number.
    private static func value(_ node: Node, _ left: inout Int, _ name: String) throws(HomeError) -> JSONObject.Value {
        left -= 1
        guard left > 0 else { throw .invalidArgument("\(name) has too many values for an automation") }
        switch node {
        case .scalar(let scalar): return scalar.style == .plain ? plain(scalar.string) : .text(scalar.string)
        case .sequence(let sequence):
            var items: [JSONObject.Value] = []
            for item in sequence { items.append(try value(item, &left, name)) }
            return .list(items)
        case .mapping(let mapping):
            var members: [String: JSONObject.Value] = [:]
            for (key, item) in mapping {
                guard let text = key.scalar?.string else {
                    throw .invalidArgument("\(name): line \(key.mark?.line ?? 0): a key must be a text")
                }
                members[text] = try value(item, &left, name)
            }
            return .object(members)
        case .alias:
            throw .invalidArgument("\(name): line \(node.mark?.line ?? 0): an alias names nothing")
        }
    }

    private static func plain(_ text: String) -> JSONObject.Value {
        switch text {
        case "", "~", "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default: break
        }
        if let integer = Int64(text) { return .integer(integer) }
        if let large = UInt64(text) { return .large(large) }
        // Swift also reads words such as inf.
        let isNumeric = text.utf8.allSatisfy { (48...57).contains($0) || "+-.eE".utf8.contains($0) }
        if isNumeric, let number = Double(text), number.isFinite { return .number(number) }
        return .text(text)
    }
}
