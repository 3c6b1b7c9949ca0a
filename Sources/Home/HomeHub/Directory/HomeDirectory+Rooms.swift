import Foundation
import HomeTypes
import Transport

extension HomeDirectory {
    /// The rooms of all structures, oldest first.
    var rooms: [Kept<RoomRecord>] {
        state.withLock { Array($0.rooms.values) }
            .sorted { ($0.record.createdAt, $0.record.id) < ($1.record.createdAt, $1.record.id) }
    }

    func room(_ id: String) throws(HomeError) -> Kept<RoomRecord> {
        guard let room = state.withLock({ $0.rooms[id] }) else {
            throw Self.unknownRoom(id)
        }
        return room
    }

    /// The refusal for a room that does not exist, or that must look as if it did not.
    public static func unknownRoom(_ id: String) -> HomeError {
        .notFound("no room has the id \(id.prefix(64).debugDescription)")
            .advising(request: "GET /v1/rooms lists them", command: "gatehouse rooms lists them")
    }

    /// Creates a room.
    func addRoom(_ name: String, in structure: String) throws(HomeError) -> Kept<RoomRecord> {
        _ = try self.structure(structure)
        guard rooms.count < Self.maximumRooms else {
            throw HomeError.resourceExhausted("the home already has \(Self.maximumRooms) rooms; remove one first")
        }
        return try write(
            RoomRecord(
                id: MintedID.room(), name: try StructureRules.name(name), structureID: structure,
                createdAt: creation(after: rooms.last?.record.createdAt)),
            expecting: 0)
    }

    /// Renames a room.
    /// - Parameter version: the version that the client has read; nil for any.
    func renameRoom(_ id: String, _ name: String?, ifVersion version: Int64?) throws(HomeError) -> Kept<RoomRecord> {
        let known = try room(id)
        try Self.require(version, of: known.version, "room")
        guard let name else { return known }
        var record = known.record
        record.name = try StructureRules.name(name)
        return record == known.record ? known : try write(record, expecting: known.version)
    }

    /// Removes a room. Its devices stay in the structure.
    /// - Returns: the devices that were in it.
    @discardableResult
    func removeRoom(_ id: String, ifVersion version: Int64?) throws(HomeError) -> [DeviceRecord] {
        let known = try room(id)
        try Self.require(version, of: known.version, "room")
        // The devices are changed first, so that none ever names a room that is gone.
        var moved: [DeviceRecord] = []
        for device in deviceRecords where device.roomID == id {
            moved.append(try changeDevice(device.id) { $0.roomID = nil })
        }
        try delete(Kind.room, id, expecting: known.version)
        state.withLock { state in
            state.rooms[id] = nil
            state.formerRooms[id] = known.record.structureID
        }
        return moved
    }

    private func write(_ record: RoomRecord, expecting version: Int64) throws(HomeError) -> Kept<RoomRecord> {
        let kept = Kept(record: record, version: try write(Kind.room, record.id, record, expecting: version))
        state.withLock { $0.rooms[record.id] = kept }
        return kept
    }

    /// Changes what people call a device, and where it is.
    /// - Parameters:
    ///   - name: the name; if it is cleared, the config's name counts again.
    ///   - room: the room, which also decides the structure.
    ///   - structure: another structure; the device leaves its room.
    func moveDevice(
        _ id: String, name: PlaceUpdate.Field<String>, room: PlaceUpdate.Field<String>, structure: String?,
        ifVersion version: Int64? = nil
    ) throws(HomeError) -> DeviceMove {
        try Self.require(version, of: self.version(ofDevice: id), "device")
        guard let former = record(ofDevice: id)?.structureID else { throw HomeHub.unknownDevice(id) }
        var newName: PlaceUpdate.Field<String> = name
        if case .value(let text) = name { newName = .value(try StructureRules.name(text)) }
        if let structure { _ = try self.structure(structure) }
        var target: RoomRecord?
        if case .value(let id) = room {
            let found = try self.room(id).record
            if let structure, found.structureID != structure {
                throw HomeError.invalidArgument("roomID: the room \(found.name) is in another structure")
            }
            target = found
        }
        let changed = try changeDevice(id) { record in
            record.name = newName.applied(to: record.name)
            if let structure, structure != record.structureID {
                record.structureID = structure
                record.roomID = nil
            }
            switch room {
            case .unchanged: break
            case .cleared: record.roomID = nil
            case .value(let id):
                record.roomID = id
                record.structureID = target?.structureID ?? record.structureID
            }
        }
        return DeviceMove(id, from: former, to: changed.structureID)
    }
}
