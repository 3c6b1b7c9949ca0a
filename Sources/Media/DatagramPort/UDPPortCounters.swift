import Glibc
import Synchronization

/// What a port has done since it was opened.
public struct UDPPortCounters: Hashable, Sendable {
    /// Datagrams that the kernel accepted.
    public var datagramsSent = 0
    /// Their bytes, without IP and UDP headers.
    public var bytesSent = 0
    /// System calls that sent more than one datagram.
    public var segmentedSends = 0
    /// Sends refused before any system call, because the destination was not usable.
    public var refusedSends = 0
    /// Datagrams lost because the send buffer was full (EAGAIN, ENOBUFS).
    public var sendBufferFull = 0
    /// Datagrams lost because they were larger than the path or the protocol allows (EMSGSIZE).
    public var messageTooLong = 0
    /// Datagrams lost because the network or host could not be reached (ENETUNREACH, EHOSTUNREACH, ENETDOWN …).
    public var unreachable = 0
    /// Datagrams that a firewall or the kernel forbade (EPERM, EACCES).
    public var notPermitted = 0
    /// Datagrams that the kernel called invalid, for example because the local address is gone (EINVAL).
    public var invalid = 0
    /// Datagrams lost for any other reason.
    public var otherSendErrors = 0
    /// The `errno` of the last failed send; 0 when none has failed.
    public var lastSendError: Int32 = 0

    /// Datagrams that the kernel handed over.
    public var datagramsReceived = 0
    /// Bytes of the datagrams that were passed on.
    public var bytesReceived = 0
    /// Datagrams dropped because they were longer than the receive buffers' slots.
    public var datagramsTruncated = 0
    /// Failed receive calls.
    public var receiveErrors = 0
    /// Datagrams that the kernel dropped because they were not read in time.
    public var receiveBufferDrops = 0

    /// No events at all.
    public init() {}

    /// Datagrams that were lost on sending, whatever the kernel's reason.
    public var datagramsDropped: Int {
        sendBufferFull + messageTooLong + unreachable + notPermitted + invalid + otherSendErrors
    }
}

/// The running counts behind ``UDPPortCounters``. A send touches two or three of them once, however many datagrams it
/// carries.
struct UDPPortMeters: ~Copyable, Sendable {
    let datagramsSent = Atomic(0)
    let bytesSent = Atomic(0)
    let segmentedSends = Atomic(0)
    let refusedSends = Atomic(0)
    let sendBufferFull = Atomic(0)
    let messageTooLong = Atomic(0)
    let unreachable = Atomic(0)
    let notPermitted = Atomic(0)
    let invalid = Atomic(0)
    let otherSendErrors = Atomic(0)
    let lastSendError = Atomic<Int32>(0)
    let datagramsReceived = Atomic(0)
    let bytesReceived = Atomic(0)
    let datagramsTruncated = Atomic(0)
    let receiveErrors = Atomic(0)

    func countSent(datagrams: Int, bytes: Int) {
        datagramsSent.add(datagrams, ordering: .relaxed)
        bytesSent.add(bytes, ordering: .relaxed)
    }

    func countDropped(datagrams: Int, errorNumber: Int32) {
        lastSendError.store(errorNumber, ordering: .relaxed)
        switch errorNumber {
        case EAGAIN, ENOBUFS, ENOMEM: sendBufferFull.add(datagrams, ordering: .relaxed)
        case EMSGSIZE: messageTooLong.add(datagrams, ordering: .relaxed)
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, ECONNREFUSED:
            unreachable.add(datagrams, ordering: .relaxed)
        case EPERM, EACCES: notPermitted.add(datagrams, ordering: .relaxed)
        case EINVAL: invalid.add(datagrams, ordering: .relaxed)
        default: otherSendErrors.add(datagrams, ordering: .relaxed)
        }
    }

    func countReceived(datagrams: Int, bytes: Int, truncated: Int) {
        datagramsReceived.add(datagrams, ordering: .relaxed)
        bytesReceived.add(bytes, ordering: .relaxed)
        if truncated > 0 { datagramsTruncated.add(truncated, ordering: .relaxed) }
    }

    func snapshot() -> UDPPortCounters {
        var counters = UDPPortCounters()
        counters.datagramsSent = datagramsSent.load(ordering: .relaxed)
        counters.bytesSent = bytesSent.load(ordering: .relaxed)
        counters.segmentedSends = segmentedSends.load(ordering: .relaxed)
        counters.refusedSends = refusedSends.load(ordering: .relaxed)
        counters.sendBufferFull = sendBufferFull.load(ordering: .relaxed)
        counters.messageTooLong = messageTooLong.load(ordering: .relaxed)
        counters.unreachable = unreachable.load(ordering: .relaxed)
        counters.notPermitted = notPermitted.load(ordering: .relaxed)
        counters.invalid = invalid.load(ordering: .relaxed)
        counters.otherSendErrors = otherSendErrors.load(ordering: .relaxed)
        counters.lastSendError = lastSendError.load(ordering: .relaxed)
        counters.datagramsReceived = datagramsReceived.load(ordering: .relaxed)
        counters.bytesReceived = bytesReceived.load(ordering: .relaxed)
        counters.datagramsTruncated = datagramsTruncated.load(ordering: .relaxed)
        counters.receiveErrors = receiveErrors.load(ordering: .relaxed)
        return counters
    }
}
