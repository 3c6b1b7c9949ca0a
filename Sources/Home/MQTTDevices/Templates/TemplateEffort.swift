import Foundation

/// How much work one rendering of a template may still do. A description comes from the broker, and its template may be
/// designed to keep the gateway busy: its source is short, but each of its parts can walk over a long value again.
final class TemplateEffort {
    /// The work that a rendering may do, in bytes that are read, written or compared. Templates of real devices need a
    /// few thousand.
    static let most = 4 << 20
    /// The work that all renderings for one message may do. Many entities may read the same topic: all those of a bridge read
    /// whether it is available.
    static let mostOfMessage = 64 << 20

    private var rest: Int
    private let shared: TemplateEffort?

    /// - Parameter shared: the limit that other renderings share with this one.
    init(_ most: Int = TemplateEffort.most, within shared: TemplateEffort? = nil) {
        rest = most
        self.shared = shared
    }

    /// Counts work before it is done.
    /// - Throws: `tooLong` if it is more than the rest. Then nothing is left.
    func spend(_ work: Int) throws(TemplateError) {
        guard work <= rest else {
            rest = 0
            throw .tooLong
        }
        rest -= work
        try shared?.spend(work)
    }

    /// Counts work that is proportional to two lengths, such as a search for one text in another.
    func spend(_ length: Int, times other: Int) throws(TemplateError) {
        let (work, overflows) = length.multipliedReportingOverflow(by: other)
        guard !overflows else { throw .tooLong }
        try spend(work)
    }
}

extension TemplateEvaluation {
    /// A list or a dictionary that the template builds. Parts that are used twice share their memory, so that building
    /// `[x, x]` costs nothing, but whatever walks over it later visits `x` twice.
    /// - Throws: `tooLong` if it weighs more than a text may be long.
    func weighed(_ value: JSONValue) throws(TemplateError) -> JSONValue {
        var weight = 0
        value.add(to: &weight, upTo: Self.longestText)
        guard weight <= Self.longestText else { throw .tooLong }
        try effort.spend(weight)
        return value
    }

    /// The value as templates print it.
    /// - Throws: `tooLong` if the text would be longer than a template may produce. The value is weighed first, so that
    ///   a value that is too long never becomes a text.
    func text(of value: JSONValue) throws(TemplateError) -> String { try limited(weighed(value).printed) }

    /// The value as JSON text.
    /// - Throws: `tooLong`, like ``text(of:)``.
    func jsonText(of value: JSONValue) throws(TemplateError) -> String { try limited(weighed(value).text) }

    /// A text, unless it is longer than a template may produce.
    func limited(_ text: String) throws(TemplateError) -> String {
        guard text.utf8.count <= Self.longestText else { throw .tooLong }
        return text
    }

    /// Reads JSON in a text.
    func parsed(_ text: String) throws(TemplateError) -> JSONValue? {
        let text = try limited(text)
        // Reading takes much longer than copying.
        try effort.spend(text.utf8.count, times: 64)
        return try? JSONValue(parsing: Data(text.utf8))
    }
}

extension JSONValue {
    /// How deeply a value in a template may be nested. Encoding it needs some stack for each level.
    private static let deepest = 64
    /// What a value weighs in addition to its texts. A list of 16 KiB has at most 4,096 values.
    private static let weightOfOne = 4

    /// Adds what the value weighs: four for itself and for each value in it, and the bytes of its texts. Stops as soon
    /// as the weight is more than `limit`. A value that is nested too deeply exceeds the limit immediately.
    fileprivate func add(to weight: inout Int, upTo limit: Int, depth: Int = 0) {
        guard depth <= Self.deepest else {
            weight = limit + 1
            return
        }
        weight += Self.weightOfOne
        switch self {
        case .null, .bool, .integer, .number: break
        case .string(let text): weight += text.utf8.count
        case .array(let elements):
            for element in elements {
                guard weight <= limit else { return }
                element.add(to: &weight, upTo: limit, depth: depth + 1)
            }
        case .object(let members):
            for (key, member) in members {
                guard weight <= limit else { return }
                weight += key.utf8.count
                member.add(to: &weight, upTo: limit, depth: depth + 1)
            }
        }
    }
}
