import Glibc

/// How a connection ends: when the peer is gone, and with or without what is still to be sent.
extension TCPSocket {
    /// Lets the kernel ask a peer that has been silent for a long time whether it is still there (SO_KEEPALIVE, socket(7)).
    /// Otherwise the connection of a peer that vanished stays open as long as nothing is sent.
    public func enableKeepAlive() { set(SOL_SOCKET, SO_KEEPALIVE, 1) }

    /// Whether the kernel holds bytes that it has not sent yet. Bytes that were sent and are not acknowledged yet do not count.
    public var hasUnsentBytes: Bool {
        // SIOCOUTQNSD of <linux/sockios.h>, which Glibc's module does not have.
        let request: UInt = 0x894B
        var count: Int32 = 0
        return ioctl(descriptor, request, &count) == 0 && count > 0
    }

    /// Lets the connection end with a reset: what the kernel has not sent by then is thrown away (SO_LINGER, socket(7)).
    /// Otherwise the kernel still sends it after the end.
    public func resetAtEnd() {
        var value = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
    }
}
