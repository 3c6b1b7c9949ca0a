/// Which of the last 128 packets have already come (RFC 3711, section 3.3.2).
struct ReplayWindow: BitwiseCopyable {
    /// The greatest accepted index; meaningless until a packet was accepted.
    private(set) var highest: UInt64 = 0
    private var isEmpty = true
    // Bit n represents the index `highest - n`.
    private var recent: UInt64 = 0
    private var older: UInt64 = 0

    /// How many indices back a late packet is still accepted.
    static let size: UInt64 = 128

    /// Whether `index` is new and not too old.
    func accepts(_ index: UInt64) -> Bool {
        if isEmpty || index > highest { return true }
        let age = highest &- index
        if age < 64 { return recent >> age & 1 == 0 }
        if age < Self.size { return older >> (age &- 64) & 1 == 0 }
        return false
    }

    /// Records that `index`, which the window accepts, was authenticated.
    mutating func note(_ index: UInt64) {
        if isEmpty {
            isEmpty = false
            highest = index
            recent = 1
            return
        }
        if index > highest {
            let step = index &- highest
            // Swift's smart shift returns 0 for a shift by 64 or more.
            older = older << step | (step < 64 ? recent >> (64 &- step) : recent << (step &- 64))
            recent = recent << step | 1
            highest = index
            return
        }
        let age = highest &- index
        if age < 64 {
            recent |= 1 << age
        } else if age < Self.size {
            older |= 1 << (age &- 64)
        }
    }
}
