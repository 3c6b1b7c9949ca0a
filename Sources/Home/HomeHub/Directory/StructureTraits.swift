import Foundation
import HomeTypes

extension PresenceRecord {
    /// Whether somebody is at home.
    var presenceState: Google.AreaPresenceStateTrait.PresenceState {
        if persons.isEmpty { return .presenceStateUnspecified }
        return persons.values.contains(where: \.isHome) ? .presenceStateOccupied : .presenceStateVacant
    }

    /// How many household members are at home.
    var attendanceState: Google.AreaAttendanceStateTrait.AttendanceState {
        let home = persons.values.count(where: \.isHome)
        if persons.isEmpty { return .attendanceStateUnknown }
        if home == 0 { return .attendanceStateNoHouseholdMembers }
        return home == persons.count ? .attendanceStateAllHouseholdMembers : .attendanceStateSomeHouseholdMembers
    }

    /// The traits of the structure.
    var traits: TraitCollection {
        TraitCollection([
            Google.AreaPresenceStateTrait(attributes: .init(presenceState: presenceState)),
            Google.AreaAttendanceStateTrait(attributes: .init(attendanceState: attendanceState)),
        ])
    }
}

extension Google.TimeTrait {
    /// The time at a place.
    /// - Parameter place: decides when the sun rises and sets; without coordinates these attributes are not supported.
    init(at moment: Date, in place: StructureRecord) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(identifier: place.timeZone) ?? .gmt
        let now = calendar.dateComponents([.year, .month, .day, .weekday], from: moment)
        // Foundation counts from Sunday as 1, and the vocabulary from Monday as 1.
        let weekday = UInt64(((now.weekday ?? 1) + 5) % 7 + 1)
        var attributes = Attributes(
            currentTime: TimeOfDay(moment, calendar),
            currentDate: CalendarDate(
                year: now.year.map(Int32.init), month: now.month.map(Int32.init), day: now.day.map(Int32.init)),
            dayOfWeek: DayOfWeek.allCases.first { $0.number == weekday })
        if let latitude = place.latitude, let longitude = place.longitude {
            let sun = SunTimes(on: moment, latitude: latitude, longitude: longitude, timeZone: calendar.timeZone)
            attributes.$sunriseTime = sun.sunrise.map { .init(wrappedValue: TimeOfDay($0, calendar)) } ?? .null
            attributes.$sunsetTime = sun.sunset.map { .init(wrappedValue: TimeOfDay($0, calendar)) } ?? .null
        }
        self.init(attributes: attributes)
    }
}

extension Google.TimeTrait.TimeOfDay {
    /// The time of day of a moment.
    fileprivate init(_ moment: Date, _ calendar: Calendar) {
        let time = calendar.dateComponents([.hour, .minute, .second], from: moment)
        self.init(
            hours: Int32(time.hour ?? 0), minutes: Int32(time.minute ?? 0), seconds: Int32(time.second ?? 0))
    }
}
