/// What a state machine asks its driver to send: bytes that it has written into the driver's buffer.
public struct Transmit: Hashable, Sendable, BitwiseCopyable {
    /// Where the datagrams go.
    public var destination: TransportAddress
    /// The number of bytes in all datagrams.
    public var byteCount: Int
    /// The size of each datagram except the last, which may be shorter; equal to `byteCount` for one datagram. With it,
    /// one system call can send them all (UDP generic segmentation offload).
    public var segmentSize: Int

    /// Describes `byteCount` bytes for `destination`, cut into datagrams of `segmentSize`.
    @inlinable
    public init(destination: TransportAddress, byteCount: Int, segmentSize: Int) {
        self.destination = destination
        self.byteCount = byteCount
        self.segmentSize = segmentSize
    }

    /// Describes one datagram.
    @inlinable
    public init(destination: TransportAddress, byteCount: Int) {
        self.init(destination: destination, byteCount: byteCount, segmentSize: byteCount)
    }

    /// The number of datagrams; 0 when the byte count or the segment size is not positive.
    @inlinable
    public var datagramCount: Int {
        guard byteCount > 0, segmentSize > 0 else { return 0 }
        return (byteCount - 1) / segmentSize + 1
    }
}
