/// The VP9 payload format (RFC 9628).
public enum VP9 {
    /// Whether this payload is the first of a frame from which decoding can start.
    public static func isKeyFrameStart(payload: UnsafeRawBufferPointer) -> Bool {
        guard let descriptor = VP9PayloadDescriptor(parsing: payload), descriptor.startsPicture else { return false }
        return !descriptor.isInterPredicted
    }

    /// Whether a whole frame is a key frame, by its uncompressed header (VP9 bitstream specification, section 6.2).
    public static func isKeyFrame(_ frame: UnsafeRawBufferPointer) -> Bool {
        guard let first = frame.first, first >> 6 == 2 else { return false }
        // Profile 3 has one more bit before show_existing_frame and frame_type.
        let shift: UInt8 = first & 0x30 == 0x30 ? 1 : 0
        return first << shift & 0x0C == 0
    }
}

/// The descriptor before the VP9 data in each payload (RFC 9628, section 4.2).
public struct VP9PayloadDescriptor: Equatable, Sendable, BitwiseCopyable {
    /// The descriptor's length in bytes.
    public var length: Int
    /// The frame refers to another one (the P bit).
    public var isInterPredicted: Bool
    /// The payload starts a frame of a layer (the B bit).
    public var startsFrame: Bool
    /// The payload ends a frame of a layer (the E bit).
    public var endsFrame: Bool
    /// The picture identifier, 7 or 15 bits; nil when there is none.
    public var pictureID: UInt16?
    /// The spatial layer, 0 to 7; 0 without layers.
    public var spatialLayer: UInt8

    /// The payload is the first of a picture: it starts the frame of the lowest layer.
    public var startsPicture: Bool { startsFrame && spatialLayer == 0 }

    /// Reads the descriptor at the start of a payload; nil when it is cut short or no VP9 data follows it.
    public init?(parsing payload: UnsafeRawBufferPointer) {
        guard let first = payload.first else { return nil }
        isInterPredicted = first & 0x40 != 0
        startsFrame = first & 0x08 != 0
        endsFrame = first & 0x04 != 0
        let isFlexible = first & 0x10 != 0
        pictureID = nil
        spatialLayer = 0
        var end = 1
        if first & 0x80 != 0 {
            guard payload.count > end + 1 else { return nil }
            let head = payload[end]
            if head & 0x80 != 0 {
                pictureID = UInt16(head & 0x7F) << 8 | UInt16(payload[end + 1])
                end += 2
            } else {
                pictureID = UInt16(head)
                end += 1
            }
        }
        if first & 0x20 != 0 {
            guard payload.count > end else { return nil }
            spatialLayer = payload[end] >> 1 & 7
            // Outside the flexible mode the running index of the lowest temporal layer follows.
            end += isFlexible ? 1 : 2
        }
        if isFlexible, isInterPredicted {
            var references = 0
            repeat {
                guard references < 3, payload.count > end else { return nil }
                references += 1
                end += 1
            } while payload[end - 1] & 1 != 0
        }
        if first & 0x02 != 0 {
            guard let structureLength = Self.structureLength(payload.from(end)) else { return nil }
            end += structureLength
        }
        guard payload.count > end else { return nil }
        length = end
    }

    /// The length of the scalability structure; nil when it is cut short.
    private static func structureLength(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard let first = bytes.first else { return nil }
        var end = 1
        if first & 0x10 != 0 { end += (Int(first >> 5) + 1) * 4 }
        if first & 0x08 != 0 {
            guard bytes.count > end else { return nil }
            let count = Int(bytes[end])
            end += 1
            for _ in 0..<count {
                guard bytes.count > end else { return nil }
                end += 1 + Int(bytes[end] >> 2 & 3)
            }
        }
        return bytes.count >= end ? end : nil
    }
}
