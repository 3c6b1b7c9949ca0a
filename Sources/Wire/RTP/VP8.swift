/// The VP8 payload format (RFC 7741).
public enum VP8 {
    /// Whether this payload is the first of a key frame.
    @inlinable
    public static func isKeyFrameStart(payload: UnsafeRawBufferPointer) -> Bool {
        guard let descriptor = VP8PayloadDescriptor(parsing: payload), descriptor.startsFrame else { return false }
        // The inverse key frame bit of the frame's first byte (RFC 6386, section 9.1).
        return payload[descriptor.length] & 1 == 0
    }

    /// Whether this payload is the first of a frame.
    @inlinable
    public static func isFrameStart(payload: UnsafeRawBufferPointer) -> Bool {
        VP8PayloadDescriptor(parsing: payload)?.startsFrame ?? false
    }

    /// What the first bytes of an encoded VP8 frame say (RFC 6386, section 9.1).
    public struct FrameHeader: Equatable, Sendable, BitwiseCopyable {
        /// Whether decoding can start here.
        public let isKeyFrame: Bool
        /// Whether the frame is to be shown.
        public let isShown: Bool
        /// The picture's width in pixels; zero for frames other than key frames.
        public let width: Int
        /// The picture's height in pixels; zero for frames other than key frames.
        public let height: Int

        /// Reads the header of a whole frame; nil when it is cut short or a key frame lacks its start code.
        public init?(parsing frame: UnsafeRawBufferPointer) {
            guard frame.count >= 3 else { return nil }
            isKeyFrame = frame[0] & 1 == 0
            isShown = frame[0] & 0x10 != 0
            guard isKeyFrame else {
                width = 0
                height = 0
                return
            }
            guard frame.count >= 10, frame[3] == 0x9D, frame[4] == 0x01, frame[5] == 0x2A else { return nil }
            // Each side is little-endian in 14 bits, under two bits of scaling.
            width = Int(frame[6]) | Int(frame[7] & 0x3F) << 8
            height = Int(frame[8]) | Int(frame[9] & 0x3F) << 8
        }
    }
}

/// The descriptor before the VP8 data in each payload (RFC 7741, section 4.2).
public struct VP8PayloadDescriptor: Equatable, Sendable, BitwiseCopyable {
    /// The descriptor's length in bytes.
    public var length: Int
    /// The payload starts a partition (the S bit).
    public var startsPartition: Bool
    /// The partition's index, 0 to 7.
    public var partitionIndex: UInt8
    /// No other frame refers to this one (the N bit).
    public var isNonReference: Bool
    /// The picture identifier, 7 or 15 bits; nil when there is none.
    public var pictureID: UInt16?
    /// Whether the picture identifier has 15 bits.
    public var hasLongPictureID: Bool
    /// The temporal layer's running base index.
    public var temporalLevelZeroIndex: UInt8?
    /// The temporal layer, 0 to 3.
    public var temporalLayer: UInt8?

    /// The payload is the first of a frame: it starts partition 0.
    @inlinable public var startsFrame: Bool { startsPartition && partitionIndex == 0 }

    /// Reads the descriptor at the start of a payload; nil when it is cut short or no VP8 data follows it.
    @inlinable
    public init?(parsing payload: UnsafeRawBufferPointer) {
        guard let first = payload.first else { return nil }
        var end = 1
        isNonReference = first & 0x20 != 0
        startsPartition = first & 0x10 != 0
        partitionIndex = first & 0x07
        pictureID = nil
        hasLongPictureID = false
        temporalLevelZeroIndex = nil
        temporalLayer = nil
        if first & 0x80 != 0 {
            guard payload.count > 1 else { return nil }
            let present = payload[1]
            end = 2
            if present & 0x80 != 0 {
                guard payload.count > end else { return nil }
                let head = payload[end]
                if head & 0x80 != 0 {
                    guard payload.count > end + 1 else { return nil }
                    pictureID = UInt16(head & 0x7F) << 8 | UInt16(payload[end + 1])
                    hasLongPictureID = true
                    end += 2
                } else {
                    pictureID = UInt16(head)
                    end += 1
                }
            }
            if present & 0x40 != 0 {
                guard payload.count > end else { return nil }
                temporalLevelZeroIndex = payload[end]
                end += 1
            }
            // The layer and the key index share a byte, which is present for either.
            if present & 0x30 != 0 {
                guard payload.count > end else { return nil }
                if present & 0x20 != 0 { temporalLayer = payload[end] >> 6 }
                end += 1
            }
        }
        guard payload.count > end else { return nil }
        length = end
    }
}

/// Cuts encoded VP8 frames into RTP payloads (RFC 7741), all of one length except the last, which is not longer.
public struct VP8Packetizer: Sendable {
    /// The longest payload in bytes, with its descriptor.
    public let maximumPayloadLength: Int
    /// The picture identifier of the next frame, 15 bits.
    public private(set) var nextPictureID: UInt16

    private static let descriptorLength = 4

    /// Starts with a picture identifier, which should be random (RFC 7741, section 4.2).
    public init(maximumPayloadLength: Int = PayloadLimit.standard, firstPictureID: UInt16) {
        self.maximumPayloadLength = max(64, maximumPayloadLength)
        nextPictureID = firstPictureID & 0x7FFF
    }

    /// Hands the payloads of `frame` in order to `emit`; each lives only as long as the call.
    public mutating func packetize(_ frame: UnsafeRawBufferPointer, _ emit: (PacketizedPayload) -> Void) {
        guard !frame.isEmpty else { return }
        let pictureID = nextPictureID
        nextPictureID = (nextPictureID &+ 1) & 0x7FFF
        let isKeyFrame = frame[0] & 1 == 0
        let size = PayloadLimit.fragmentLength(of: frame.count, limit: maximumPayloadLength - Self.descriptorLength)
        withUnsafeTemporaryAllocation(byteCount: Self.descriptorLength + size, alignment: 8) { scratch in
            var offset = 0
            while offset < frame.count {
                let count = min(size, frame.count - offset)
                scratch[0] = offset == 0 ? 0x90 : 0x80
                scratch[1] = 0x80
                scratch[2] = 0x80 | UInt8(pictureID >> 8)
                scratch[3] = UInt8(truncatingIfNeeded: pictureID)
                UnsafeMutableRawBufferPointer(rebasing: scratch[Self.descriptorLength...]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: frame[offset..<offset + count]))
                let payload = UnsafeRawBufferPointer(rebasing: scratch[..<(Self.descriptorLength + count)])
                offset += count
                emit(
                    PacketizedPayload(
                        bytes: payload, isFirst: offset == count, isLast: offset == frame.count, isKeyFrame: isKeyFrame)
                )
            }
        }
    }
}
