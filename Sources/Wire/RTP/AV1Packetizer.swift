/// Puts AV1 temporal units into RTP payloads (RTP Payload Format For AV1, section 4): units without their sizes, and
/// without temporal delimiters, padding and tile lists.
public struct AV1Packetizer: Sendable {
    /// The longest payload in bytes.
    public let maximumPayloadLength: Int

    /// Sets the longest payload.
    public init(maximumPayloadLength: Int = PayloadLimit.standard) {
        self.maximumPayloadLength = max(64, maximumPayloadLength)
    }

    /// Hands the payloads of a temporal unit, whose units have their sizes, in order to `emit`; each lives only as long
    /// as the call. What follows a unit that cannot be read is left out.
    public func packetize(temporalUnit: UnsafeRawBufferPointer, _ emit: (PacketizedPayload) -> Void) {
        let isKeyFrame = AV1.isKeyFrame(temporalUnit)
        // One payload with all elements, which is then cut.
        var whole: [UInt8] = [isKeyFrame ? 0x08 : 0]
        whole.reserveCapacity(temporalUnit.count + 8)
        Self.forEachUnit(temporalUnit) { header, extended, content in
            let length = 1 + (extended == nil ? 0 : 1) + content.count
            Self.appendLength(length, to: &whole)
            // Without `obu_has_size_field`.
            whole.append(header & ~0x02)
            if let extended { whole.append(extended) }
            whole.append(contentsOf: content)
        }
        guard whole.count > 1 else { return }
        var isFirst = true
        whole.withUnsafeBytes { bytes in
            AV1.split(bytes, limit: maximumPayloadLength) { payload, isLast in
                emit(PacketizedPayload(bytes: payload, isFirst: isFirst, isLast: isLast, isKeyFrame: isKeyFrame))
                isFirst = false
            }
        }
    }

    private static func forEachUnit(
        _ bytes: UnsafeRawBufferPointer,
        _ body: (_ header: UInt8, _ extended: UInt8?, _ content: UnsafeRawBufferPointer) -> Void
    ) {
        var offset = 0
        while offset < bytes.count {
            let header = bytes[offset]
            offset += 1
            var extended: UInt8?
            if header & 0x04 != 0 {
                guard offset < bytes.count else { return }
                extended = bytes[offset]
                offset += 1
            }
            var length = bytes.count - offset
            if header & 0x02 != 0 {
                guard let field = AV1.lengthField(bytes.from(offset)) else { return }
                offset += field.size
                length = field.value
            }
            guard length <= bytes.count - offset else { return }
            let isLeftOut = [AV1.UnitType.temporalDelimiter, AV1.UnitType.tileList, AV1.UnitType.padding].contains(
                AV1.type(header))
            if !isLeftOut { body(header, extended, UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])) }
            offset += length
        }
    }

    private static func appendLength(_ length: Int, to bytes: inout [UInt8]) {
        var rest = length
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }
}
