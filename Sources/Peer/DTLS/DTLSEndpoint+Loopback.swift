import Transport

extension DTLSEndpoint {
    /// Hands every datagram that waits here directly to `peer`: a network without loss or delay. On it a benchmark runs
    /// a handshake between a client and a server in memory.
    ///
    /// - Returns: the number of datagrams. When it is 0 for both sides, nothing more will happen.
    public mutating func deliver(to peer: inout DTLSEndpoint, at now: Instant) throws(DTLSError) -> Int {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
        defer { buffer.deallocate() }
        var count = 0
        while let length = pollTransmit(into: buffer) {
            count += 1
            try peer.handle(UnsafeRawBufferPointer(rebasing: buffer[..<length]), at: now)
        }
        return count
    }
}
