import Transport

/// Cuts a stream from a TURN server into messages: STUN messages and channel data (RFC 8656, sections 3.1 and 12.5).
public struct TURNStreamReader: Sendable {
    /// The stream holds something that is neither; nothing after it can be read.
    public struct Malformed: Error, Hashable, Sendable {}

    /// The most bytes that wait for the end of a message.
    private static let maximum = 70_000
    private var bytes: [UInt8] = []
    private var start = 0

    /// An empty stream.
    public init() {}

    /// Appends what has been read.
    public mutating func append(_ read: UnsafeRawBufferPointer) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: read)
    }

    /// Passes the next whole message to `body`; false when there is none yet.
    public mutating func next(_ body: (UnsafeRawBufferPointer) -> Void) throws(Malformed) -> Bool {
        guard bytes.count - start >= 4 else { return false }
        let length = Int(bytes[start + 2]) << 8 | Int(bytes[start + 3])
        let (count, padded): (Int, Int)
        switch bytes[start] {
        case 0...3:
            guard length & 3 == 0 else { throw Malformed() }
            (count, padded) = (20 + length, 20 + length)
        case 0x40...0x4F: (count, padded) = (4 + length, (4 + length + 3) & ~3)
        default: throw Malformed()
        }
        guard bytes.count - start >= padded else {
            if bytes.count - start > Self.maximum { throw Malformed() }
            return false
        }
        let begin = start
        start += padded
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[begin..<begin + count])) }
        return true
    }
}
