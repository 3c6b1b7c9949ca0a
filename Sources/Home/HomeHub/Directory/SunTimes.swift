import Foundation

/// When the sun rises and sets at a place on a day.
///
/// Source: NOAA Solar Calculator, which follows J. Meeus, "Astronomical Algorithms". The sun rises and sets when its upper
/// limb is on a level horizon, with the usual refraction: 90.833° from the zenith. Between 72° north and south the times
/// are right within a minute; closer to the poles refraction alone changes them by several.
public struct SunTimes: Sendable, Hashable {
    /// When the sun rises; nil if it does not.
    public var sunrise: Date?
    /// When the sun sets; nil if it does not. Close to the polar day it may be after midnight.
    public var sunset: Date?

    private static let zenith = 90.833 * Double.pi / 180

    /// Computes the times of the day that holds a moment.
    /// - Parameters:
    ///   - latitude: degrees north of the equator, from -90 to 90.
    ///   - longitude: degrees east of Greenwich, from -180 to 180.
    ///   - timeZone: decides which day it is.
    public init(on moment: Date, latitude: Double, longitude: Double, timeZone: TimeZone) {
        let noon = Self.noon(on: moment, longitude: longitude, timeZone: timeZone)
        self.sunrise = Self.crossing(after: noon, latitude: latitude, longitude: longitude, sign: -1)
        self.sunset = Self.crossing(after: noon, latitude: latitude, longitude: longitude, sign: 1)
    }

    /// The solar noon of the local day. Some zones are a day ahead of their longitude, so the neighbouring noons count too.
    private static func noon(on moment: Date, longitude: Double, timeZone: TimeZone) -> Date {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let start = calendar.startOfDay(for: moment)
        let middle = start.addingTimeInterval(43_200)
        let midnight = floor(middle.timeIntervalSince1970 / 86_400) * 86_400
        let noons = [-1.0, 0, 1].map { day in
            let about = Date(timeIntervalSince1970: midnight + day * 86_400 + 43_200 - longitude * 240)
            return about.addingTimeInterval(-Sun(at: about).equationOfTime)
        }
        let nearest = noons.min {
            abs($0.timeIntervalSince(middle)) < abs($1.timeIntervalSince(middle))
        }
        return nearest ?? middle
    }

    /// When the sun crosses the horizon before or after its noon; nil when it does not.
    private static func crossing(after noon: Date, latitude: Double, longitude: Double, sign: Double) -> Date? {
        let latitude = latitude * Double.pi / 180
        let dayNoon = noon.addingTimeInterval(Sun(at: noon).equationOfTime)
        var moment = noon
        // The sun moves on between noon and the crossing. Three rounds bring the error below a second.
        for _ in 0..<3 {
            let sun = Sun(at: moment)
            let cosine =
                (cos(zenith) - sin(latitude) * sin(sun.declination)) / (cos(latitude) * cos(sun.declination))
            guard abs(cosine) <= 1 else { return nil }
            let hours = acos(cosine) * 180 / Double.pi * 240
            moment = dayNoon.addingTimeInterval(sign * hours - sun.equationOfTime)
        }
        return moment
    }
}

/// Where the sun is in the sky.
private struct Sun {
    /// The angle between the sun and the equator, in radians.
    let declination: Double
    /// How far a sundial is ahead of the mean time, in seconds.
    let equationOfTime: Double

    init(at moment: Date) {
        let degree = Double.pi / 180
        let century = (moment.timeIntervalSince1970 / 86_400 + 2_440_587.5 - 2_451_545) / 36_525
        let meanLongitude =
            (280.46646 + century * (36_000.76983 + century * 0.0003032)).truncatingRemainder(dividingBy: 360) * degree
        let anomaly = (357.52911 + century * (35_999.05029 - 0.0001537 * century)) * degree
        let eccentricity = 0.016708634 - century * (0.000042037 + 0.0000001267 * century)
        let center =
            sin(anomaly) * (1.914602 - century * (0.004817 + 0.000014 * century))
            + sin(2 * anomaly) * (0.019993 - 0.000101 * century) + sin(3 * anomaly) * 0.000289
        let node = (125.04 - 1_934.136 * century) * degree
        let longitude = meanLongitude + (center - 0.00569 - 0.00478 * sin(node)) * degree
        let meanObliquity =
            23 + (26 + (21.448 - century * (46.815 + century * (0.00059 - century * 0.001813))) / 60) / 60
        let obliquity = (meanObliquity + 0.00256 * cos(node)) * degree
        self.declination = asin(sin(obliquity) * sin(longitude))

        let half = tan(obliquity / 2) * tan(obliquity / 2)
        let angle =
            half * sin(2 * meanLongitude) - 2 * eccentricity * sin(anomaly)
            + 4 * eccentricity * half * sin(anomaly) * cos(2 * meanLongitude)
            - half * half * sin(4 * meanLongitude) / 2 - 1.25 * eccentricity * eccentricity * sin(2 * anomaly)
        // The earth turns by a degree in 240 seconds.
        self.equationOfTime = angle / degree * 240
    }
}
