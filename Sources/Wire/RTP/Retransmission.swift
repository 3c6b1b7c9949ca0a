/// The retransmission payload format (RFC 4588): the original sequence number before the original payload.
public enum Retransmission {
    /// How many bytes stand before the original payload.
    @inlinable public static var headerLength: Int { 2 }

    /// Takes a retransmission apart; nil when it is too short. An empty original payload is one that only probes for
    /// bandwidth and is to be passed over.
    @inlinable
    public static func parse(
        payload: UnsafeRawBufferPointer
    ) -> (originalSequenceNumber: UInt16, payload: UnsafeRawBufferPointer)? {
        guard payload.count >= headerLength else { return nil }
        return (payload.bigEndian16(at: 0), payload.from(headerLength))
    }
}
