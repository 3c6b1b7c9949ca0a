import DTLS
import SRTP
import Transport

extension PeerConnection {
    /// Protects one RTP packet: `output` starts with the packet's header of `headerLength` bytes; the encrypted payload
    /// and the tag are written after it. `index` is the packet's 48-bit index (rollover counter and sequence number).
    /// - Returns: the size of the protected packet, 0 when the connection is not up or `output` is too small.
    @inline(__always)
    public mutating func protectRTP(
        headerLength: Int, payload: UnsafeRawBufferPointer, output: UnsafeMutableRawBufferPointer, index: UInt64
    ) -> Int {
        media?.sender.protectRTP(headerLength: headerLength, payload: payload, output: output, index: index) ?? 0
    }

    /// Protects one packet of a retransmission stream: as above, with the original sequence number before the payload
    /// (RFC 4588, section 4).
    public mutating func protectRTP(
        headerLength: Int, originalSequenceNumber: UInt16, payload: UnsafeRawBufferPointer,
        output: UnsafeMutableRawBufferPointer, index: UInt64
    ) -> Int {
        media?.sender.protectRTP(
            headerLength: headerLength, originalSequenceNumber: originalSequenceNumber, payload: payload,
            output: output, index: index) ?? 0
    }

    /// Protects, in place, a compound RTCP packet of `byteCount` bytes at the start of `buffer`.
    /// - Returns: the size of the protected packet, 0 when the connection is not up or `buffer` is too small.
    public mutating func protectRTCP(_ buffer: UnsafeMutableRawBufferPointer, byteCount: Int) -> Int {
        media?.sender.protectRTCP(packet: buffer, count: byteCount) ?? 0
    }

    /// Writes the datagram that carries `data`, an SCTP packet of data channels, into `datagram` (RFC 8261).
    /// - Returns: its size, 0 when the connection is not up or the data does not fit.
    public mutating func protectData(
        _ data: UnsafeRawBufferPointer, into datagram: UnsafeMutableRawBufferPointer
    ) -> Int {
        guard stage == .connected, carriesData else { return 0 }
        return dtls.seal(data, into: datagram) ?? 0
    }
}
