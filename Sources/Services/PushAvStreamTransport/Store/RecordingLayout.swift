/// Where things are in the folder of recordings: names from ids, and ids from names.
///
/// `DEVICE/YYYY-MM-DD/START-EPOCH-SEQUENCE/`, with START as `20261122T174351.123Z`. A name is written once and never
/// changes, so the folders alone say which recordings exist.
public struct RecordingLayout: Hashable, Sendable {
    /// The folder of all recordings.
    public let root: String

    /// Lays out a folder.
    public init(root: String) {
        self.root = root
    }

    static let sessionFile = "session.json"
    static let journalFile = "journal.jsonl"
    static let tombstone = "deleted"
    /// What a file that is being written is called until it is whole.
    static let temporarySuffix = ".new"

    /// The folder of a device.
    public func folder(ofDevice device: String) -> String { "\(root)/\(device)" }

    /// The folder of a session.
    public func folder(of id: RecordingSession.ID) -> String {
        "\(root)/\(id.device)/\(Self.day(id.start))/\(Self.name(id))"
    }

    /// The CMAF header of a track.
    public func initializationSegment(of track: String, in id: RecordingSession.ID) -> String {
        "\(folder(of: id))/\(track).init"
    }

    /// A segment of a track.
    public func segment(_ number: UInt32, of track: String, in id: RecordingSession.ID) -> String {
        "\(folder(of: id))/\(Self.segmentName(number, of: track))"
    }

    static func segmentName(_ number: UInt32, of track: String) -> String {
        "\(track)-\(Self.digits(Int64(number), 6)).m4s"
    }

    /// The number of a segment from the name of its file; nil when the name is not one of the track's segments.
    static func segmentNumber(_ name: String, of track: String) -> UInt32? {
        guard name.hasPrefix("\(track)-"), name.hasSuffix(".m4s") else { return nil }
        let digits = name.dropFirst(track.count + 1).dropLast(4)
        guard digits.count >= 6, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt32(digits),
            number > 0, segmentName(number, of: track) == name
        else { return nil }
        return number
    }

    // MARK: Names

    /// The name of a session's folder.
    static func name(_ id: RecordingSession.ID) -> String { "\(Self.time(id.start))-\(id.epoch)-\(id.sequence)" }

    /// The session that a folder belongs to; nil when the names do not come from an id.
    static func id(device: String, day: String, name: String) -> RecordingSession.ID? {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let start = Self.milliseconds(parts[0]), let epoch = UInt64(parts[1]),
            let sequence = UInt32(parts[2]), Self.isSafe(device: device)
        else { return nil }
        let id = RecordingSession.ID(device: device, start: start, epoch: epoch, sequence: sequence)
        return Self.day(start) == day && Self.name(id) == name ? id : nil
    }

    /// Whether a device's id may be the name of a folder: 1 to 64 letters, digits, `.`, `_` and `-`, and not a dot at the
    /// beginning.
    static func isSafe(device: String) -> Bool {
        (1...64).contains(device.utf8.count) && device.utf8.first != 0x2E
            && device.utf8.allSatisfy { Self.isNameCharacter($0) || $0 == 0x2E }
    }

    /// Whether a track's name may be part of a file's name: 1 to 16 letters, digits, `.`, `_` and `-`, and not a dot at the
    /// beginning.
    static func isSafe(track: String) -> Bool {
        (1...16).contains(track.utf8.count) && track.utf8.first != 0x2E
            && track.utf8.allSatisfy { Self.isNameCharacter($0) || $0 == 0x2E }
    }

    private static func isNameCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
        default: false
        }
    }

    // MARK: Times

    /// The times that names can hold, in milliseconds: from 1970 to the end of the year 9999.
    static let times: ClosedRange<Int64> = 0...253_402_300_799_999

    /// `2026-11-22`.
    static func day(_ milliseconds: Int64) -> String {
        let (year, month, day) = Self.date(days: milliseconds / 86_400_000)
        return "\(Self.digits(year, 4))-\(Self.digits(month, 2))-\(Self.digits(day, 2))"
    }

    /// `20261122T174351.123Z`.
    static func time(_ milliseconds: Int64) -> String {
        let (year, month, day) = Self.date(days: milliseconds / 86_400_000)
        let time = milliseconds % 86_400_000
        return Self.digits(year, 4) + Self.digits(month, 2) + Self.digits(day, 2) + "T"
            + Self.digits(time / 3_600_000, 2) + Self.digits(time / 60_000 % 60, 2)
            + Self.digits(time / 1_000 % 60, 2) + "." + Self.digits(time % 1_000, 3) + "Z"
    }

    /// The reverse of ``time(_:)``.
    static func milliseconds(_ text: Substring) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.count == 20, bytes[8] == 0x54, bytes[15] == 0x2E, bytes[19] == 0x5A else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            var value: Int64 = 0
            for byte in bytes[range] {
                guard (0x30...0x39).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - 0x30)
            }
            return value
        }
        guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8), let hour = number(9..<11),
            let minute = number(11..<13), let second = number(13..<15), let fraction = number(16..<19),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        let result = days * 86_400_000 + hour * 3_600_000 + minute * 60_000 + second * 1_000 + fraction
        // February 30 has another name on the way back.
        return Self.times.contains(result) && Self.time(result) == text ? result : nil
    }

    /// The date of a day since 1970, in the Gregorian calendar. Years begin in March here, so that the leap day is last.
    private static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        )
    }

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func digits(_ value: Int64, _ count: Int) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
