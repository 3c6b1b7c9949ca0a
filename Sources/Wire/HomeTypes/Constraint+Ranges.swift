import Synchronization

/// The range that the vocabulary or a device gives to a number.
public struct NumberRange: Sendable, Hashable {
    /// The least number.
    public var lower: JSONObject.Value
    /// The greatest number.
    public var upper: JSONObject.Value

    /// Describes a range.
    public init(lower: JSONObject.Value, upper: JSONObject.Value) {
        self.lower = lower
        self.upper = upper
    }

    init<Value: BinaryInteger>(_ range: ClosedRange<Value>) {
        lower = Self.number(range.lowerBound)
        upper = Self.number(range.upperBound)
    }

    private static func number(_ value: some BinaryInteger) -> JSONObject.Value {
        Int64(exactly: value).map { .integer($0) } ?? .large(UInt64(clamping: value))
    }
}

/// Records the ranges that a check of a record names.
final class RangeRecorder: Sendable {
    private let found = Mutex<[String: NumberRange]>([:])

    func add(_ name: String, _ range: NumberRange) { found.withLock { $0[name] = range } }

    var ranges: [String: NumberRange] { found.withLock { $0 } }
}

extension Constraint {
    /// The ranges of a record's integers, by their names. The names of an inner record's ranges begin with its name and
    /// a dot.
    ///
    /// The ranges are only in the checks that ``VocabularyRecord/validate(at:)`` makes, so a record is checked for them.
    /// - Parameter record: any value of the record, with all its fields.
    public static func ranges(of record: some VocabularyRecord) -> [String: NumberRange] {
        let recorder = RangeRecorder()
        $recorder.withValue(recorder) {
            // What a check refuses for a reason other than a range does not matter here.
            try? record.validate()
        }
        return recorder.ranges
    }
}
