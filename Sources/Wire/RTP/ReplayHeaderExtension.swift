import Transport

/// The RTP header extension of recorded media (ONVIF Streaming Specification, section 6.3): when a frame was captured, and
/// what follows it. It is the whole extension of the packet, so it needs no `a=extmap`.
public struct ReplayHeaderExtension: Hashable, Sendable, BitwiseCopyable {
    /// What the extension says about its frame.
    public struct Flags: OptionSet, Hashable, Sendable, BitwiseCopyable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Decoding can begin with the frame (C).
        public static let cleanPoint = Flags(rawValue: 0x80)
        /// The last packet before a time without footage, or before the end (E).
        public static let endOfSection = Flags(rawValue: 0x40)
        /// The frame does not follow the one that was sent before it (D).
        public static let discontinuity = Flags(rawValue: 0x20)
        /// The last packet of the track (T).
        public static let terminal = Flags(rawValue: 0x10)
    }

    /// The `defined by profile` field (RFC 3550, section 5.3.1).
    public static let profile: UInt16 = 0xABAC
    /// The length of the extension with its head, in bytes.
    public static let length = 16

    /// When the frame was captured.
    public var time: NTPTimestamp
    public var flags: Flags
    /// The low byte of the `CSeq` of the PLAY that the packet answers.
    public var sequence: UInt8

    /// Describes a frame.
    public init(time: NTPTimestamp, flags: Flags, sequence: UInt8) {
        self.time = time
        self.flags = flags
        self.sequence = sequence
    }

    /// What one packet of the frame carries. A frame in several packets has one discontinuity, before its first one, and
    /// one end, after its last one.
    public func part(isFirst: Bool, isLast: Bool) -> ReplayHeaderExtension {
        var part = self
        if !isFirst { part.flags.remove(.discontinuity) }
        if !isLast { part.flags.subtract([.endOfSection, .terminal]) }
        return part
    }

    /// Writes the extension behind a fixed header without another one, and sets that header's X bit.
    /// - Parameter packet: the packet, whose header has `headerLength` bytes.
    /// - Returns: false, with nothing written, where it does not fit.
    public func write(into packet: UnsafeMutableRawBufferPointer, headerLength: Int) -> Bool {
        guard headerLength >= RTPPacketView.fixedHeaderLength, packet.count >= headerLength + Self.length else {
            return false
        }
        packet[0] |= 0x10
        var writer = ByteWriter(UnsafeMutableRawBufferPointer(rebasing: packet[headerLength...]))
        writer.write(Self.profile)
        writer.write(UInt16((Self.length - 4) / 4))
        writer.write(time.rawValue)
        writer.write(flags.rawValue)
        writer.write(sequence)
        writer.write(UInt16(0))
        return true
    }
}
