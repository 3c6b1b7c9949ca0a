/// Bytes that wait for a stream's socket, which takes as many as it has room for.
///
/// On a line that is narrower than what comes, something always waits. So the memory of what has gone is used again
/// while something waits, and not only when nothing does.
struct StreamOutput {
    /// From how many bytes on that have gone the rest moves to the front, which costs a copy of it.
    private static let roomToMove = 64 << 10

    private var bytes: [UInt8] = []
    /// How many of them have gone.
    private var written = 0

    /// How many bytes wait.
    var count: Int { bytes.count - written }
    /// How many bytes are held, with those that have gone.
    var footprint: Int { bytes.count }

    /// Adds bytes at the end.
    mutating func append(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }

    /// Passes what waits to `body`.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[written...])) }
    }

    /// The first `count` of the bytes that wait have gone.
    mutating func remove(_ count: Int) {
        written += count
        if written == bytes.count {
            bytes.removeAll(keepingCapacity: true)
        } else if written >= max(Self.roomToMove, bytes.count - written) {
            // Each byte that is moved has one that has gone to pay for it.
            bytes.removeFirst(written)
        } else {
            return
        }
        written = 0
    }
}
