import Transport

/// How much arrives at the peer in a second, by what it acknowledges (draft-ietf-rmcat-gcc-02, section 5.5: `R_hat`).
///
/// Its clock is the peer's, so a peer can claim any rate. The caller compares it with what was sent.
struct DeliveredRate: Sendable {
    /// The rate is taken over so many slots of this length, in units of 250 µs: half a second.
    private static let slots = 10
    private static let slotLength: Int64 = 200

    private var bytes = Array(repeating: 0, count: slots)
    /// The number of the newest slot.
    private var newest: Int64?
    /// The number of the first slot that counts.
    private var since: Int64 = 0

    /// Counts bytes that arrived at `arrival`, in units of 250 µs on the peer's clock.
    mutating func add(_ count: Int, at arrival: Int64) {
        let slot = arrival / Self.slotLength
        guard let newest, abs(slot &- newest) < Int64(Self.slots) * 20 else {
            restart(at: slot)
            bytes[Self.place(slot)] = count
            return
        }
        if slot > newest {
            for passed in max(newest + 1, slot - Int64(Self.slots) + 1)..<slot + 1 { bytes[Self.place(passed)] = 0 }
            self.newest = slot
        }
        guard slot > (self.newest ?? slot) - Int64(Self.slots) else { return }
        bytes[Self.place(slot)] += count
    }

    /// Bits a second; nil while too little time is covered.
    var bitsPerSecond: Double? {
        guard let newest else { return nil }
        // The newest slot is not over yet.
        let covered = min(Int64(Self.slots), newest - since) - 1
        guard covered >= 4 else { return nil }
        let sum = (newest - covered..<newest).reduce(0) { $0 + bytes[Self.place($1)] }
        return Double(sum * 8) * 4_000 / Double(covered * Self.slotLength)
    }

    private mutating func restart(at slot: Int64) {
        for index in bytes.indices { bytes[index] = 0 }
        newest = slot
        since = slot
    }

    private static func place(_ slot: Int64) -> Int { Int(((slot % Int64(slots)) + Int64(slots)) % Int64(slots)) }
}
