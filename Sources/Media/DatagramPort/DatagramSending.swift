public import Transport

/// Sends the datagrams that a driver's state machines wrote: a ``UDPPort``, or a recorder in a test.
public protocol DatagramSending: AnyObject {
    /// Sends the first `transmit.byteCount` of `bytes`, cut into datagrams of `transmit.segmentSize`.
    ///
    /// It never throws and never blocks: a datagram that cannot be sent is counted and lost, as on any network.
    ///
    /// - Parameter local: The local address to send from, whose port is ignored. Answers from the address that a
    ///   datagram came to keep a host with several addresses reachable through NATs. Nil lets the kernel choose.
    @discardableResult
    func send(_ bytes: UnsafeRawBufferPointer, transmit: Transmit, from local: TransportAddress?) -> SendOutcome
}

/// The outcome of a send.
public enum SendOutcome: Hashable, Sendable, BitwiseCopyable {
    /// The kernel accepted every datagram.
    case sent
    /// The destination cannot be sent to, or the transmit does not describe the bytes. No system call was made.
    case refused
    /// The socket's send buffer is full (`EAGAIN`). Nothing went out, so all of it may be sent again.
    case blocked
    /// The kernel refused at least one datagram, last with this `errno`. The rest went out.
    case dropped(Int32)
}
