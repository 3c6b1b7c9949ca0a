import Foundation
import HomeTypes
import Hummingbird
import PushAvStreamTransport

/// What the queries of the routes of recordings say.
enum RecordingQueries {
    /// The longest range of one export or playlist, in microseconds: 31 days.
    static let longestRange: Int64 = 31 * 86_400 * 1_000_000

    /// A time in microseconds since 1970; nil when the query does not have it.
    static func time(_ name: String, _ request: Request) throws(HomeError) -> Int64? {
        guard let text = request.uri.queryParameters[name[...]].map(String.init) else { return nil }
        guard let time = microseconds(text) else {
            throw .invalidArgument("\(name): expected a time like 2026-01-31T12:00:00.250Z")
        }
        return time
    }

    /// Both ends of a range.
    static func range(_ request: Request) throws(HomeError) -> Range<Int64> {
        guard let from = try time("from", request), let until = try time("until", request) else {
            throw .invalidArgument("from and until are needed: times like 2026-01-31T12:00:00Z")
        }
        guard from < until else { throw .invalidArgument("until must be later than from") }
        guard until - from <= longestRange else { throw .invalidArgument("the range is longer than 31 days") }
        return from..<until
    }

    /// A whole number within limits.
    static func number(
        _ name: String, _ request: Request, in limits: ClosedRange<Int>, otherwise: Int
    ) throws(HomeError) -> Int {
        guard let text = request.uri.queryParameters[name[...]] else { return otherwise }
        guard let number = Int(text), limits.contains(number) else {
            throw .invalidArgument(
                "\(name): expected a whole number from \(limits.lowerBound) to \(limits.upperBound)")
        }
        return number
    }

    /// One of some words.
    static func word<Word: RawRepresentable & CaseIterable>(
        _ name: String, _ request: Request, otherwise: Word
    ) throws(HomeError) -> Word where Word.RawValue == String {
        guard let text = request.uri.queryParameters[name[...]] else { return otherwise }
        guard let word = Word(rawValue: String(text)) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalidArgument("\(name): expected one of \(words)")
        }
        return word
    }

    /// Microseconds since 1970 of a time in ISO 8601 with a time zone.
    static func microseconds(_ text: String) -> Int64? {
        guard text.utf8.count <= 40 else { return nil }
        // In a query, the plus sign of a time zone means a space.
        let text = text.replacingOccurrences(of: " ", with: "+")
        let formatter = ISO8601DateFormatter()
        var date = formatter.date(from: text)
        if date == nil {
            formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
            date = formatter.date(from: text)
        }
        guard let seconds = date?.timeIntervalSince1970, abs(seconds) < 1e11 else { return nil }
        return Int64((seconds * 1_000).rounded()) * 1_000
    }

    /// A place in a list of recordings, as clients get it: they should not take it apart.
    static func cursor(_ id: RecordingSession.ID) -> String {
        Data(id.name.utf8).base64EncodedString().replacingOccurrences(of: "=", with: "")
    }

    /// The recording that a cursor names.
    static func recording(_ cursor: String, device: String) throws(HomeError) -> RecordingSession.ID {
        let padded = cursor + String(repeating: "=", count: (4 - cursor.utf8.count % 4) % 4)
        guard cursor.utf8.count <= 128, let data = Data(base64Encoded: padded),
            let id = RecordingSession.ID(device: device, name: String(decoding: data, as: UTF8.self))
        else { throw .invalidArgument("after: expected the value of next in an earlier response") }
        return id
    }
}
