import CLinuxUDP
import Glibc
import Synchronization
public import Transport

extension UDPPort {
    @discardableResult
    public func send(
        _ bytes: UnsafeRawBufferPointer, transmit: Transmit, from local: TransportAddress? = nil
    ) -> SendOutcome {
        guard transmit.byteCount > 0, transmit.byteCount <= bytes.count, transmit.segmentSize > 0,
            transmit.destination.isUsableDestination, let socket = socket(for: transmit.destination.family)
        else {
            meters.refusedSends.add(1, ordering: .relaxed)
            return .refused
        }
        var source = local
        if let address = local, address.family != transmit.destination.family || address.isUnspecified { source = nil }
        return socket.send(bytes, transmit: transmit, from: source, meters: meters)
    }

    /// Sends a datagram to a multicast group, which ``send(_:transmit:from:)`` refuses. The group must be a constant of the
    /// program: a group that a peer has named would multiply what the peer sends.
    @discardableResult
    public func send(_ bytes: UnsafeRawBufferPointer, toGroup group: TransportAddress) -> SendOutcome {
        guard bytes.count > 0, group.isMulticast, group.port != 0, let socket = socket(for: group.family) else {
            meters.refusedSends.add(1, ordering: .relaxed)
            return .refused
        }
        let transmit = Transmit(destination: group, byteCount: bytes.count)
        return socket.send(bytes, transmit: transmit, from: nil, meters: meters)
    }

    func socket(for family: TransportAddress.Family) -> UDPSocket? {
        switch family {
        case .ipv4: ipv4
        case .ipv6: ipv6
        }
    }
}

extension UDPSocket {
    /// The most datagrams that the kernel accepts in one call (UDP_MAX_SEGMENTS of its older versions).…
    static let maximumSegments = 64
    /// The most bytes in one call: the largest UDP payload over IPv4.
    static let maximumPayload = 65_507

    /// Sends the datagrams that `transmit` describes. Its byte count must lie within `bytes`, and its segment size must
    /// be positive.
    func send(
        _ bytes: UnsafeRawBufferPointer, transmit: Transmit, from local: TransportAddress?,
        meters: borrowing UDPPortMeters
    ) -> SendOutcome {
        var call = SendCall(
            descriptor: descriptor, destination: linux_udp_address(transmit.destination),
            source: local.map { linux_udp_address($0) } ?? linux_udp_address(), hasSource: local != nil)
        let payload = UnsafeRawBufferPointer(rebasing: bytes[0..<transmit.byteCount])
        if payload.count <= transmit.segmentSize {
            // A segmentation message for one datagram only costs time.
            return send(payload, segmentSize: payload.count, call: &call, meters: meters)
        }
        let perCall = min(Self.maximumSegments, Self.maximumPayload / transmit.segmentSize)
        guard perCall > 1, segmentsInKernel.load(ordering: .relaxed) else {
            return send(payload, segmentSize: transmit.segmentSize, call: &call, meters: meters)
        }
        var outcome = SendOutcome.sent
        var offset = 0
        while offset < payload.count {
            let count = min(perCall * transmit.segmentSize, payload.count - offset)
            let part = UnsafeRawBufferPointer(rebasing: payload[offset..<offset + count])
            offset += count
            let result =
                count <= transmit.segmentSize
                ? send(part, segmentSize: count, call: &call, meters: meters)
                : sendSegmented(part, segmentSize: transmit.segmentSize, call: &call, meters: meters)
            // The part of the datagrams that has gone out must not be sent again.
            if result == .blocked, offset > count { return .dropped(EAGAIN) }
            if result == .blocked { return .blocked }
            if result != .sent { outcome = result }
        }
        return outcome
    }

    /// Sends one run of datagrams in one call, or singly when the kernel refuses that.
    private func sendSegmented(
        _ bytes: UnsafeRawBufferPointer, segmentSize: Int, call: inout SendCall, meters: borrowing UDPPortMeters
    ) -> SendOutcome {
        let datagrams = (bytes.count + segmentSize - 1) / segmentSize
        let result = call(bytes, segmentSize: UInt16(truncatingIfNeeded: segmentSize))
        if result >= 0 {
            meters.countSent(datagrams: datagrams, bytes: bytes.count)
            meters.segmentedSends.add(1, ordering: .relaxed)
            return .sent
        }
        let errorNumber = Int32(truncatingIfNeeded: 0 - result)
        switch errorNumber {
        case EIO, EINVAL:
            // Either the egress device or the kernel cannot segment, or this destination or source is at fault. Only
            // the first case affects the other viewers, and only then do the same datagrams go out singly.
            let outcome = send(bytes, segmentSize: segmentSize, call: &call, meters: meters)
            if outcome == .sent { stopSegmenting(errorNumber) }
            return outcome
        case EMSGSIZE:
            // Segments must fit the interface's MTU, but a single datagram may be fragmented. This affects only this
            // path.
            return send(bytes, segmentSize: segmentSize, call: &call, meters: meters)
        default:
            meters.countDropped(datagrams: datagrams, errorNumber: errorNumber)
            return errorNumber == EAGAIN ? .blocked : .dropped(errorNumber)
        }
    }

    private func stopSegmenting(_ errorNumber: Int32) {
        segmentsInKernel.store(false, ordering: .relaxed)
        let isFirst = segmentationError.compareExchange(expected: 0, desired: errorNumber, ordering: .relaxed).exchanged
        if isFirst { segmentationRefused?(SegmentationRefusal(localAddress: localAddress, errorNumber: errorNumber)) }
    }

    /// Sends each datagram with a separate call. After a failure the next one is still tried, unless the send buffer is
    /// full.
    private func send(
        _ bytes: UnsafeRawBufferPointer, segmentSize: Int, call: inout SendCall, meters: borrowing UDPPortMeters
    ) -> SendOutcome {
        var outcome = SendOutcome.sent
        var offset = 0
        var sent = 0
        var sentBytes = 0
        while offset < bytes.count {
            let count = min(segmentSize, bytes.count - offset)
            let result = call(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]), segmentSize: 0)
            if result >= 0 {
                sent += 1
                sentBytes += count
            } else {
                let errorNumber = Int32(truncatingIfNeeded: 0 - result)
                outcome = .dropped(errorNumber)
                if errorNumber == EAGAIN {
                    let left = (bytes.count - offset + segmentSize - 1) / segmentSize
                    meters.countDropped(datagrams: left, errorNumber: errorNumber)
                    if offset == 0 { outcome = .blocked }
                    break
                }
                meters.countDropped(datagrams: 1, errorNumber: errorNumber)
            }
            offset += count
        }
        if sent > 0 { meters.countSent(datagrams: sent, bytes: sentBytes) }
        return outcome
    }
}

/// The values that stay the same from call to call while one transmit is sent.
private struct SendCall {
    let descriptor: Int32
    var destination: linux_udp_address
    var source: linux_udp_address
    let hasSource: Bool

    /// The number of bytes sent, or `-errno`. A call that a signal interrupts is repeated once.
    mutating func callAsFunction(_ bytes: UnsafeRawBufferPointer, segmentSize: UInt16) -> Int64 {
        let result = once(bytes, segmentSize: segmentSize)
        return result == Int64(0 - EINTR) ? once(bytes, segmentSize: segmentSize) : result
    }

    private mutating func once(_ bytes: UnsafeRawBufferPointer, segmentSize: UInt16) -> Int64 {
        hasSource
            ? linux_udp_send(descriptor, bytes.baseAddress, bytes.count, &destination, &source, segmentSize)
            : linux_udp_send(descriptor, bytes.baseAddress, bytes.count, &destination, nil, segmentSize)
    }
}
