import Foundation

/// The wall clock of a place, with its changes to and from summer time.
public struct WallClock: Sendable, Hashable {
    private let zone: TimeZone

    /// The clock of a time zone.
    public init(_ zone: TimeZone) { self.zone = zone }

    private func offset(_ seconds: Int) -> Int {
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
    }

    /// The day on which a moment is there.
    public func date(at seconds: Int) -> CivilDate {
        let local = seconds + offset(seconds)
        return CivilDate(day: (local - Self.remainder(local)) / 86_400)
    }

    /// What the clock shows at a moment, in seconds since midnight.
    public func timeOfDay(at seconds: Int) -> Int { Self.remainder(seconds + offset(seconds)) }

    private static func remainder(_ seconds: Int) -> Int { (seconds % 86_400 + 86_400) % 86_400 }

    /// The moments of several times of a day, in order and each once.
    /// - Parameter times: in seconds since midnight, in order and each once.
    func moments(of times: [Int], on date: CivilDate) -> [Int] {
        let midnight = date.day * 86_400
        let before = offset(midnight - Self.margin)
        // On most days the offset does not change, and two look-ups suffice.
        guard before != offset(midnight + 86_400 + Self.margin) else { return times.map { midnight + $0 - before } }
        // Several times that the clock leaves out become one moment.
        return Set(times.map { moment(of: $0, on: date) }).sorted()
    }

    /// A change may leave out a whole day, as Samoa did in 2011.
    private static let margin = 36 * 3600

    /// The moment of a time of day, in seconds since 1970.
    ///
    /// A time that occurs twice means the first. A time that the clock skips means the moment at which the clock
    /// continues.
    /// - Parameter time: seconds since midnight on the wall clock, up to 86,400.
    public func moment(of time: Int, on date: CivilDate) -> Int {
        let local = date.day * 86_400 + time
        let before = offset(local - Self.margin)
        let after = offset(local + Self.margin)
        let first = local - before
        if offset(first) == before { return first }
        let second = local - after
        if offset(second) == after { return second }
        // The first moment with the new offset.
        var (low, high) = (local - Self.margin, local + Self.margin)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if offset(middle) == before { low = middle } else { high = middle }
        }
        return high
    }
}
