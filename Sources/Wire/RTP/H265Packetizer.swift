/// Puts H.265 access units into RTP payloads (RFC 7798, section 4.4): units that fit go alone, and long ones become
/// fragments of equal length.
public struct H265Packetizer: Sendable {
    /// The longest payload in bytes.
    public let maximumPayloadLength: Int

    /// Sets the longest payload.
    public init(maximumPayloadLength: Int = PayloadLimit.standard) {
        self.maximumPayloadLength = max(64, maximumPayloadLength)
    }

    /// Hands the payloads of an access unit with start codes (annex B) in order to `emit`; each lives only as long as
    /// the call. Access unit delimiters are left out: RTP's marker and timestamp say the same.
    public func packetize(annexB frame: UnsafeRawBufferPointer, _ emit: (PacketizedPayload) -> Void) {
        let isKeyFrame = AnnexBUnits(frame).contains { H265.isRandomAccessPoint(H265.type($0[0])) }
        var units = AnnexBUnits(frame)
        var upcoming = Self.nextUnit(&units)
        var isFirst = true
        while let unit = upcoming {
            upcoming = Self.nextUnit(&units)
            let isLastUnit = upcoming == nil
            func send(_ payload: UnsafeRawBufferPointer, isLast: Bool) {
                emit(PacketizedPayload(bytes: payload, isFirst: isFirst, isLast: isLast, isKeyFrame: isKeyFrame))
                isFirst = false
            }
            if unit.count <= maximumPayloadLength {
                send(unit, isLast: isLastUnit)
            } else {
                fragment(unit) { payload, isEnd in send(payload, isLast: isLastUnit && isEnd) }
            }
        }
    }

    /// Section 4.4.3: the unit's header is in each fragment's, with another type, and the unit's type follows.
    private func fragment(_ unit: UnsafeRawBufferPointer, _ send: (UnsafeRawBufferPointer, _ isEnd: Bool) -> Void) {
        let head = H265.headerLength
        let size = PayloadLimit.fragmentLength(of: unit.count - head, limit: maximumPayloadLength - head - 1)
        withUnsafeTemporaryAllocation(byteCount: size + head + 1, alignment: 8) { scratch in
            var offset = head
            while offset < unit.count {
                let count = min(size, unit.count - offset)
                let isEnd = offset + count == unit.count
                scratch[0] = H265.header(unit[0], withType: H265.UnitType.fragmentationUnit)
                scratch[1] = unit[1]
                scratch[2] = H265.type(unit[0]) | (offset == head ? 0x80 : 0) | (isEnd ? 0x40 : 0)
                UnsafeMutableRawBufferPointer(rebasing: scratch[(head + 1)...]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: unit[offset..<offset + count]))
                send(UnsafeRawBufferPointer(rebasing: scratch[..<(count + head + 1)]), isEnd)
                offset += count
            }
        }
    }

    private static func nextUnit(_ units: inout AnnexBUnits) -> UnsafeRawBufferPointer? {
        while let unit = units.next() {
            if unit.count > H265.headerLength, H265.type(unit[0]) != H265.UnitType.accessUnitDelimiter { return unit }
        }
        return nil
    }
}
