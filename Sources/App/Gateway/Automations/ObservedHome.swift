import Automation
import Foundation
import HomeHub
import HomeTypes

extension ObservedDevice {
    /// A device as the engine knows it. One whose connectivity is not known yet is tried.
    init(_ device: DeviceSnapshot) {
        self.init(
            id: device.id, name: device.name, isOnline: device.connectivityState != .offline,
            parts: device.endpoints.map { Part(endpoint: $0.id, types: $0.types, traits: $0.traits) })
    }
}

extension ObservedStructure {
    /// A structure as the engine knows it.
    init(_ structure: StructureSnapshot) {
        self.init(id: structure.id, traits: structure.traits, place: SchedulePlace(structure))
    }
}

extension SchedulePlace {
    /// The wall clock and the sun of a structure.
    init(_ structure: StructureSnapshot) {
        let zone = TimeZone(identifier: structure.timeZone) ?? .gmt
        let clock = WallClock(zone)
        guard let latitude = structure.latitude, let longitude = structure.longitude else {
            self.init(clock)
            return
        }
        self.init(clock) { type, date in
            let noon = Date(timeIntervalSince1970: Double(clock.moment(of: 43_200, on: date)))
            let sun = SunTimes(on: noon, latitude: latitude, longitude: longitude, timeZone: zone)
            let moment: Date? =
                switch type {
                case .sunrise: sun.sunrise
                case .sunset: sun.sunset
                default: nil
                }
            return moment.map { Int($0.timeIntervalSince1970) }
        }
    }
}
