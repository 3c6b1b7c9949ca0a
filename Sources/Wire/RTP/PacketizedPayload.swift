/// One payload that a packetizer made.
public struct PacketizedPayload: BitwiseCopyable {
    /// The payload; valid only during the call that receives it.
    public let bytes: UnsafeRawBufferPointer
    /// The first payload of its frame.
    public let isFirst: Bool
    /// The last payload of its frame: the packet carries the marker bit.
    public let isLast: Bool
    /// The frame is one from which decoding can start.
    public let isKeyFrame: Bool

    /// The flags that ``PacketBatch`` keeps.
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
    /// The longest payload of the project's own packetizers, in bytes.
    public static let standard = 1_160

    /// The longest payload that fits every path, in bytes. With a header of 24 bytes (the extensions with the transport-wide
    /// sequence number and the playout delay), 16 of SRTP tag, two of a retransmission and four of a TURN channel it stays
    /// within the 1,232 bytes that IPv6's smallest MTU leaves for UDP (RFC 8200, section 5). Packets of 1,192 bytes, which
    /// many cameras send, pass unchanged.
    public static let everyPath = 1_186

    /// The length of fragments when `length` bytes are cut evenly. None is longer than `limit`, all except the last are
    /// equal, and the last is not longer.
    public static func fragmentLength(of length: Int, limit: Int) -> Int {
        guard length > 0, limit > 0 else { return 0 }
        let count = (length - 1) / limit + 1
        return (length - 1) / count + 1
    }
}
