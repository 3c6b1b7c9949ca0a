/// The retransmission payload format (RFC 4588): the original sequence number before the original payload.
public enum Retransmission {
    /// The number of bytes before the original payload.
    @inlinable public static var headerLength: Int { 2 }

    /// Parses a retransmission; nil when it is too short. An empty original payload only probes for bandwidth and
    /// should be ignored.
    @inlinable
    public static func parse(
        payload: UnsafeRawBufferPointer
    ) -> (originalSequenceNumber: UInt16, payload: UnsafeRawBufferPointer)? {
        guard payload.count >= headerLength else { return nil }
        return (payload.bigEndian16(at: 0), payload.from(headerLength))
    }
}
