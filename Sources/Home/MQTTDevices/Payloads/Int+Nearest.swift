extension Int {
    /// The whole number nearest to `value`, within `range`. Every conversion of a measured or computed number uses this
    /// initializer: `Int(_: Double)` ends the process for infinity, for NaN and for numbers that do not fit.
    ///
    /// NaN, which messages should never lead to, becomes 0, or the lower bound if 0 is outside the range.
    init(nearestTo value: Double, in range: ClosedRange<Int> = Int.min...Int.max) {
        let rounded = value.rounded()
        if rounded.isNaN {
            self = range.contains(0) ? 0 : range.lowerBound
        } else if rounded <= Double(range.lowerBound) {
            self = range.lowerBound
        } else if rounded >= Double(range.upperBound) {
            self = range.upperBound
        } else {
            // The number is more than the lower and less than the upper bound, so it is less than 2^63 and fits.
            self = Int(rounded)
        }
    }
}
