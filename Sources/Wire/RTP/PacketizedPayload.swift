/// One payload that a packetizer made.
public struct PacketizedPayload: BitwiseCopyable {
    /// The payload; it lives only as long as the call that it is handed to.
    public let bytes: UnsafeRawBufferPointer
    /// The first payload of its frame.
    public let isFirst: Bool
    /// The last payload of its frame: the packet carries the marker bit.
    public let isLast: Bool
    /// The frame is one from which decoding can start.
    public let isKeyFrame: Bool

    /// What ``PacketBatch`` keeps of it.
    public var flags: PacketBatch.Flags {
        var flags: PacketBatch.Flags = []
        if isFirst { flags.insert(.startsFrame) }
        if isLast { flags.insert(.marker) }
        if isKeyFrame { flags.insert(.keyFrame) }
        return flags
    }
}

/// How long payloads may be.
public enum PayloadLimit {
    /// The longest payload of the project's own packetizers, in bytes: with at most 48 bytes of header, 16 of SRTP tag
    /// and the two of a retransmission it stays under the 1,232 bytes that IPv6's smallest MTU leaves to UDP (RFC 8200,
    /// section 5).
    public static let standard = 1_160

    /// The length of the fragments into which `length` bytes are cut so that none is longer than `limit`, all are
    /// equal but the last, and the last is no longer.
    public static func fragmentLength(of length: Int, limit: Int) -> Int {
        guard length > 0, limit > 0 else { return 0 }
        let count = (length - 1) / limit + 1
        return (length - 1) / count + 1
    }
}
