extension Array where Element: Comparable {
    /// The element below which `share` (0 to 1) of the others are; nil for an empty array.
    func percentile(_ share: Double) -> Element? {
        guard !isEmpty else { return nil }
        return sorted()[Swift.min(count - 1, Int((Double(count - 1) * share).rounded()))]
    }

    /// The middle element of the sorted ones, or the lower one of two; nil for an empty array.
    var median: Element? {
        isEmpty ? nil : sorted()[(count - 1) / 2]
    }
}

/// A benchmark could not be run.
public struct BenchmarkFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What failed, and how.
    public var description: String

    /// States what failed.
    public init(_ description: String) {
        self.description = description
    }
}
