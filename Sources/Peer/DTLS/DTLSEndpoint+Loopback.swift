import Transport

extension DTLSEndpoint {
    /// Hands every datagram that waits here straight to `peer`: a network without loss or delay, on which a benchmark
    /// can let a client and a server shake hands in memory.
    ///
    /// - Returns: how many datagrams there were; when both sides answer 0, nothing happens any more.
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
