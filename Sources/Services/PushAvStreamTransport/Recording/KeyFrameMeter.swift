/// Learns how far the key frames of a camera are apart, from their RTP timestamps. Pure.
///
/// Requests of viewers bring key frames in between, so three equal distances in a row count as the camera's own. A camera
/// loses its interval only when none of its latest distances are equal.
struct KeyFrameMeter: Sendable {
    /// How many distances are remembered, and how many in a row have to be equal.
    private static let memory = 8, proof = 3

    private var last: UInt32?
    /// In milliseconds, the oldest first.
    private var distances: [Int64] = []
    /// The interval in milliseconds, as `CameraAvStreamManagement` has it; nil while there is no steady one.
    private(set) var interval: UInt16?

    /// A key frame has come.
    /// - Parameters:
    ///   - timestamp: its RTP timestamp.
    ///   - clockRate: the ticks of a second.
    /// - Returns: whether ``interval`` is another one now.
    mutating func record(_ timestamp: UInt32, clockRate: Int) -> Bool {
        defer { last = timestamp }
        guard let last, clockRate > 0 else { return false }
        let ticks = Int32(bitPattern: timestamp &- last)
        // A jump of the camera's clock is not a distance.
        guard ticks > 0 else { return false }
        distances.append((Int64(ticks) * 1_000 + Int64(clockRate) / 2) / Int64(clockRate))
        if distances.count > Self.memory { distances.removeFirst() }
        let before = interval
        if let steady = steady(endingAt: distances.count) {
            interval = UInt16(exactly: Self.nominal(steady))
        } else if distances.count == Self.memory,
            !(Self.proof..<Self.memory).contains(where: { steady(endingAt: $0) != nil })
        {
            interval = nil
        }
        return interval != before
    }

    /// Pictures were lost, or the camera's stream began again: the next key frame follows no other.
    mutating func interrupt() { last = nil }

    /// The distance that the last ones before an index have in common.
    private func steady(endingAt end: Int) -> Int64? {
        guard end >= Self.proof else { return nil }
        let latest = distances[(end - Self.proof)..<end]
        guard let least = latest.min(), let most = latest.max(), most - least <= max(most / 100, 2) else { return nil }
        return latest.reduce(0, +) / Int64(Self.proof)
    }

    /// A camera of 29.97 pictures a second has 2002 ms between key frames and means 2000.
    private static func nominal(_ distance: Int64) -> Int64 {
        let round = (distance + 50) / 100 * 100
        return round > 0 && abs(round - distance) <= distance / 200 ? round : distance
    }
}
