import Foundation
import HomeTypes
import Transport

/// The identifiers of devices.
extension HomeDirectory {
    /// What a backend calls one of its devices.
    public struct DeviceKey: Sendable, Hashable {
        /// The key, unique among the devices of the home.
        public var key: String
        /// What it was called before; nil if it was not renamed.
        public var formerly: String?
        /// The name of the room that it belongs to; nil to leave it where it is.
        public var room: String?

        /// Names a device.
        public init(_ key: String, formerly: String? = nil, room: String? = nil) {
            self.key = key
            self.formerly = formerly
            self.room = room
        }
    }

    /// The devices of some keys. A device that is new gets an identifier.
    ///
    /// A device that an earlier version of the gateway knew has its key as its identifier, because its data on the disk
    /// has that name.
    /// - Parameters:
    ///   - keys: the devices as they are called now.
    ///   - isKnown: whether an earlier version kept something under this key.
    /// - Returns: the records by their keys.
    /// - Throws: `unavailable` if a new device cannot be written to the disk.
    @discardableResult
    public func identify(
        _ keys: [DeviceKey], isKnown: (String) -> Bool = { _ in false }
    ) throws(HomeError) -> [String: DeviceRecord] {
        var result: [String: DeviceRecord] = [:]
        let present = Set(keys.map(\.key))
        var byKey = recordsByKey
        for key in keys where result[key.key] == nil {
            if let known = byKey[key.key] {
                result[key.key] = known
            } else if let former = key.formerly, !present.contains(former), var record = byKey[former] {
                byKey[former] = nil
                record.key = key.key
                result[key.key] = try write(record)
            } else {
                let former = key.formerly.flatMap { present.contains($0) ? nil : $0 }
                let old = [key.key, former].compactMap { $0 }.first { !isTaken($0) && isKnown($0) }
                result[key.key] = try write(
                    DeviceRecord(
                        id: old ?? MintedID.device(), key: key.key, structureID: firstStructure.id))
            }
            if let room = key.room, let record = result[key.key] { result[key.key] = try place(record, in: room) }
        }
        shareNames()
        return result
    }

    /// Moves a device to the room of its structure with this name. The room is created if there is none.
    ///
    /// Each name moves the device once, so it stays where somebody moves it afterwards. A name that a room cannot have
    /// does not move the device.
    private func place(_ record: DeviceRecord, in name: String) throws(HomeError) -> DeviceRecord {
        guard record.suggestedRoom != name else { return record }
        var record = record
        record.suggestedRoom = name
        if let wanted = try? StructureRules.name(name) {
            let known = rooms.first {
                $0.record.structureID == record.structureID && $0.record.name.lowercased() == wanted.lowercased()
            }
            if let room = known ?? (try? addRoom(wanted, in: record.structureID)) { record.roomID = room.record.id }
        }
        return try write(record)
    }

    /// Takes over devices that have identifiers already.
    func adopt(_ devices: [DeviceDescription]) {
        for device in devices where record(ofDevice: device.id) == nil {
            let record = DeviceRecord(
                id: device.id, key: device.key ?? device.id, structureID: firstStructure.id)
            // The next run adopts again what could not be written to the disk.
            if (try? write(record)) == nil {
                state.withLock { $0.devices[record.id] = Kept(record: record, version: 0) }
            }
        }
        shareNames()
    }

    /// A device of the home; nil for one that is unknown or was decommissioned.
    public func record(ofDevice id: String) -> DeviceRecord? {
        state.withLock { $0.devices[id]?.record }.flatMap { $0.removedAt == nil ? $0 : nil }
    }

    /// The version of a device's name and place; 0 for an unknown device.
    public func version(ofDevice id: String) -> Int64 { state.withLock { $0.devices[id]?.version ?? 0 } }

    /// All devices of the home, also those that no backend has now.
    var deviceRecords: [DeviceRecord] {
        state.withLock { $0.devices.values.map(\.record) }.filter { $0.removedAt == nil }.sorted { $0.id < $1.id }
    }

    private var recordsByKey: [String: DeviceRecord] {
        Dictionary(deviceRecords.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether the identifier belongs, or belonged, to a device.
    private func isTaken(_ id: String) -> Bool { state.withLock { $0.devices[id] != nil } }

    /// Writes a device's record.
    @discardableResult
    func write(_ record: DeviceRecord) throws(HomeError) -> DeviceRecord {
        let version = state.withLock { $0.devices[record.id]?.version ?? 0 }
        let written = try write(Kind.device, record.id, record, expecting: version)
        state.withLock { $0.devices[record.id] = Kept(record: record, version: written) }
        return record
    }

    /// Changes a device's name or place.
    func changeDevice(_ id: String, _ body: (inout DeviceRecord) -> Void) throws(HomeError) -> DeviceRecord {
        guard var record = record(ofDevice: id) else { throw HomeHub.unknownDevice(id) }
        let before = record
        body(&record)
        return record == before ? record : try write(record)
    }

    /// Ends the life of a device. Its identifier is not used again.
    func removeDevice(_ id: String) throws(HomeError) {
        guard var record = record(ofDevice: id) else { throw HomeHub.unknownDevice(id) }
        record.removedAt = now()
        try write(record)
        shareNames()
    }
}
