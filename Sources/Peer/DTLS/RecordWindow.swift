/// Which of the last 64 records have already come (RFC 6347, section 4.1.2.6).
struct RecordWindow: BitwiseCopyable {
    /// The greatest accepted number plus one; 0 before the first record.
    private var end: UInt64 = 0
    /// Bit n represents the record `end - 1 - n`.
    private var seen: UInt64 = 0

    /// Whether a record is new and not too old.
    func accepts(_ number: UInt64) -> Bool {
        guard number < end else { return true }
        let age = end &- 1 &- number
        return age < 64 && seen >> age & 1 == 0
    }

    /// Records that `number`, which the window accepts, was authenticated.
    mutating func record(_ number: UInt64) {
        if number >= end {
            // Swift's smart shift returns 0 for a shift by 64 or more.
            seen = seen << (number &+ 1 &- end) | 1
            end = number &+ 1
        } else {
            seen |= 1 << (end &- 1 &- number)
        }
    }
}
