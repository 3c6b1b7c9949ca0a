/// Puts H.264 access units into RTP payloads (RFC 6184, packetization mode 1): parameter sets and other small units go
/// together in aggregations, units that fit go alone, and long ones become fragments of equal length.
public struct H264Packetizer: Sendable {
    /// The longest payload in bytes.
    public let maximumPayloadLength: Int

    /// Sets the longest payload.
    public init(maximumPayloadLength: Int = PayloadLimit.standard) {
        self.maximumPayloadLength = max(64, maximumPayloadLength)
    }

    /// Hands the payloads of an access unit with start codes (annex B) in order to `emit`; each lives only as long as
    /// the call. Access unit delimiters are left out: RTP's marker and timestamp say the same.
    public func packetize(annexB frame: UnsafeRawBufferPointer, _ emit: (PacketizedPayload) -> Void) {
        let isKeyFrame = AnnexBUnits(frame).contains { $0[0] & 0x1F == H264.UnitType.instantaneousDecoderRefresh }
        withUnsafeTemporaryAllocation(byteCount: maximumPayloadLength, alignment: 8) { scratch in
            var output = PayloadBeingFilled(scratch: scratch, isKeyFrame: isKeyFrame)
            var units = AnnexBUnits(frame)
            var upcoming = Self.nextUnit(&units)
            while let unit = upcoming {
                upcoming = Self.nextUnit(&units)
                if unit.count <= maximumPayloadLength {
                    output.append(unit, isLast: upcoming == nil, emit)
                } else {
                    output.flush(isLast: false, emit)
                    output.fragment(unit, isLast: upcoming == nil, emit)
                }
            }
            output.flush(isLast: true, emit)
        }
    }

    private static func nextUnit(_ units: inout AnnexBUnits) -> UnsafeRawBufferPointer? {
        while let unit = units.next() {
            if unit[0] & 0x1F != H264.UnitType.accessUnitDelimiter { return unit }
        }
        return nil
    }
}

/// The payload that is being filled. Units gather in it as an aggregation. A single unit is sent as it is.
private struct PayloadBeingFilled {
    let scratch: UnsafeMutableRawBufferPointer
    let isKeyFrame: Bool
    var length = 0
    var unitCount = 0
    var isFirst = true

    init(scratch: UnsafeMutableRawBufferPointer, isKeyFrame: Bool) {
        self.scratch = scratch
        self.isKeyFrame = isKeyFrame
    }

    mutating func append(_ unit: UnsafeRawBufferPointer, isLast: Bool, _ emit: (PacketizedPayload) -> Void) {
        // Each slice goes alone: aggregation would save nothing and delay the first one.
        guard (6...8).contains(unit[0] & 0x1F) else {
            flush(isLast: false, emit)
            send(unit, isLast: isLast, emit)
            return
        }
        if length + 2 + unit.count > scratch.count { flush(isLast: false, emit) }
        guard max(length, 1) + 2 + unit.count <= scratch.count else {
            send(unit, isLast: isLast, emit)
            return
        }
        if length == 0 {
            scratch[0] = H264.UnitType.singleTimeAggregation
            length = 1
        }
        // The aggregation's header carries the highest importance of its units and any forbidden bit.
        scratch[0] = max(scratch[0] & 0x60, unit[0] & 0x60) | (scratch[0] | unit[0]) & 0x80 | 24
        scratch[length] = UInt8(truncatingIfNeeded: unit.count >> 8)
        scratch[length + 1] = UInt8(truncatingIfNeeded: unit.count)
        UnsafeMutableRawBufferPointer(rebasing: scratch[(length + 2)...]).copyMemory(from: unit)
        length += 2 + unit.count
        unitCount += 1
    }

    mutating func flush(isLast: Bool, _ emit: (PacketizedPayload) -> Void) {
        guard length > 0 else { return }
        // An aggregation of one is that unit, without the three bytes of head.
        let start = unitCount == 1 ? 3 : 0
        let payload = UnsafeRawBufferPointer(rebasing: scratch[start..<length])
        length = 0
        unitCount = 0
        send(payload, isLast: isLast, emit)
    }

    mutating func fragment(_ unit: UnsafeRawBufferPointer, isLast: Bool, _ emit: (PacketizedPayload) -> Void) {
        let size = PayloadLimit.fragmentLength(of: unit.count - 1, limit: scratch.count - 2)
        var offset = 1
        while offset < unit.count {
            let count = min(size, unit.count - offset)
            let isEnd = offset + count == unit.count
            scratch[0] = unit[0] & 0xE0 | H264.UnitType.fragmentationUnit
            scratch[1] = unit[0] & 0x1F | (offset == 1 ? 0x80 : 0) | (isEnd ? 0x40 : 0)
            UnsafeMutableRawBufferPointer(rebasing: scratch[2...]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: unit[offset..<offset + count]))
            send(UnsafeRawBufferPointer(rebasing: scratch[..<(count + 2)]), isLast: isLast && isEnd, emit)
            offset += count
        }
    }

    private mutating func send(
        _ payload: UnsafeRawBufferPointer, isLast: Bool, _ emit: (PacketizedPayload) -> Void
    ) {
        emit(PacketizedPayload(bytes: payload, isFirst: isFirst, isLast: isLast, isKeyFrame: isKeyFrame))
        isFirst = false
    }
}
