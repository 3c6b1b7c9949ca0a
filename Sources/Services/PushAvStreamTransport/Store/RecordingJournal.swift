import Foundation

/// One line of a session's journal. A line of a kind that this version does not know has none of the members.
struct JournalLine: Codable, Equatable, Sendable {
    /// A segment is complete.
    var segment: StoredSegment?
    /// Nothing was recorded for a time.
    var gap: RecordingGap?
    /// Another trigger belongs to the session.
    var trigger: RecordingSession.Trigger?
    /// The session has ended.
    var end: RecordingEnd?
}

/// Writes and reads the journal of a session: JSON lines, each with a checksum of the rest of the line in front.
///
/// The checksum finds lines that were cut off or changed. It protects against damage, not against an attacker, who could
/// change the footage itself.
enum RecordingJournal {
    /// What a journal says.
    struct Contents: Equatable, Sendable {
        var segments: [StoredSegment] = []
        var gaps: [RecordingGap] = []
        var triggers: [RecordingSession.Trigger] = []
        /// The first end that was written.
        var end: RecordingEnd?
        /// How many bytes the whole lines take; what follows is a line that was cut off.
        var validLength: Int64 = 0
        /// Lines within the journal that are damaged.
        var damagedLines = 0
        /// Whole lines whose kind this version does not know.
        var unknownLines = 0
    }

    /// The longest line that is read, and the longest journal. A day of segments of one second stays below it.
    static let maximumLine = 64 << 10
    static let maximumLength = 128 << 20

    private static let prefix = #"{"check":""#

    /// The line with its line end.
    static func encode(_ line: JournalLine) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // These types always encode: they hold no floating point numbers.
        guard let json = try? encoder.encode(line), json.count > 2 else { return [] }
        let rest = Array(json.dropFirst())
        return Array("\(Self.prefix)\(Self.checksum(rest[...]))\",".utf8) + rest + [0x0A]
    }

    /// The line of these bytes, without line end; nil when it is damaged.
    static func decode(_ bytes: ArraySlice<UInt8>) -> JournalLine? {
        let prefix = Array(Self.prefix.utf8)
        let length = prefix.count + 8 + 2
        guard bytes.count > length, bytes.count <= Self.maximumLine, bytes.starts(with: prefix) else { return nil }
        let rest = bytes.dropFirst(length)
        guard bytes.dropFirst(prefix.count).prefix(8).elementsEqual(Self.checksum(rest).utf8) else { return nil }
        // The line is what was written. If its kind is not known, a newer version wrote it.
        return (try? JSONDecoder().decode(JournalLine.self, from: Data([0x7B] + rest))) ?? JournalLine()
    }

    /// Reads a journal, as far as it can be read.
    static func parse(_ bytes: [UInt8]) -> Contents {
        var contents = Contents()
        var start = bytes.startIndex
        while let end = bytes[start...].firstIndex(of: 0x0A) {
            contents.take(Self.decode(bytes[start..<end]))
            start = end + 1
            contents.validLength = Int64(start)
        }
        return contents
    }

    /// FNV-1a of 32 bits, as eight hexadecimal digits.
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> String {
        var hash: UInt32 = 0x811C_9DC5
        for byte in bytes { hash = (hash ^ UInt32(byte)) &* 0x0100_0193 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

extension RecordingJournal.Contents {
    fileprivate mutating func take(_ line: JournalLine?) {
        guard let line else {
            damagedLines += 1
            return
        }
        if let segment = line.segment {
            segments.append(segment)
        } else if let gap = line.gap {
            gaps.append(gap)
        } else if let trigger = line.trigger {
            triggers.append(trigger)
        } else if let end = line.end {
            // A second end is from a start that found the first one damaged.
            if self.end == nil { self.end = end }
        } else {
            unknownLines += 1
        }
    }
}
