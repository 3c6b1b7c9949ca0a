import Foundation
import HomeTypes

/// The latest events of each device, newest last.
struct EventHistory {
    /// How many events are kept for one device.
    static let capacity = 256

    private var events: [String: [DeviceEvent]] = [:]

    /// Begins with the events of an earlier run, oldest first.
    init(_ kept: [DeviceEvent] = []) {
        for event in kept { self.append(event) }
    }

    mutating func append(_ event: DeviceEvent) {
        self.events[event.deviceID, default: []].append(event)
        if let count = self.events[event.deviceID]?.count, count > Self.capacity {
            self.events[event.deviceID]?.removeFirst(count - Self.capacity)
        }
    }

    /// The newest first.
    func events(of deviceID: String, since: Date?, after id: String?, limit: Int) -> [DeviceEvent] {
        var list = self.events[deviceID, default: []][...]
        if let id {
            // An event that has been dropped since is older than all events that are kept.
            if let index = list.lastIndex(where: { $0.id == id }) { list = list[(index + 1)...] }
        }
        if let since { list = list.drop { $0.timestamp < since } }
        return list.suffix(limit).reversed()
    }
}
