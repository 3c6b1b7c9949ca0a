import Foundation
import HomeTypes
import Transport

/// What a client changes of a structure or a room. A field that is missing stays as it is.
public struct PlaceUpdate: Sendable {
    /// A field that may also be cleared.
    public enum Field<Value: Sendable>: Sendable {
        case unchanged
        case cleared
        case value(Value)

        /// The value after the update.
        func applied(to old: Value?) -> Value? {
            switch self {
            case .unchanged: old
            case .cleared: nil
            case .value(let new): new
            }
        }
    }

    /// The name.
    public var name: String?
    /// The postal address.
    public var address: Field<String> = .unchanged
    /// Degrees north of the equator.
    public var latitude: Field<Double> = .unchanged
    /// Degrees east of Greenwich.
    public var longitude: Field<Double> = .unchanged
    /// The time zone, by its name in the IANA database.
    public var timeZone: String?

    /// Changes nothing.
    public init() {}
}

extension HomeDirectory {
    /// The structures, oldest first.
    var structures: [Kept<StructureRecord>] {
        state.withLock { Array($0.structures.values) }
            .sorted { ($0.record.createdAt, $0.record.id) < ($1.record.createdAt, $1.record.id) }
    }

    /// The structure that devices are in unless somebody moves them.
    var firstStructure: StructureRecord {
        // `init` creates a structure, and `removeStructure` refuses to remove the last one.
        structures.first?.record ?? StructureRecord(id: "", name: "Home", timeZone: "UTC", createdAt: now())
    }

    func structure(_ id: String) throws(HomeError) -> Kept<StructureRecord> {
        guard let structure = state.withLock({ $0.structures[id] }) else {
            throw Self.unknownStructure(id)
        }
        return structure
    }

    /// The refusal for a structure that does not exist, or that must look as if it did not.
    public static func unknownStructure(_ id: String) -> HomeError {
        .notFound("no structure has the id \(id.prefix(64).debugDescription)")
            .advising(request: "GET /v1/structures lists them", command: "gatehouse structures lists them")
    }

    /// How many structures a home may have.
    static let maximumStructures = 100
    /// How many rooms a home may have.
    static let maximumRooms = 1_000

    /// Creates a structure.
    func addStructure(_ update: PlaceUpdate) throws(HomeError) -> Kept<StructureRecord> {
        guard structures.count < Self.maximumStructures else {
            throw HomeError.resourceExhausted(
                "the home already has \(Self.maximumStructures) structures; remove one first")
        }
        guard update.name != nil else { throw HomeError.invalidArgument("name: a structure needs a name") }
        var record = StructureRecord(
            id: MintedID.structure(), name: "", timeZone: firstStructure.timeZone,
            createdAt: creation(after: structures.last?.record.createdAt))
        try Self.apply(update, to: &record)
        return try write(record, expecting: 0)
    }

    /// Changes a structure.
    /// - Parameter version: the version that the client has read; nil for any.
    func changeStructure(
        _ id: String, _ update: PlaceUpdate, ifVersion version: Int64?
    ) throws(HomeError) -> Kept<StructureRecord> {
        let known = try structure(id)
        try Self.require(version, of: known.version, "structure")
        var record = known.record
        try Self.apply(update, to: &record)
        return record == known.record ? known : try write(record, expecting: known.version)
    }

    /// Removes a structure and its rooms.
    /// - Parameter present: the devices that backends have now. Other devices in the structure move to the oldest
    ///   remaining structure, in case they return.
    /// - Returns: the devices that have moved.
    /// - Throws: `failedPrecondition` for the last structure and for one that has devices.
    func removeStructure(
        _ id: String, ifVersion version: Int64?, present: Set<String>
    ) throws(HomeError) -> [DeviceMove] {
        let known = try structure(id)
        try Self.require(version, of: known.version, "structure")
        guard structures.count > 1 else {
            throw HomeError.failedPrecondition(
                "\(known.record.name) is the only structure of the home; create another one first")
        }
        let records = deviceRecords.filter { $0.structureID == id }
        let devices = records.filter { present.contains($0.id) }.map(\.key).sorted()
        guard devices.isEmpty else {
            let shown = devices.prefix(8).joined(separator: ", ") + (devices.count > 8 ? ", …" : "")
            throw HomeError.failedPrecondition(
                "\(known.record.name) still has devices: \(shown); move or remove them first")
        }
        let rest = structures.first { $0.record.id != id }?.record.id ?? id
        for record in records {
            _ = try changeDevice(record.id) {
                $0.structureID = rest
                $0.roomID = nil
            }
        }
        for room in rooms where room.record.structureID == id { try removeRoom(room.record.id, ifVersion: nil) }
        try removePresence(in: id)
        try delete(Kind.structure, id, expecting: known.version)
        state.withLock { $0.structures[id] = nil }
        return records.map { DeviceMove($0.id, from: id, to: rest) }
    }

    private func write(_ record: StructureRecord, expecting version: Int64) throws(HomeError) -> Kept<StructureRecord> {
        let kept = Kept(record: record, version: try write(Kind.structure, record.id, record, expecting: version))
        state.withLock { $0.structures[record.id] = kept }
        return kept
    }

    private static func apply(_ update: PlaceUpdate, to record: inout StructureRecord) throws(HomeError) {
        if let name = update.name { record.name = try StructureRules.name(name) }
        switch update.address {
        case .unchanged: break
        case .cleared: record.address = nil
        case .value(let text): record.address = try StructureRules.address(text)
        }
        if case .value(let degrees) = update.latitude { _ = try StructureRules.latitude(degrees) }
        if case .value(let degrees) = update.longitude { _ = try StructureRules.longitude(degrees) }
        if let zone = update.timeZone { record.timeZone = try StructureRules.timeZone(zone) }
        record.latitude = update.latitude.applied(to: record.latitude)
        record.longitude = update.longitude.applied(to: record.longitude)
        guard (record.latitude == nil) == (record.longitude == nil) else {
            throw HomeError.invalidArgument("latitude and longitude: give both, or neither")
        }
    }

    static func require(_ version: Int64?, of current: Int64, _ kind: String) throws(HomeError) {
        guard let version, version != current else { return }
        throw HomeError(
            .aborted, "If-Match is not the \(kind)'s current ETag: it has changed; read it and try again")
    }
}
