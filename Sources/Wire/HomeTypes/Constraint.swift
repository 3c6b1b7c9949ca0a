import Foundation

/// The checks for the constraints of the vocabulary. An absent field satisfies all of them.
public enum Constraint {
    /// Collects the ranges of a record instead of checking them; nil while records are checked.
    @TaskLocal static var recorder: RangeRecorder?

    /// Fails unless a number is in a range.
    public static func range<Value: BinaryInteger>(
        _ value: Value?, _ range: ClosedRange<Value>, _ name: String, at path: String
    ) throws(HomeError) {
        if let recorder = Self.recorder {
            return recorder.add(Self.place(name, path), NumberRange(range))
        }
        guard let value, !range.contains(value) else { return }
        throw .invalidArgument(
            "\(Self.place(name, path)) is \(value); it must be from \(range.lowerBound) to \(range.upperBound)")
    }

    /// Fails for a number that is the end of its range and is not the whole value, like the hour of 24:30.
    /// - Parameter parts: the numbers that count the parts of the first one.
    public static func end<Value: BinaryInteger>(
        _ value: Value?, _ end: Value, parts: [Value?], _ name: String, at path: String
    ) throws(HomeError) {
        guard Self.recorder == nil, value == end, parts.contains(where: { ($0 ?? 0) != 0 }) else { return }
        throw .invalidArgument("\(Self.place(name, path)) is \(end); what comes after it must be 0 or absent then")
    }

    /// Fails unless a text's length in bytes of UTF-8 is in a range.
    public static func length(
        _ value: String?, _ range: some RangeExpression<Int>, _ name: String, at path: String, hint: String = ""
    ) throws(HomeError) {
        guard let value else { return }
        try Self.size(value.utf8.count, of: "byte", range, Self.place(name, path), hint)
    }

    /// Fails unless the number of octets is in a range.
    public static func length(
        _ value: Data?, _ range: some RangeExpression<Int>, _ name: String, at path: String, hint: String = ""
    ) throws(HomeError) {
        guard let value else { return }
        try Self.size(value.count, of: "byte", range, Self.place(name, path), hint)
    }

    /// Fails unless the number of a list's items is in a range.
    public static func items(
        _ value: [some Any]?, _ range: some RangeExpression<Int>, _ name: String, at path: String, hint: String = ""
    ) throws(HomeError) {
        guard let value else { return }
        try Self.size(value.count, of: "item", range, Self.place(name, path), hint)
    }

    /// Fails for a value of an enum that this version does not know.
    public static func recognized<Value: VocabularyEnum>(
        _ value: Value?, _ name: String, at path: String
    ) throws(HomeError) {
        guard Self.recorder == nil, let value, !Value.allCases.contains(value) else { return }
        throw .invalidArgument("\(Self.place(name, path)): expected one of \(Value.names)")
    }

    /// Fails for a list with a value of an enum that this version does not know.
    public static func recognized<Value: VocabularyEnum>(
        _ values: [Value]?, _ name: String, at path: String
    ) throws(HomeError) {
        for (index, value) in (values ?? []).enumerated() {
            try Self.recognized(value, "\(name)[\(index)]", at: path)
        }
    }

    /// Checks a record inside a record.
    public static func record(
        _ value: (some VocabularyRecord)?, _ name: String, at path: String
    ) throws(HomeError) {
        try value?.validate(at: Self.place(name, path))
    }

    /// Checks the records of a list.
    public static func records(
        _ values: [some VocabularyRecord]?, _ name: String, at path: String
    ) throws(HomeError) {
        for (index, value) in (values ?? []).enumerated() {
            try value.validate(at: "\(Self.place(name, path))[\(index)]")
        }
    }

    private static func size(
        _ count: Int, of unit: String, _ range: some RangeExpression<Int>, _ place: String, _ hint: String
    ) throws(HomeError) {
        guard Self.recorder == nil, !range.contains(count) else { return }
        let limits = range.relative(to: 0..<(.max))
        let hint = hint.isEmpty ? "" : "; \(hint)"
        if count == 0 { throw .invalidArgument("\(place) is empty\(hint)") }
        if count < limits.lowerBound {
            throw .invalidArgument("\(place) is shorter than \(limits.lowerBound) \(unit)s\(hint)")
        }
        throw .invalidArgument("\(place) is longer than \(limits.upperBound - 1) \(unit)s\(hint)")
    }

    private static func place(_ name: String, _ path: String) -> String {
        path.isEmpty ? name : "\(path).\(name)"
    }
}
