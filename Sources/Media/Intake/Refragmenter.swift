/// Cuts a camera's fragments again, so that each fits a viewer's datagram: cameras over TCP send packets of up to 64
/// KiB, and 1,400 bytes are usual.
///
/// Fragments of one unit are joined and cut at the limit. So all except the last have the same length, and their number
/// grows as little as possible. A piece goes out as soon as its bytes have arrived.
struct Refragmenter {
    /// How a format marks the first and the last fragment in the header that precedes each.
    struct Marking {
        /// The header's byte that holds the marks.
        var byte: Int
        /// Set in the first fragment only.
        var start: UInt8
        /// Set in the last fragment only.
        var end: UInt8

        /// The S and E bits of an FU header (RFC 6184, section 5.8).
        static let fragmentationUnit = Marking(byte: 1, start: 0x80, end: 0x40)
        /// The S and E bits of an FU header (RFC 7798, section 4.4.3).
        static let h265FragmentationUnit = Marking(byte: 2, start: 0x80, end: 0x40)
        /// The B and E bits of a VP9 payload descriptor (RFC 9628, section 4.2).
        static let vp9 = Marking(byte: 0, start: 0x08, end: 0x04)
        /// The S bit of a VP8 payload descriptor (RFC 7741, section 4.2).
        static let vp8 = Marking(byte: 0, start: 0x10, end: 0)
    }

    /// The longest piece, including its header.
    let limit: Int
    private let marking: Marking
    private var header: [UInt8] = []
    /// Free bytes for the header, then the waiting bytes.
    private var waiting: [UInt8] = []
    private var isFirst = false

    /// Starts without a unit; allocates nothing.
    init(limit: Int, marking: Marking) {
        self.limit = limit
        self.marking = marking
    }

    /// Whether a unit has been begun and not ended.
    private(set) var isActive = false

    /// Begins a unit. `header` goes before each piece; `isFirst` says whether the unit's first bytes have come.
    mutating func begin(header: some Sequence<UInt8>, isFirst: Bool) {
        self.header.removeAll(keepingCapacity: true)
        self.header.append(contentsOf: header)
        self.header[marking.byte] &= ~(marking.start | marking.end)
        self.isFirst = isFirst
        waiting.removeAll(keepingCapacity: true)
        waiting.append(contentsOf: self.header)
        isActive = true
    }

    /// Drops a unit of which a part is lost.
    mutating func cancel() {
        isActive = false
        waiting.removeAll(keepingCapacity: true)
    }

    /// Adds bytes and hands full pieces to `emit`, with whether each is the unit's last piece. As long as the unit is
    /// longer than the limit, no piece is marked as both first and last.
    mutating func append(
        _ bytes: UnsafeRawBufferPointer, isLast: Bool, _ emit: (UnsafeRawBufferPointer, _ isLast: Bool) -> Void
    ) {
        guard isActive else { return }
        waiting.append(contentsOf: bytes)
        let head = header.count
        let (size, marking, header) = (limit - head, marking, header)
        var isFirst = isFirst
        var offset = head
        waiting.withUnsafeMutableBytes { buffer in
            // At least one byte stays until the end is known, so that the last piece can be marked.
            while buffer.count - offset > size || (isLast && offset < buffer.count) {
                let count = min(size, buffer.count - offset)
                let ends = isLast && offset + count == buffer.count
                // The bytes before `offset` have gone out already: the piece's header goes there.
                for index in 0..<head { buffer[offset - head + index] = header[index] }
                if isFirst { buffer[offset - head + marking.byte] |= marking.start }
                if ends { buffer[offset - head + marking.byte] |= marking.end }
                isFirst = false
                emit(UnsafeRawBufferPointer(rebasing: buffer[(offset - head)..<(offset + count)]), ends)
                offset += count
            }
        }
        self.isFirst = isFirst
        if isLast {
            cancel()
        } else if offset > head {
            waiting.removeSubrange(head..<offset)
        }
    }
}
