import Transport

/// The part of a presentation that a client wants to play (RFC 2326, sections 3.6, 3.7 and 12.29). Times are in
/// microseconds; an end that is left out is nil.
public enum RTSPRange: Equatable, Sendable {
    /// Normal play time: since the beginning of the presentation. Without a beginning it means the present position.
    case npt(from: Int64?, until: Int64?)
    /// Time of the day: since 1970, UTC.
    case clock(from: Int64, until: Int64?)

    /// Why a header cannot be read.
    public enum Fault: Error, Equatable, Sendable {
        /// Its unit is not served, as SMPTE time codes.
        case unknownUnit
        /// Its times cannot be read.
        case unreadable
    }

    /// Reads a header's value. The time at which to begin (`;time=`) is ignored.
    public init(parsing text: String) throws(Fault) {
        let value = text.cut(at: ";").head.trimmedASCII
        let (unit, times) = value.cut(at: "=")
        guard let times else { throw .unreadable }
        let (first, last) = times.trimmedASCII.cut(at: "-")
        switch unit.trimmedASCII.lowercased() {
        case "npt":
            let from = try Self.time(first, Self.seconds)
            let until = try Self.time(last ?? "", Self.seconds)
            if let from, let until, until < from { throw .unreadable }
            self = .npt(from: from, until: until)
        case "clock":
            guard let from = try Self.time(first, Self.clock) else { throw .unreadable }
            let until = try Self.time(last ?? "", Self.clock)
            if let until, until < from { throw .unreadable }
            self = .clock(from: from, until: until)
        default: throw .unknownUnit
        }
    }

    /// The header's value.
    public var text: String {
        switch self {
        case .npt(let from, let until):
            "npt=\(from.map(Self.text(seconds:)) ?? "now")-\(until.map(Self.text(seconds:)) ?? "")"
        case .clock(let from, let until):
            "clock=\(Self.text(clock: from))-\(until.map(Self.text(clock:)) ?? "")"
        }
    }

    private static func time(
        _ text: some StringProtocol, _ read: (String) -> Int64?
    ) throws(Fault) -> Int64? {
        let text = String(text).trimmedASCII
        if text.isEmpty || text.lowercased() == "now" { return nil }
        guard let value = read(String(text)) else { throw .unreadable }
        return value
    }

    /// `npt-sec` or `npt-hhmmss`: seconds, or hours, minutes and seconds, with a fraction or without.
    private static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let last = parts.last, parts.count == 1 || parts.count == 3 else { return nil }
        let (whole, fraction) = last.cut(at: ".")
        guard var total = digits(whole, upTo: 12), let rest = microseconds(fraction) else { return nil }
        if parts.count == 3 {
            guard let hours = digits(parts[0], upTo: 9), let minutes = digits(parts[1], upTo: 2), minutes < 60,
                total < 60
            else { return nil }
            total += hours * 3_600 + minutes * 60
        }
        return total * 1_000_000 + rest
    }

    /// `utc-time`: `YYYYMMDDTHHMMSS`, with a fraction or without, and `Z`. The form with separators, as in
    /// `2026-11-22T17:43:51Z`, is read as well, because people write it.
    public static func clock(_ text: String) -> Int64? {
        var plain = text.filter { $0 != ":" && $0 != "-" }
        guard plain.hasSuffix("Z") || plain.hasSuffix("z"), plain.utf8.count <= 32 else { return nil }
        plain.removeLast()
        let (whole, fraction) = plain.cut(at: ".")
        let characters = Array(whole.utf8)
        guard characters.count == 15, characters[8] | 0x20 == UInt8(ascii: "t"), let rest = microseconds(fraction),
            let date = digits(whole.prefix(8), upTo: 8), let time = digits(whole.suffix(6), upTo: 6)
        else { return nil }
        let (year, month, day) = (date / 10_000, date / 100 % 100, date % 100)
        let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100)
        guard (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60 else { return nil }
        // The civil calendar to days: years begin in March, so that the leap day is the last one.
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        return ((days * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000_000) + rest
    }

    private static func digits(_ text: some StringProtocol, upTo count: Int) -> Int64? {
        guard (1...count).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }

    private static func microseconds(_ fraction: (some StringProtocol)?) -> Int64? {
        guard let fraction, !fraction.isEmpty else { return 0 }
        guard fraction.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64((String(fraction) + "000000").prefix(6))
    }

    private static func text(seconds microseconds: Int64) -> String {
        let bounded = max(0, microseconds)
        return "\(bounded / 1_000_000).\(padded(bounded % 1_000_000, 6))"
    }

    /// With microseconds, which RFC 2326 allows: the fraction may have any length.
    private static func text(clock microseconds: Int64) -> String {
        let time = WallTime(millisecondsSince1970: microseconds / 1_000).iso8601
        return time.dropLast().filter { $0 != "-" && $0 != ":" } + "\(padded(microseconds % 1_000, 3))Z"
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
