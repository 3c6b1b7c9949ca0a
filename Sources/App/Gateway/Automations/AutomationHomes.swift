import Automation
import Foundation
import HomeHub
import HomeTypes

/// The home as validation, descriptions and candidates see it at one moment.
struct AutomationHomes: Sendable {
    /// The structures by their identifiers.
    let structures: [String: StructureSnapshot]
    /// The devices of each structure, in the order in which people see them.
    let devices: [String: [DeviceSnapshot]]
    /// What people call devices and structures, by their identifiers.
    private(set) var names: [String: String]
    /// For how many whole days devices have been offline.
    let daysOffline: [String: Int]

    /// Reads the home.
    init(_ hub: HomeHub) async {
        self.init(
            structures: await hub.structures(), devices: await hub.devices(), daysOffline: await hub.daysOffline())
    }

    /// Describes a home.
    init(structures: [StructureSnapshot], devices: [DeviceSnapshot], daysOffline: [String: Int] = [:]) {
        self.daysOffline = daysOffline
        self.structures = Dictionary(structures.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        self.devices = Dictionary(grouping: devices) { $0.structureID ?? "" }
        names = Dictionary(
            structures.map { ($0.id, $0.name) } + devices.map { ($0.id, $0.name) },
            uniquingKeysWith: { first, _ in first })
    }

    /// The same home for somebody: what they may not know of has no name.
    func seen(by access: Access) -> AutomationHomes {
        var seen = self
        seen.names = [:]
        for device in devices.values.joined()
        where access.sees(.device(device.id, structureID: device.structureID)) {
            seen.names[device.id] = device.name
        }
        for (id, structure) in structures where access.sees(.structure(id)) { seen.names[id] = structure.name }
        return seen
    }

    /// The wall clock of a structure.
    func clock(of structure: String) -> Automation.WallClock {
        WallClock(structures[structure].flatMap { TimeZone(identifier: $0.timeZone) } ?? .gmt)
    }

    /// A structure as validation sees it for a principal: with what the principal may read, because starters and readers
    /// show it in the records of runs.
    func validationHome(of structure: String, for access: Access) -> ValidationHome {
        let visible = (devices[structure] ?? []).filter {
            access.permits(.read, .device($0.id, structureID: structure))
        }
        let place = structures[structure]
        var home = ValidationHome(
            structureID: structure, hasCoordinates: place?.latitude != nil && place?.longitude != nil,
            devices: Dictionary(
                visible.map { ($0.id, .init($0, daysOffline: daysOffline[$0.id] ?? 0)) },
                uniquingKeysWith: { first, _ in first }),
            permitsBlockedActions: access.permits(.unlock, .structure(structure)))
        // The time of a place is not a secret, but the people who are at home are.
        if !access.permits(.read, .structure(structure)) { home.structureTraits = [Google.TimeTrait.name] }
        home.unlockableDevices = Set(
            access.grants.filter { $0.scopes.contains(.unlock) }.compactMap(\.deviceID))
        return home
    }
}

extension ValidationHome.Device {
    /// A device as validation sees it.
    init(_ device: DeviceSnapshot, daysOffline: Int) {
        self.init(
            parts: device.endpoints.map { .init(types: $0.types, traits: $0.traits) },
            // Cameras report what they see without a trait of their own. Whether one has a speaker is known only once it has
            // connected.
            statelessTraits: device.activeDetections == nil
                ? [] : Set(Vocabulary.detectionTraits.map { $0.name } + [Google.ChimeTrait.name]),
            daysOffline: daysOffline)
    }
}
