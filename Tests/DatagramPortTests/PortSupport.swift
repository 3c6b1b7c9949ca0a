import Glibc
import Transport

@testable import DatagramPort

/// A datagram that outlives the buffers which received it.
struct StoredDatagram: Equatable {
    var bytes: [UInt8]
    var source: TransportAddress
    var destination: TransportAddress
}

extension UDPPort {
    /// 127.0.0.1 or `::1` with this port's number.
    func loopback(_ family: TransportAddress.Family = .ipv4) -> TransportAddress {
        family == .ipv4
            ? TransportAddress(ipv4: 0x7F00_0001, port: localPort)
            : TransportAddress(ipv6High: 0, low: 1, port: localPort)
    }

    /// Waits until `count` datagrams have come, or nothing has for two minutes.
    func collect(
        _ count: Int, _ family: TransportAddress.Family = .ipv4, buffers: DatagramBuffers
    ) -> [StoredDatagram] {
        guard let socket = socket(for: family) else { return [] }
        var found: [StoredDatagram] = []
        while found.count < count {
            guard let batch = receive(family, into: buffers) else {
                var waiting = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
                if poll(&waiting, 1, 120_000) <= 0 { return found }
                continue
            }
            for datagram in batch {
                found.append(
                    StoredDatagram(
                        bytes: Array(datagram.bytes), source: datagram.source, destination: datagram.destination))
            }
        }
        return found
    }

    /// Sends an array, as one datagram unless `segmentSize` says otherwise.
    @discardableResult
    func send(
        _ bytes: [UInt8], to destination: TransportAddress, segmentSize: Int? = nil, from local: TransportAddress? = nil
    ) -> SendOutcome {
        bytes.withUnsafeBytes {
            send(
                $0,
                transmit: Transmit(
                    destination: destination, byteCount: bytes.count, segmentSize: segmentSize ?? bytes.count),
                from: local)
        }
    }
}

/// Bytes whose values are their positions.
func pattern(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
}
