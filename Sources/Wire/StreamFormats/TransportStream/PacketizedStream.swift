/// One elementary stream of a transport stream: what has come of its newest packet (ISO/IEC 13818-1, section 2.4.3.6).
struct PacketizedStream: Sendable {
    /// What the stream holds.
    enum Content: Sendable, Equatable {
        case h264, h265, aac, opus
    }

    let content: Content
    /// The position of its track; nil before it is described.
    var track: Int?
    var sound = ADTSReader()
    private var bytes: [UInt8] = []
    /// Whether the beginning of the packet has come.
    private var isActive = false
    private var continuity: UInt8?
    /// The length that the packet's header names; nil for one that ends with the next.
    private var expected: Int?

    init(_ content: Content) { self.content = content }

    /// The longest packet, in bytes. Those of sound have a length of 16 bits and may hold thousands of frames, each of
    /// which becomes a unit.
    private var maximumLength: Int {
        switch content {
        case .h264, .h265: StreamUnit.maximumLength
        case .aac, .opus: 1 << 17
        }
    }

    /// A packet without its header, and its timestamps of 33 bits.
    struct Packet {
        var bytes: ArraySlice<UInt8>
        var presentation: Int64
        var decoding: Int64
    }

    /// Takes the payload of one packet of the transport stream, and passes what it completes to `body`.
    mutating func append(
        _ payload: UnsafeRawBufferPointer, startsPacket: Bool, continuity: UInt8, isDiscontinuous: Bool,
        _ body: (Packet) -> Void
    ) {
        if let last = self.continuity, !isDiscontinuous {
            // The same number once more is the same packet once more.
            if continuity == last { return }
            if continuity != (last + 1) & 0xF { lose() }
        }
        self.continuity = continuity
        if startsPacket {
            finish(body)
            isActive = true
        }
        guard isActive else { return }
        guard bytes.count + payload.count <= maximumLength else {
            lose()
            return
        }
        bytes.append(contentsOf: payload)
        if startsPacket, bytes.count >= 6 {
            let length = Int(bytes[4]) << 8 | Int(bytes[5])
            expected = length == 0 ? nil : 6 + length
        }
        if let expected, bytes.count >= expected { finish(body) }
    }

    /// Passes the packet that has come to `body`, though its end was not announced.
    mutating func finish(_ body: (Packet) -> Void) {
        defer {
            bytes.removeAll(keepingCapacity: true)
            isActive = false
            expected = nil
        }
        guard isActive, bytes.count >= 9, bytes[0] == 0, bytes[1] == 0, bytes[2] == 1 else { return }
        // A packet of announced length that is cut off is damaged.
        if let expected, bytes.count < expected { return }
        let end = expected ?? bytes.count
        let start = 9 + Int(bytes[8])
        guard start <= end, let shown = timestamp(at: 9, before: start, isThere: bytes[7] & 0x80 != 0) else { return }
        let decoded = timestamp(at: 14, before: start, isThere: bytes[7] & 0x40 != 0) ?? shown
        body(Packet(bytes: bytes[start..<end], presentation: shown, decoding: decoded))
    }

    /// Packets are missing: the one that is coming cannot be complete.
    private mutating func lose() {
        bytes.removeAll(keepingCapacity: true)
        isActive = false
        expected = nil
        sound.lose()
    }

    private func timestamp(at offset: Int, before end: Int, isThere: Bool) -> Int64? {
        guard isThere, offset + 5 <= end, offset + 5 <= bytes.count else { return nil }
        let high = Int64(bytes[offset] >> 1 & 7) << 30
        let middle = Int64(bytes[offset + 1]) << 22 | Int64(bytes[offset + 2] >> 1) << 15
        return high | middle | Int64(bytes[offset + 3]) << 7 | Int64(bytes[offset + 4] >> 1)
    }
}
