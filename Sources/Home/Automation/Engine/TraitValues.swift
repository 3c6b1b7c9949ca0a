import Foundation
import HomeTypes

extension Trait {
    /// The attributes by their names, as JSON has them. What the device does not support is left out.
    var values: [String: JSONObject.Value] {
        // The attributes of the vocabulary are plain values, which JSON always takes.
        guard case .object(let members)? = try? JSONObject.Value(encoding: attributes) else { return [:] }
        return members
    }
}

extension SchedulePlace {
    /// The attributes of the trait `Time` at a moment, by their names.
    func timeValues(at wall: Int64) -> [String: JSONObject.Value] {
        let seconds = Int((Double(wall) / 1000).rounded(.down))
        let date = clock.date(at: seconds)
        let (year, month, day) = date.parts
        var values: [String: JSONObject.Value] = [
            "currentTime": Self.time(clock.timeOfDay(at: seconds)),
            "currentDate": .object([
                "year": .integer(Int64(year)), "month": .integer(Int64(month)), "day": .integer(Int64(day)),
            ]),
        ]
        let weekday = Google.TimeTrait.DayOfWeek.allCases.first { $0.number == UInt64(date.weekday) }
        if let weekday { values["dayOfWeek"] = .text(weekday.rawValue) }
        if let sunrise = sun(.sunrise, date) { values["sunriseTime"] = Self.time(clock.timeOfDay(at: sunrise)) }
        if let sunset = sun(.sunset, date) { values["sunsetTime"] = Self.time(clock.timeOfDay(at: sunset)) }
        return values
    }

    private static func time(_ seconds: Int) -> JSONObject.Value {
        .object([
            "hours": .integer(Int64(seconds / 3600)), "minutes": .integer(Int64(seconds / 60 % 60)),
            "seconds": .integer(Int64(seconds % 60)),
        ])
    }
}
