import Foundation
import HomeTypes
import PushAvStreamTransport
import Transport

/// Keeps the connections of the cameras among the objects of the home: one for each device, under its id.
public struct SharedConnectionStorage: ConnectionStorage {
    /// The kind of the objects.
    public static let kind = "recordingConnections"

    /// The store cannot delete objects. This body marks a camera that has been removed.
    private static let removed = "{}"

    private let store: any SharedStore
    private let aside: ConnectionsAside?
    private let numbers: ConnectionNumbers?
    private let now: @Sendable () -> Int64
    private let state = Locked(State())

    private struct State: Sendable {
        /// The records, by their devices, that cannot be read and are still in place. They must not be overwritten.
        var inPlace: [String: String] = [:]
        var losses: [String: String] = [:]
    }

    /// Keeps them in a store.
    /// - Parameters:
    ///   - aside: where to put records that cannot be read; nil to leave them in place. Changes of their cameras are
    ///     then not kept.
    ///   - numbers: the numbers that were assigned; nil to know only those of the connections that can be read.
    ///   - now: the wall clock, in milliseconds since 1970, UTC.
    public init(
        _ store: any SharedStore, aside: ConnectionsAside? = nil, numbers: ConnectionNumbers? = nil,
        now: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970 * 1_000) }
    ) {
        self.store = store
        self.aside = aside
        self.numbers = numbers
        self.now = now
    }

    /// The cameras whose connections could not be read when they were loaded.
    public var losses: [ConnectionLoss] {
        state.withLock { state in
            state.losses.sorted { $0.key < $1.key }.map { ConnectionLoss(device: $0.key, reason: $0.value) }
        }
    }

    /// A record that a newer version or a damaged disk has left is not a reason to lose the others. Its camera gets its
    /// own connection again, and stays off because it may have been off. The unreadable record is kept.
    public func load() throws(RecordingFault) -> [String: ConnectionTable] {
        var tables: [String: ConnectionTable] = [:]
        var found = State()
        for object in try Self.reporting({ () throws(StoreFailure) in try store.objects(Self.kind) }) {
            if object.body == Self.removed { continue }
            if let table = Self.table(object.body) {
                tables[object.id] = table
                continue
            }
            let table = replacement(of: object.id)
            tables[object.id] = table
            do throws(RecordingFault) {
                try setAside(object.body, of: object.id)
                try write(table, of: object.id)
            } catch {
                found.inPlace[object.id] = object.body
                found.losses[object.id] = Self.words(inPlace: error)
            }
        }
        for record in aside?.records ?? [] {
            do throws(RecordingFault) {
                tables[record.device] = try takeBack(record, into: tables[record.device])
            } catch {
                found.losses[record.device] = Self.words(record, error)
                continue
            }
            do throws(RecordingFault) {
                try aside?.remove(record)
            } catch {
                found.losses[record.device] =
                    "the recording connections of the camera were restored, but their file must be removed, or the next "
                    + "start brings back those that are deallocated until then (\(error))"
            }
        }
        let all = found
        state.withLock { $0 = all }
        guard let numbers else { return tables }
        numbers.adopt(tables.mapValues(\.nextID))
        for device in Array(tables.keys) {
            // The store may be an older copy that the administrator has restored.
            if let next = numbers.next(of: device) { tables[device]?.skipNumbers(before: next) }
        }
        return tables
    }

    public func save(_ table: ConnectionTable, of device: String) throws(RecordingFault) {
        try setAsideWhatIsInPlace(of: device)
        try keepNumber(table, of: device, in: numbers)
        try write(table, of: device)
    }

    public func nextNumber(of device: String) -> UInt16? { numbers?.nextWithoutTable(of: device) }

    public func remove(_ device: String) throws(RecordingFault) {
        try setAsideWhatIsInPlace(of: device)
        _ = try Self.reporting { () throws(StoreFailure) -> Int64? in
            guard let object = try store.object(Self.kind, device) else { return nil }
            return try store.write(Self.kind, device, Self.removed, expecting: object.version)
        }
    }

    // MARK: What cannot be read

    private static func table(_ body: String) -> ConnectionTable? {
        try? JSONDecoder().decode(ConnectionTable.self, from: Data(body.utf8))
    }

    /// The replacement for a table that cannot be read.
    private func replacement(of device: String) -> ConnectionTable {
        if let next = numbers?.next(of: device) { return .replacement(at: now(), next: next) }
        let losses = (aside?.records ?? []).filter { $0.device == device }.count
        return .replacement(at: now(), next: ConnectionTable.number(afterLosses: losses))
    }

    private func setAside(_ body: String, of device: String) throws(RecordingFault) {
        guard let aside else {
            throw .storage(path: device, .connections(.notOverwritten))
        }
        _ = try aside.keep(body, of: device)
    }

    private func setAsideWhatIsInPlace(of device: String) throws(RecordingFault) {
        guard let body = state.withLock({ $0.inPlace[device] }) else { return }
        try setAside(body, of: device)
        state.withLock { $0.inPlace[device] = nil }
    }

    /// Restores a record that can now be read: a newer version is running, or the owner has corrected the file.
    /// - Parameter table: what is in its place.
    private func takeBack(
        _ record: ConnectionsAside.Record, into table: ConnectionTable?
    ) throws(RecordingFault) -> ConnectionTable {
        guard let earlier = record.body.flatMap(Self.table) else {
            throw .storage(path: record.path, .connections(.unreadable))
        }
        var merged = table ?? replacement(of: record.device)
        merged.takeBack(earlier)
        try write(merged, of: record.device)
        return merged
    }

    private static func words(_ record: ConnectionsAside.Record, _ fault: RecordingFault) -> String {
        guard case .storage(record.path, let reason) = fault else {
            return "the recording connections in \(record.path) cannot be restored: \(fault)"
        }
        return "the recording connections of the camera cannot be read; they are kept in \(record.path), which "
            + "\(reason). The camera started switched off, with only its own connection, and nothing is uploaded for "
            + "the others. Stop the gateway and install the newer version, or correct the file; or remove the file, and "
            + "create the connections again"
    }

    private static func words(inPlace fault: RecordingFault) -> String {
        "the recording connections of the camera cannot be read. They stay in shared.sqlite, because they cannot be set "
            + "aside (\(fault)); changes to the camera's connections and switches are not kept until that works"
    }

    // MARK: The store

    private func write(_ table: ConnectionTable, of device: String) throws(RecordingFault) {
        let body: String
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            body = String(decoding: try encoder.encode(table), as: UTF8.self)
        } catch {
            throw .storage(path: device, .unencodable("\(error)"))
        }
        // With one gateway, nothing else writes them. If another gateway has written in the meantime, it is
        // overwritten.
        for _ in 0..<3 {
            let version = try Self.reporting { () throws(StoreFailure) in
                try store.object(Self.kind, device)?.version ?? 0
            }
            let written = try Self.reporting { () throws(StoreFailure) in
                try store.write(Self.kind, device, body, expecting: version)
            }
            if written != nil { return }
        }
        throw .storage(path: device, .connections(.contended))
    }

    private static func reporting<Value>(
        _ body: () throws(StoreFailure) -> Value
    ) throws(RecordingFault) -> Value {
        do { return try body() } catch { throw .storage(path: error.path, .database(error.reason)) }
    }
}
