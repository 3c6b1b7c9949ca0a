/// Cuts encoded VP9 frames without layers into RTP payloads (RFC 9628, non-flexible mode), all of one length except the
/// last, which is not longer.
public struct VP9Packetizer: Sendable {
    /// The longest payload in bytes, with its descriptor.
    public let maximumPayloadLength: Int
    private var nextPictureID: UInt16

    private static let descriptorLength = 3

    /// Starts with a picture identifier, which should be random (RFC 9628, section 4.2).
    public init(maximumPayloadLength: Int = PayloadLimit.standard, firstPictureID: UInt16) {
        self.maximumPayloadLength = max(64, maximumPayloadLength)
        nextPictureID = firstPictureID & 0x7FFF
    }

    /// Hands the payloads of a frame, or of a superframe, in order to `emit`; each lives only as long as the call.
    public mutating func packetize(_ frame: UnsafeRawBufferPointer, _ emit: (PacketizedPayload) -> Void) {
        guard !frame.isEmpty else { return }
        let pictureID = nextPictureID
        nextPictureID = (nextPictureID &+ 1) & 0x7FFF
        let isKeyFrame = VP9.isKeyFrame(frame)
        let size = PayloadLimit.fragmentLength(of: frame.count, limit: maximumPayloadLength - Self.descriptorLength)
        withUnsafeTemporaryAllocation(byteCount: Self.descriptorLength + size, alignment: 8) { scratch in
            var offset = 0
            while offset < frame.count {
                let count = min(size, frame.count - offset)
                let isFirst = offset == 0
                let isLast = offset + count == frame.count
                // I, P, B and E.
                scratch[0] = 0x80 | (isKeyFrame ? 0 : 0x40) | (isFirst ? 0x08 : 0) | (isLast ? 0x04 : 0)
                scratch[1] = 0x80 | UInt8(truncatingIfNeeded: pictureID >> 8)
                scratch[2] = UInt8(truncatingIfNeeded: pictureID)
                UnsafeMutableRawBufferPointer(rebasing: scratch[Self.descriptorLength...]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: frame[offset..<offset + count]))
                emit(
                    PacketizedPayload(
                        bytes: UnsafeRawBufferPointer(rebasing: scratch[..<(Self.descriptorLength + count)]),
                        isFirst: isFirst, isLast: isLast, isKeyFrame: isKeyFrame))
                offset += count
            }
        }
    }
}
