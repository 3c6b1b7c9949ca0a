import Foundation
import HomeTypes
import PushAvStreamTransport

/// Keeps the connections of the cameras among the objects of the home: one for each device, under its id.
public struct SharedConnectionStorage: ConnectionStorage {
    /// The kind of the objects.
    public static let kind = "recordingConnections"

    /// The store has no deletion. This is what stands for a camera that has been removed.
    private static let removed = "{}"

    private let store: any SharedStore

    /// Keeps them in a store.
    public init(_ store: any SharedStore) {
        self.store = store
    }

    public func load() throws(RecordingFault) -> [String: ConnectionTable] {
        var tables: [String: ConnectionTable] = [:]
        for object in try Self.reporting({ () throws(StoreFailure) in try store.objects(Self.kind) }) {
            if object.body == Self.removed { continue }
            // What a newer version or a damaged disk has left is not a reason to lose the others. The camera gets its own
            // connection again, and stays off: it may have been off.
            do {
                tables[object.id] = try JSONDecoder().decode(ConnectionTable.self, from: Data(object.body.utf8))
            } catch {
                tables[object.id] = ConnectionTable().switchedOff
            }
        }
        return tables
    }

    public func save(_ table: ConnectionTable, of device: String) throws(RecordingFault) {
        let body: String
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            body = String(decoding: try encoder.encode(table), as: UTF8.self)
        } catch {
            throw .storage(path: device, reason: "\(error)")
        }
        // Nobody else writes them as long as there is one gateway. One that has written meanwhile is overwritten.
        for _ in 0..<3 {
            let version = try Self.reporting { () throws(StoreFailure) in
                try store.object(Self.kind, device)?.version ?? 0
            }
            let written = try Self.reporting { () throws(StoreFailure) in
                try store.write(Self.kind, device, body, expecting: version)
            }
            if written != nil { return }
        }
        throw .storage(path: device, reason: "another gateway keeps changing the same connections")
    }

    public func remove(_ device: String) throws(RecordingFault) {
        _ = try Self.reporting { () throws(StoreFailure) -> Int64? in
            guard let object = try store.object(Self.kind, device) else { return nil }
            return try store.write(Self.kind, device, Self.removed, expecting: object.version)
        }
    }

    private static func reporting<Value>(
        _ body: () throws(StoreFailure) -> Value
    ) throws(RecordingFault) -> Value {
        do { return try body() } catch { throw .storage(path: error.path, reason: error.reason) }
    }
}
