import HomeTypes

/// An object of the home with its version, which is its `ETag`.
public struct Versioned<Value: Sendable>: Sendable {
    /// The object.
    public var value: Value
    /// Grows with every change.
    public var version: Int64
}

extension Versioned: Equatable where Value: Equatable {}

/// Structures, rooms, and the names and places of devices.
extension HomeHub {
    /// The identifiers and keys of the devices.
    public nonisolated var names: DeviceNames { directory.names }

    // MARK: Structures

    /// The structures, oldest first.
    public func structures() -> [StructureSnapshot] { directory.structures.map { timed($0.record) } }

    /// The structure as watchers get it, with the current time.
    private func timed(_ record: StructureRecord) -> StructureSnapshot {
        var structure = directory.snapshot(of: record)
        structure.traits[Google.TimeTrait.self] = Google.TimeTrait(at: now(), in: record)
        return structure
    }

    private func timed(_ kept: HomeDirectory.Kept<StructureRecord>) -> Versioned<StructureSnapshot> {
        Versioned(value: timed(kept.record), version: kept.version)
    }

    /// One structure.
    public func structure(_ id: String) throws(HomeError) -> Versioned<StructureSnapshot> {
        timed(try directory.structure(id))
    }

    /// Creates a structure.
    public func addStructure(_ update: PlaceUpdate) async throws(HomeError) -> Versioned<StructureSnapshot> {
        let kept = try await directory.perform { (home) throws(HomeError) in try home.addStructure(update) }
        readDirectory()
        return timed(kept)
    }

    /// Changes a structure.
    /// - Parameter version: the version that the client has read; nil for any.
    /// - Throws: `aborted` when the structure has another version.
    public func changeStructure(
        _ id: String, _ update: PlaceUpdate, ifVersion version: Int64? = nil
    ) async throws(HomeError) -> Versioned<StructureSnapshot> {
        let kept = try await directory.perform { (home) throws(HomeError) in
            try home.changeStructure(id, update, ifVersion: version)
        }
        readDirectory()
        return timed(kept)
    }

    /// Removes a structure and its rooms.
    /// - Returns: the devices that no backend has now and that have moved to another structure.
    /// - Throws: `failedPrecondition` for the last structure and for one that has devices.
    @discardableResult
    public func removeStructure(
        _ id: String, ifVersion version: Int64? = nil
    ) async throws(HomeError) -> [DeviceMove] {
        let present = Set(order)
        let moved = try await directory.perform { (home) throws(HomeError) in
            try home.removeStructure(id, ifVersion: version, present: present)
        }
        readDirectory()
        return moved
    }

    // MARK: Rooms

    /// The rooms of all structures, oldest first.
    public func rooms() -> [RoomSnapshot] { directory.rooms.map { RoomSnapshot($0.record) } }

    /// One room.
    public func room(_ id: String) throws(HomeError) -> Versioned<RoomSnapshot> {
        Versioned(try directory.room(id))
    }

    /// Creates a room.
    public func addRoom(_ name: String, in structure: String) async throws(HomeError) -> Versioned<RoomSnapshot> {
        let kept = try await directory.perform { (home) throws(HomeError) in try home.addRoom(name, in: structure) }
        readDirectory()
        return Versioned(kept)
    }

    /// Renames a room.
    /// - Parameter version: the version that the client has read; nil for any.
    /// - Throws: `aborted` when the room has another version.
    public func renameRoom(
        _ id: String, _ name: String?, ifVersion version: Int64? = nil
    ) async throws(HomeError) -> Versioned<RoomSnapshot> {
        let kept = try await directory.perform { (home) throws(HomeError) in
            try home.renameRoom(id, name, ifVersion: version)
        }
        readDirectory()
        return Versioned(kept)
    }

    /// Removes a room. Its devices stay in the structure.
    public func removeRoom(_ id: String, ifVersion version: Int64? = nil) async throws(HomeError) {
        try await directory.perform { (home) throws(HomeError) in _ = try home.removeRoom(id, ifVersion: version) }
        readDirectory()
    }

    // MARK: Devices

    /// The devices of some keys; see ``HomeDirectory/identify(_:isKnown:)``.
    public func identify(
        _ keys: [HomeDirectory.DeviceKey], isKnown: @escaping @Sendable (String) -> Bool = { _ in false }
    ) async throws(HomeError) -> [String: DeviceRecord] {
        let records = try await directory.perform { (home) throws(HomeError) in
            try home.identify(keys, isKnown: isKnown)
        }
        // Rooms may be new, and devices may have moved.
        let hasMoved = records.values.contains { record in
            record.roomID.map { knownRooms[$0] == nil } ?? false
                || states[record.id].map { $0.record != record } ?? false
        }
        if hasMoved { readDirectory() }
        return records
    }

    /// Changes what people call a device, and where it is.
    /// - Parameters:
    ///   - name: the name; if it is cleared, the config's name counts again.
    ///   - room: the room, which also decides the structure.
    ///   - structure: another structure; the device leaves its room.
    ///   - version: the version of the name and place that the client has read; nil for any.
    /// - Returns: where this change has moved it.
    /// - Throws: `aborted` when the device has another version.
    @discardableResult
    public func moveDevice(
        _ id: String, name: PlaceUpdate.Field<String> = .unchanged, room: PlaceUpdate.Field<String> = .unchanged,
        structure: String? = nil, ifVersion version: Int64? = nil
    ) async throws(HomeError) -> DeviceMove {
        try requireDevice(id)
        let move = try await directory.perform { (home) throws(HomeError) in
            try home.moveDevice(id, name: name, room: room, structure: structure, ifVersion: version)
        }
        readDirectory()
        return move
    }

    /// Removes a device that no backend has now. Its identifier is never used again.
    public func decommission(_ id: String) async throws(HomeError) {
        guard states[id] == nil else {
            throw HomeError.failedPrecondition("device \(id) still exists; remove it first where it is declared")
        }
        try await directory.perform { (home) throws(HomeError) in try home.removeDevice(id) }
    }

    // MARK: Reporting

    /// Reports what has changed in the directory since the watchers last heard of it. Simultaneous changes may be
    /// reported together, each object with its newest state.
    func readDirectory() {
        let changes = Self.changes(in: directory, structures: &knownStructures, rooms: &knownRooms)
        // New structures and rooms are reported before their devices, and removed ones after them.
        for change in changes where !change.isRemoval { publish(change) }
        for id in order {
            let record = directory.record(ofDevice: id)
            // Most changes concern one device, and reading the whole state of another costs far more than this.
            guard states[id]?.record != record else { continue }
            let former = states[id]?.record?.structureID
            change(id) { $0.record = record }
            guard let former, let structure = record?.structureID, former != structure else { continue }
            log.append(DeviceDeparture(deviceID: id, structureID: former).entry, at: now())
        }
        for change in changes where change.isRemoval { publish(change) }
    }

    static func changes(
        in directory: HomeDirectory, structures: inout [String: StructureSnapshot], rooms: inout [String: RoomSnapshot]
    ) -> [HomeChange] {
        let newStructures = directory.structures.map { directory.snapshot(of: $0.record) }
        let newRooms = directory.rooms.map { RoomSnapshot($0.record) }
        var changes: [HomeChange] = []
        for structure in newStructures where structures[structure.id] != structure {
            changes.append(.structure(structure))
        }
        for room in newRooms where rooms[room.id] != room { changes.append(.room(room)) }
        for id in Set(rooms.keys).subtracting(newRooms.map(\.id)).sorted() {
            changes.append(.roomRemoved(roomID: id))
        }
        for id in Set(structures.keys).subtracting(newStructures.map(\.id)).sorted() {
            changes.append(.structureRemoved(structureID: id))
        }
        structures = Dictionary(newStructures.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        rooms = Dictionary(newRooms.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        return changes
    }
}

extension HomeChange {
    /// Whether something has left the home.
    fileprivate var isRemoval: Bool {
        switch self {
        case .structureRemoved, .roomRemoved, .deviceRemoved: true
        default: false
        }
    }
}

extension HomeDirectory {
    /// A structure as watchers get it. The time is not a part of it: it would change all the time.
    func snapshot(of record: StructureRecord) -> StructureSnapshot {
        StructureSnapshot(
            id: record.id, name: record.name, address: record.address, latitude: record.latitude,
            longitude: record.longitude, timeZone: record.timeZone, traits: presence(in: record.id).traits)
    }
}

extension RoomSnapshot {
    init(_ record: RoomRecord) {
        self.init(id: record.id, name: record.name, structureID: record.structureID)
    }
}

extension Versioned<RoomSnapshot> {
    init(_ kept: HomeDirectory.Kept<RoomRecord>) {
        self.init(value: RoomSnapshot(kept.record), version: kept.version)
    }
}
