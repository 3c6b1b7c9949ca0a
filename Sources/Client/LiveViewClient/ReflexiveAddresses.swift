import DatagramPort
import Glibc
import STUN
import Transport

extension UDPPort {
    /// The addresses at which STUN servers see the port (RFC 8445, section 5.1.1.2). The function blocks until every
    /// server has answered or the time is over. Nothing else may receive from the port in the meantime.
    func reflexiveAddresses(
        by servers: [TransportAddress], within limit: Duration
    ) throws(SystemCallError) -> [TransportAddress] {
        guard !servers.isEmpty else { return [] }
        let deadline = MonotonicClock.now + limit
        var finder = ReflexiveAddressFinder(random: .system)
        finder.setServers(servers, at: MonotonicClock.now)
        let buffers = try DatagramBuffers(capacity: 8)
        var request = [UInt8](repeating: 0, count: STUN.sufficientBufferSize)
        while finder.observations.contains(where: { $0.address == nil && $0.failure == nil }) {
            let now = MonotonicClock.now
            guard now < deadline else { break }
            request.withUnsafeMutableBytes { buffer in
                while let transmit = finder.pollTransmit(into: buffer, at: now) {
                    _ = send(UnsafeRawBufferPointer(buffer), transmit: transmit)
                }
            }
            // Sending may report a server that has not answered.
            _ = finder.pollEvent()
            var waiting = descriptors.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            let left = min(deadline, finder.nextDeadline ?? deadline) - now
            let milliseconds = Int32(clamping: max(left, .zero).wholeNanoseconds / 1_000_000 + 1)
            guard poll(&waiting, nfds_t(waiting.count), milliseconds) > 0 else { continue }
            for (family, _) in descriptors {
                guard let batch = receive(family, into: buffers) else { continue }
                for datagram in batch {
                    _ = finder.handle(UnsafeRawBufferPointer(datagram.bytes), from: datagram.source, at: now)
                    _ = finder.pollEvent()
                }
            }
        }
        return finder.observations.compactMap(\.address)
    }
}
