import Foundation
import Testing

@testable import HomeHub

@Suite struct SunTimesTests {
    struct Case: CustomStringConvertible {
        var place: String
        var latitude: Double
        var longitude: Double
        var zone: String
        var day: String
        /// In local time, `nil` where the sun does not rise or set.
        var sunrise: String?
        var sunset: String?

        var description: String { "\(place) on \(day)" }
    }

    /// The times that almanacs publish for these places, to the second as PyEphem computes them with the convention of
    /// the United States Naval Observatory: the sun's centre is 50 minutes of arc below the horizon.
    static let cases = [
        Case(
            place: "London", latitude: 51.5074, longitude: -0.1278, zone: "Europe/London", day: "2024-06-20",
            sunrise: "2024-06-20 04:42:59", sunset: "2024-06-20 21:21:26"),
        Case(
            place: "London", latitude: 51.5074, longitude: -0.1278, zone: "Europe/London", day: "2024-12-21",
            sunrise: "2024-12-21 08:03:59", sunset: "2024-12-21 15:53:36"),
        Case(
            place: "New York", latitude: 40.7128, longitude: -74.006, zone: "America/New_York", day: "2024-06-20",
            sunrise: "2024-06-20 05:24:54", sunset: "2024-06-20 20:30:38"),
        Case(
            place: "New York", latitude: 40.7128, longitude: -74.006, zone: "America/New_York", day: "2024-12-21",
            sunrise: "2024-12-21 07:16:48", sunset: "2024-12-21 16:32:01"),
        Case(
            place: "Sydney", latitude: -33.8688, longitude: 151.2093, zone: "Australia/Sydney", day: "2024-12-21",
            sunrise: "2024-12-21 05:40:51", sunset: "2024-12-21 20:05:38"),
        Case(
            place: "Tokyo", latitude: 35.6762, longitude: 139.6503, zone: "Asia/Tokyo", day: "2024-03-20",
            sunrise: "2024-03-20 05:45:06", sunset: "2024-03-20 17:53:06"),
        Case(
            place: "Quito", latitude: -0.1807, longitude: -78.4678, zone: "America/Guayaquil", day: "2030-09-23",
            sunrise: "2030-09-23 06:02:53", sunset: "2030-09-23 18:09:22"),
        // A day ahead of its longitude.
        Case(
            place: "Kiritimati", latitude: 1.87, longitude: -157.43, zone: "Pacific/Kiritimati", day: "2026-05-01",
            sunrise: "2026-05-01 06:21:27", sunset: "2026-05-01 18:32:17"),
        // The sun sets after midnight.
        Case(
            place: "Reykjavik", latitude: 64.1466, longitude: -21.9426, zone: "Atlantic/Reykjavik", day: "2024-06-21",
            sunrise: "2024-06-21 02:55:18", sunset: "2024-06-22 00:03:59"),
        Case(
            place: "Delhi", latitude: 28.6139, longitude: 77.209, zone: "Asia/Kolkata", day: "1999-01-01",
            sunrise: "1999-01-01 07:13:48", sunset: "1999-01-01 17:35:11"),
        // Polar day, polar night, and polar day of the other hemisphere.
        Case(place: "Tromsø", latitude: 69.6492, longitude: 18.9553, zone: "Europe/Oslo", day: "2024-06-21"),
        Case(place: "Tromsø", latitude: 69.6492, longitude: 18.9553, zone: "Europe/Oslo", day: "2024-12-21"),
        Case(place: "McMurdo", latitude: -77.85, longitude: 166.67, zone: "Antarctica/McMurdo", day: "2024-12-21"),
    ]

    @Test(arguments: cases) func theSunRisesAndSetsWhenAlmanacsSay(_ place: Case) throws {
        let zone = try #require(TimeZone(identifier: place.zone))
        let reader = DateFormatter()
        reader.locale = Locale(identifier: "en_US_POSIX")
        reader.timeZone = zone
        reader.dateFormat = "yyyy-MM-dd HH:mm:ss"
        func date(_ text: String) throws -> Date { try #require(reader.date(from: text)) }
        // At any time of the day the answer is the same.
        for hour in ["00:00:01", "12:00:00", "23:59:59"] {
            let times = SunTimes(
                on: try date("\(place.day) \(hour)"), latitude: place.latitude, longitude: place.longitude,
                timeZone: zone)
            for (found, expected) in [(times.sunrise, place.sunrise), (times.sunset, place.sunset)] {
                guard let expected else {
                    #expect(found == nil)
                    continue
                }
                let difference = try #require(found).timeIntervalSince(date(expected))
                #expect(abs(difference) < 60, "\(difference) s off")
            }
        }
    }

    /// The tables of the United States Naval Observatory for places within the polar circles, to the minute.
    static let published: [Case] = {
        func table(
            _ place: String, _ latitude: Double, _ longitude: Double, _ zone: String,
            _ days: [(day: String, sunrise: String?, sunset: String?)]
        ) -> [Case] {
            days.map {
                Case(
                    place: place, latitude: latitude, longitude: longitude, zone: zone, day: $0.day,
                    sunrise: $0.sunrise, sunset: $0.sunset)
            }
        }
        return table(
            "80° north", 80, 0, "UTC",
            [
                ("2019-01-15", nil, nil), ("2019-02-20", nil, nil), ("2019-02-23", "10:30", "13:59"),
                ("2019-03-01", "09:02", "15:25"), ("2019-03-20", "05:55", "18:25"), ("2019-04-10", "02:04", "22:14"),
                ("2019-04-14", nil, nil), ("2019-06-21", nil, nil), ("2019-08-29", nil, nil),
                ("2019-09-02", "01:49", "21:56"), ("2019-09-30", "06:33", "17:04"), ("2019-10-19", "10:07", "13:21"),
                ("2019-10-22", nil, nil), ("2019-12-21", nil, nil),
            ])
            // The table is in universal time, ten hours ahead of the place.
            + table(
                "80° south", -80, -150, "Pacific/Tahiti",
                [
                    ("2019-01-15", nil, nil), ("2019-02-23", nil, nil), ("2019-03-01", "02:24", "21:48"),
                    ("2019-03-20", "05:46", "18:24"), ("2019-04-10", "09:05", "14:55"), ("2019-04-19", nil, nil),
                    ("2019-06-21", nil, nil), ("2019-08-23", nil, nil), ("2019-09-10", "07:31", "16:27"),
                    ("2019-10-10", "02:35", "21:10"), ("2019-10-17", nil, nil), ("2019-12-21", nil, nil),
                ])
            + table(
                "Tromsø", 69.5, 19, "Etc/GMT-1",
                [
                    ("2014-04-01", "04:50", "18:49"), ("2014-04-30", "02:29", "20:58"),
                    ("2014-05-17", "00:29", "23:06"),
                    ("2014-05-20", nil, nil), ("2014-07-24", nil, nil),
                ])
    }()

    @Test(arguments: published) func theSunRisesAndSetsWithinThePolarCirclesWhenTheTablesSay(_ place: Case) throws {
        let zone = try #require(TimeZone(identifier: place.zone))
        let reader = DateFormatter()
        reader.locale = Locale(identifier: "en_US_POSIX")
        reader.timeZone = zone
        reader.dateFormat = "yyyy-MM-dd HH:mm"
        let noon = try #require(reader.date(from: "\(place.day) 12:00"))
        let times = SunTimes(on: noon, latitude: place.latitude, longitude: place.longitude, timeZone: zone)
        for (found, expected) in [(times.sunrise, place.sunrise), (times.sunset, place.sunset)] {
            guard let expected else {
                #expect(found == nil, "\(String(describing: found))")
                continue
            }
            let moment = try #require(reader.date(from: "\(place.day) \(expected)"))
            let difference = try #require(found).timeIntervalSince(moment)
            // Half a minute is the table's rounding. The sun moves almost along the horizon there.
            #expect(abs(difference) < 90, "\(difference) s off")
        }
    }

    @Test func thePolesAndNonsenseEndNothing() throws {
        for latitude in [-90.0, 90, 0, .nan, 1e300] {
            for longitude in [-180.0, 180, .infinity] {
                let zone = try #require(TimeZone(identifier: "UTC"))
                for time in [0.0, 1e9, -1e9, 4e9] {
                    let times = SunTimes(
                        on: Date(timeIntervalSince1970: time), latitude: latitude, longitude: longitude,
                        timeZone: zone)
                    if abs(latitude) == 90 { #expect(times.sunrise == nil || times.sunset != nil) }
                }
            }
        }
    }
}
