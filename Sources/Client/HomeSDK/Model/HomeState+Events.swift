import Foundation
import GatewayClient
import HomeTypes

/// What an event of the gateway's stream changes in the home.
enum HomeUpdate: Sendable {
    case structure(StructureRecord)
    case room(RoomRecord)
    case device(DeviceRecord)
    case structureRemoved(String)
    case roomRemoved(String)
    case deviceRemoved(String)

    private struct Removed: Decodable {
        var structureID: String?
        var roomID: String?
        var deviceID: String?
    }

    /// Reads an event; nil for one that does not change the home.
    /// - Throws: `parseError` for an event of a known name that cannot be read.
    init?(_ event: GatewayEvent) throws(HomeError) {
        let update: HomeUpdate?
        switch event.name {
        case "structure": update = .structure(try Self.read(StructureRecord.self, event))
        case "room": update = .room(try Self.read(RoomRecord.self, event))
        case "device", "deviceAdded": update = .device(try Self.read(DeviceRecord.self, event))
        case "structureRemoved":
            update = try Self.read(Removed.self, event).structureID.map(HomeUpdate.structureRemoved)
        case "roomRemoved": update = try Self.read(Removed.self, event).roomID.map(HomeUpdate.roomRemoved)
        case "deviceRemoved": update = try Self.read(Removed.self, event).deviceID.map(HomeUpdate.deviceRemoved)
        default: update = nil
        }
        guard let update else { return nil }
        self = update
    }

    private static func read<Value: Decodable>(
        _ type: Value.Type, _ event: GatewayEvent
    ) throws(HomeError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(event.data.utf8))
        } catch {
            throw .parseError("the gateway sent an event \(event.name) that cannot be read: \(error)")
        }
    }
}

extension GatewayEvent {
    private struct Missed: Decodable {
        var eventsFollow: Bool?
    }

    /// Whether this is an event `missed` after a state, and the events since the cursor follow it.
    var announcesEvents: Bool {
        // A gateway of an earlier version does not report this. Events may then be missing.
        (try? JSONDecoder().decode(Missed.self, from: Data(data.utf8)))?.eventsFollow == true
    }
}

extension HomeState {
    /// The home that the events of a state describe.
    init(_ events: [GatewayEvent]) throws(HomeError) {
        self.init()
        for event in events {
            if let update = try HomeUpdate(event) { _ = apply(update) }
        }
    }

    /// Applies a change.
    /// - Returns: what has changed.
    mutating func apply(_ update: HomeUpdate) -> Set<Topic> {
        switch update {
        case .structure(let record): set(record, structure: record.content.id)
        case .room(let record): set(record, room: record.id)
        case .device(let record): set(record, device: record.id)
        case .structureRemoved(let id): set(nil, structure: id)
        case .roomRemoved(let id): set(nil, room: id)
        case .deviceRemoved(let id): set(nil, device: id)
        }
    }
}
