import HomeTypes
import Transport

/// Which structure each device and room is in, for the access checks. It can be asked without waiting for the hub,
/// because every entry of an event stream is checked with it.
extension HomeDirectory {
    /// The structure that a device is in, or was in before it was decommissioned; nil for a device that is not known.
    public func structure(ofDevice id: String) -> String? {
        state.withLock { $0.devices[id]?.record.structureID }
    }

    /// The structure that a room is in, or was in before it was removed; nil for a room that is not known.
    public func structure(ofRoom id: String) -> String? {
        state.withLock { $0.rooms[id]?.record.structureID ?? $0.formerRooms[id] }
    }

    /// A device, by its identifier or its key, as an object of ``Access``.
    public func device(_ name: String) -> Access.Object {
        let id = names.id(of: name)
        return .device(id, structureID: structure(ofDevice: id))
    }

    /// What an entry of the change log is about, by the entry's subject: a device, a structure, a room or the home. An
    /// entry of an unknown kind belongs to the home, which only a principal with access to all of it sees.
    func object(ofSubject subject: String) -> Access.Object {
        let parts = subject.split(separator: "/", maxSplits: 2).map(String.init)
        guard parts.count >= 2 else { return .home }
        switch parts[0] {
        case "device": return .device(parts[1], structureID: structure(ofDevice: parts[1]))
        case "structure": return .structure(parts[1])
        case "room": return structure(ofRoom: parts[1]).map { .structure($0) } ?? .home
        // An alarm's subject is its kind, followed by the device that it is about.
        case "alarm": return parts.count > 2 ? device(parts[2]) : .home
        default: return .home
        }
    }
}
