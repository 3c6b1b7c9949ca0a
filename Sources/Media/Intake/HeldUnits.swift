/// Units that wait for the first slice of their frame: a few, and small ones.
struct HeldUnits {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    private static let maximumCount = 16
    private static let maximumSize = 16 * 1024

    var isEmpty: Bool { ends.isEmpty }

    /// Adds a unit. Beyond the bounds it is left out: only messages that viewers do not need come in such numbers.
    mutating func append(_ unit: UnsafeRawBufferPointer) {
        guard ends.count < Self.maximumCount, bytes.count + unit.count <= Self.maximumSize else { return }
        bytes.append(contentsOf: unit)
        ends.append(bytes.count)
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    func forEach(_ body: (UnsafeRawBufferPointer) -> Void) {
        bytes.withUnsafeBytes { all in
            var start = 0
            for end in ends {
                body(UnsafeRawBufferPointer(rebasing: all[start..<end]))
                start = end
            }
        }
    }
}
