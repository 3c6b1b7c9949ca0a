/// Cuts what comes over a connection into packets: each has its length in the two bytes before it (RFC 4571, section 2).
///
/// It holds one unfinished frame at most. It allocates only when a frame comes in pieces, and uses that memory again.
public struct FramedStreamReader: Sendable {
    /// A frame is longer than any packet of the session can be; nothing after it is worth reading.
    public struct FrameTooLong: Error, Hashable, Sendable {
        /// The length that the frame names, in bytes.
        public var count: Int

        /// Describes the frame.
        public init(count: Int) {
            self.count = count
        }
    }

    private let longestFrame: Int
    /// The beginning of a frame, with its length.
    private var pending: [UInt8] = []

    /// An empty stream.
    /// - Parameter longestFrame: the most bytes of a packet.
    public init(longestFrame: Int) {
        self.longestFrame = longestFrame
    }

    /// How many bytes of an unfinished frame there are.
    public var pendingByteCount: Int { pending.count }

    /// Takes what has been read, and passes each whole packet to `body`. A frame of length 0 is a null packet, which is
    /// passed on as well.
    public mutating func read(
        _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(FrameTooLong) {
        var rest = bytes
        while !pending.isEmpty, !rest.isEmpty {
            let wanted = pending.count < Frame.headerLength ? Frame.headerLength : try end(pending[0], pending[1])
            let count = min(wanted - pending.count, rest.count)
            pending.append(contentsOf: rest[..<count])
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            guard pending.count >= Frame.headerLength, pending.count == (try end(pending[0], pending[1])) else {
                continue
            }
            pending.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[Frame.headerLength...])) }
            pending.removeAll(keepingCapacity: true)
        }
        while rest.count >= Frame.headerLength {
            let end = try end(rest[0], rest[1])
            guard rest.count >= end else { break }
            body(UnsafeRawBufferPointer(rebasing: rest[Frame.headerLength..<end]))
            rest = UnsafeRawBufferPointer(rebasing: rest[end...])
        }
        pending.append(contentsOf: rest)
    }

    /// Where a frame ends that begins with these bytes.
    private func end(_ high: UInt8, _ low: UInt8) throws(FrameTooLong) -> Int {
        let length = Int(high) << 8 | Int(low)
        guard length <= longestFrame else { throw FrameTooLong(count: length) }
        return Frame.headerLength + length
    }
}

/// Packets that wait until a connection takes them, in their frames (RFC 4571, section 2).
///
/// The queue is bounded. A packet that finds no room is dropped whole, so what leaves is always a stream of whole frames.
public struct FramedStreamQueue: Sendable {
    private let limit: Int
    private var bytes: [UInt8] = []
    private var written = 0
    /// How many packets found no room.
    public private(set) var drops: UInt64 = 0

    /// An empty queue.
    /// - Parameter limit: the most bytes that wait, with the lengths of the frames.
    public init(limit: Int) {
        self.limit = limit
    }

    /// How many bytes wait.
    public var byteCount: Int { bytes.count - written }

    /// Whether nothing waits.
    public var isEmpty: Bool { byteCount == 0 }

    /// Appends a packet. False if there is no room for it, or if it is too long for a frame.
    @discardableResult
    public mutating func append(_ packet: UnsafeRawBufferPointer) -> Bool {
        guard packet.count <= UInt16.max, byteCount + Frame.headerLength + packet.count <= limit else {
            drops += 1
            return false
        }
        bytes.append(UInt8(truncatingIfNeeded: packet.count >> 8))
        bytes.append(UInt8(truncatingIfNeeded: packet.count))
        bytes.append(contentsOf: packet)
        return true
    }

    /// Appends bytes that are not a packet: what answers a ``PseudoTLSOpening``, before all packets.
    public mutating func append(unframed opening: [UInt8]) { bytes.append(contentsOf: opening) }

    /// Passes what waits to `write`, which answers how many bytes it has taken, until it takes none.
    public mutating func drain(_ write: (UnsafeRawBufferPointer) -> Int) {
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[written...])) }
            guard count > 0 else { break }
            written += min(count, bytes.count - written)
        }
        if written == bytes.count {
            bytes.removeAll(keepingCapacity: true)
            written = 0
        } else if written > limit / 2 {
            bytes.removeFirst(written)
            written = 0
        }
    }
}

private enum Frame {
    /// The bytes of the length.
    static let headerLength = 2
}
