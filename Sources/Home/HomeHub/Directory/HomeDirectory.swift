import Dispatch
import Foundation
import HomeTypes
import Transport

/// What the home keeps about its structures, rooms and devices: identifiers, names and places. Each is one object in
/// the shared store, and is written before anybody sees it.
///
/// Its methods wait for the disk. ``HomeHub`` calls them on a queue of their own.
public final class HomeDirectory: Sendable {
    /// The kinds of the objects in the store.
    enum Kind {
        static let device = "device"
        static let structure = "structure"
        static let room = "room"
        static let presence = "presence"
    }

    /// The kind of structures in the store.
    public static let structureKind = Kind.structure

    /// An object with the version that the store gave it.
    struct Kept<Record: Sendable & Codable & Hashable>: Sendable, Hashable {
        var record: Record
        var version: Int64
    }

    struct State {
        var devices: [String: Kept<DeviceRecord>] = [:]
        var structures: [String: Kept<StructureRecord>] = [:]
        var rooms: [String: Kept<RoomRecord>] = [:]
        /// By structure.
        var presence: [String: Kept<PresenceRecord>] = [:]
        /// The structures of rooms that this run has removed: who could see the room sees that it is gone.
        var formerRooms: [String: String] = [:]
    }

    /// The identifiers and keys of the devices.
    public let names: DeviceNames
    /// Keeps the home.
    public let store: any SharedStore
    let now: @Sendable () -> Date
    let state: Locked<State>

    private let queue = DispatchQueue(label: "home directory")

    /// Reads the home from its store, or creates it with a first structure.
    /// - Parameters:
    ///   - store: keeps the home.
    ///   - names: learns the keys of the devices.
    ///   - timeZone: the time zone of the first structure.
    ///   - now: the wall clock.
    /// - Throws: what the store throws.
    public convenience init(
        _ store: any SharedStore, names: DeviceNames = DeviceNames(),
        timeZone: String = TimeZone.current.identifier, now: @escaping @Sendable () -> Date = { Date() }
    ) throws(StoreFailure) {
        var state = State()
        state.devices = try Self.load(Kind.device, from: store)
        state.structures = try Self.load(Kind.structure, from: store)
        state.rooms = try Self.load(Kind.room, from: store)
        state.presence = try Self.load(Kind.presence, from: store)
        if state.structures.isEmpty {
            let first = Self.firstStructure(timeZone: timeZone, at: now())
            if let version = try store.write(Kind.structure, first.id, Self.json(first), expecting: 0) {
                state.structures[first.id] = Kept(record: first, version: version)
            }
        }
        self.init(store: store, state: state, names: names, now: now)
    }

    /// Creates a home that ends with the process.
    public convenience init(
        names: DeviceNames = DeviceNames(), timeZone: String = TimeZone.current.identifier,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let store = MemorySharedStore()
        let first = Self.firstStructure(timeZone: timeZone, at: now())
        let version = store.write(Kind.structure, first.id, Self.json(first), expecting: 0) ?? 0
        self.init(
            store: store, state: State(structures: [first.id: Kept(record: first, version: version)]), names: names,
            now: now)
    }

    /// Whether the next process finds the identifiers that this one gives.
    public var outlivesProcess: Bool { !(store is MemorySharedStore) }

    private init(
        store: any SharedStore, state: State, names: DeviceNames, now: @escaping @Sendable () -> Date
    ) {
        self.store = store
        self.names = names
        self.now = now
        self.state = Locked(state)
        shareNames()
    }

    private static func firstStructure(timeZone: String, at now: Date) -> StructureRecord {
        StructureRecord(
            id: MintedID.structure(), name: "Home",
            timeZone: StructureRules.isTimeZone(timeZone) ? timeZone : "UTC", createdAt: now)
    }

    /// The time for something that is created now: later than `last` by the store's resolution, even if the clock was
    /// set back. The order of structures and rooms is that of these times.
    func creation(after last: Date?) -> Date {
        let now = (now().timeIntervalSince1970 * 1_000).rounded(.down)
        return Date(
            timeIntervalSince1970: max(now, last.map { ($0.timeIntervalSince1970 * 1_000).rounded() + 1 } ?? now)
                / 1_000)
    }

    /// Runs `body` where waiting for the disk does not block others, after everything that was requested earlier.
    func perform<Value: Sendable>(
        _ body: @escaping @Sendable (HomeDirectory) throws(HomeError) -> Value
    ) async throws(HomeError) -> Value {
        let result: Result<Value, HomeError> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(HomeError) {
                    continuation.resume(returning: .success(try body(self)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// The records of a kind. One that cannot be read is left alone: a newer version may have written it.
    private static func load<Record: Codable & Sendable & Hashable>(
        _ kind: String, from store: any SharedStore
    ) throws(StoreFailure) -> [String: Kept<Record>] {
        var result: [String: Kept<Record>] = [:]
        for object in try store.objects(kind) {
            guard let record = try? JSONDecoder.home.decode(Record.self, from: Data(object.body.utf8)) else { continue }
            result[object.id] = Kept(record: record, version: object.version)
        }
        return result
    }

    static func json(_ record: some Encodable) -> String {
        // Dates, text and finite numbers always have JSON.
        (try? JSONEncoder.home.encode(record)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// Writes a record if its version is still the expected one.
    /// - Returns: the new version.
    /// - Throws: `aborted` when somebody else has changed it, and `unavailable` if the disk fails.
    func write(_ kind: String, _ id: String, _ record: some Encodable, expecting version: Int64) throws(HomeError)
        -> Int64
    {
        do throws(StoreFailure) {
            if let version = try store.write(kind, id, Self.json(record), expecting: version) { return version }
        } catch {
            throw HomeError.unavailable("the home cannot be written, and nothing was changed: \(error)")
        }
        throw HomeError(.aborted, "the \(kind) was changed by somebody else in the meantime; read it and try again")
    }

    /// Removes an object.
    /// - Throws: `aborted` when somebody else has changed it, and `unavailable` if the disk fails.
    func delete(_ kind: String, _ id: String, expecting version: Int64) throws(HomeError) {
        do throws(StoreFailure) {
            if try store.delete(kind, id, expecting: version) != nil { return }
        } catch {
            throw HomeError.unavailable("the home cannot be written, and nothing was changed: \(error)")
        }
        throw HomeError(.aborted, "the \(kind) was changed by somebody else in the meantime; read it and try again")
    }

    /// Publishes the keys of the devices.
    func shareNames() {
        let keys = state.withLock { state in
            state.devices.values.filter { $0.record.removedAt == nil }.map { ($0.record.id, $0.record.key) }
        }
        names.set(Dictionary(keys, uniquingKeysWith: { first, _ in first }))
    }
}

extension JSONDecoder {
    /// Reads what the home keeps.
    static var home: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            // Earlier versions wrote whole seconds.
            for style in [Date.ISO8601FormatStyle.withFraction, Date.ISO8601FormatStyle()] {
                if let date = try? style.parse(text) { return date }
            }
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected a time, got \(text)")
        }
        return decoder
    }
}

extension JSONEncoder {
    /// Writes what the home keeps.
    static var home: JSONEncoder {
        let encoder = JSONEncoder()
        // Two structures that are created within a second keep their order.
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            // The style truncates to milliseconds, and few milliseconds are exact binary fractions. Without half a
            // millisecond more, 0.235 would be written as 0.234 and read as an earlier time.
            try container.encode((date + 0.000_5).formatted(Date.ISO8601FormatStyle.withFraction))
        }
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}

extension Date.ISO8601FormatStyle {
    fileprivate static let withFraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
}
