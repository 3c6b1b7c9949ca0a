import DatagramPort
import Glibc
import ONVIF
import Transport

/// Looks for ONVIF cameras in the networks of this host, by WS-Discovery, for a bounded time.
public enum ONVIFDiscovery {
    /// A camera that has answered.
    public struct Camera: Sendable, Hashable {
        /// Its answer.
        public var match: WSDiscovery.Match
        /// The address that it answered from.
        public var host: String

        /// Describes a camera.
        public init(match: WSDiscovery.Match, host: String) {
            self.match = match
            self.host = host
        }
    }

    /// The most cameras that are listed, however many answer.
    public static let maximumCameras = 256

    private struct Link {
        let descriptor: Int32
        let destination: sockaddr_in
    }

    /// Sends the probe and waits for answers; blocks for the whole `duration`.
    /// - Parameters:
    ///   - interface: the name or the IPv4 address of the only interface to use; nil for all that support multicast.
    ///   - host: the IPv4 address of one device to probe instead of the group, for networks without multicast.
    ///   - port: the UDP port.
    ///   - duration: how long to wait for answers.
    public static func search(
        interface: String? = nil, host: String? = nil, port: UInt16 = WSDiscovery.port,
        duration: Duration = .seconds(4)
    ) throws(ONVIFError) -> [Camera] {
        var links: [Link] = []
        defer { for link in links { close(link.descriptor) } }
        for address in try addresses(interface: interface, needsMulticast: host == nil) {
            if let link = open(address, to: host ?? WSDiscovery.group, port: port) { links.append(link) }
        }
        guard !links.isEmpty else { throw .unreachable("the search could not be sent on any interface") }
        var random = RandomSource.system
        let start = MonotonicClock.now
        // Datagrams get lost, and cameras spread their answers over half a second, so the probe is sent three times.
        var rounds = [start, start + .milliseconds(400), start + .milliseconds(1500)]
        var found: [Camera] = []
        while MonotonicClock.now - start < duration {
            if let due = rounds.first, MonotonicClock.now >= due {
                rounds.removeFirst()
                for link in links { probe(link, &random) }
            }
            var waiting = links.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
            let next = min(start + duration, rounds.first ?? start + duration)
            _ = poll(&waiting, nfds_t(waiting.count), pollTimeout(next - MonotonicClock.now))
            for link in links { receive(link, &found) }
        }
        return found
    }

    private static func probe(_ link: Link, _ random: inout RandomSource) {
        for isTyped in [true, false] {
            let text = WSDiscovery.probe(messageID: (random.next(), random.next()), isTyped: isTyped)
            let bytes = Array(text.utf8)
            withUnsafePointer(to: link.destination) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = sendto(
                        link.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0,
                        socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
    }

    private static func receive(_ link: Link, _ found: inout [Camera]) {
        var buffer = [UInt8](repeating: 0, count: WSDiscovery.maximumAnswerSize + 1)
        // The loop is bounded: a flood on one interface must not block the others.
        for _ in 0..<64 {
            var sender = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let count = withUnsafeMutablePointer(to: &sender) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    recvfrom(link.descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT), $0, &length)
                }
            }
            guard count > 0 else { return }
            let host = TransportAddress(ipv4: UInt32(bigEndian: sender.sin_addr.s_addr), port: 0).host
            for match in WSDiscovery.matches(Array(buffer[..<count])) {
                // A camera answers each probe, on each interface.
                let isKnown = found.contains { known in
                    match.endpoint.isEmpty
                        ? known.match.addresses == match.addresses : known.match.endpoint == match.endpoint
                }
                if !isKnown, found.count < maximumCameras { found.append(Camera(match: match, host: host)) }
            }
        }
    }

    private static func open(_ address: in_addr, to host: String, port: UInt16) -> Link? {
        guard let target = TransportAddress(host, port: port), target.family == .ipv4 else { return nil }
        let type = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_INET, type, 0)
        guard descriptor >= 0 else { return nil }
        var interface = address
        setsockopt(
            descriptor, Int32(IPPROTO_IP), IP_MULTICAST_IF, &interface, socklen_t(MemoryLayout<in_addr>.size))
        var destination = sockaddr_in()
        destination.sin_family = sa_family_t(AF_INET)
        destination.sin_port = port.bigEndian
        destination.sin_addr.s_addr = UInt32(truncatingIfNeeded: target.low).bigEndian
        return Link(descriptor: descriptor, destination: destination)
    }

    /// The IPv4 addresses of the interfaces to use.
    private static func addresses(
        interface: String?, needsMulticast: Bool
    ) throws(ONVIFError) -> [in_addr] {
        // For a single device the system chooses the interface.
        if !needsMulticast, interface == nil { return [in_addr()] }
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { throw .unreachable("the interfaces of this host cannot be listed") }
        defer { freeifaddrs(list) }
        var found: [in_addr] = []
        var entry = list
        while let current = entry?.pointee {
            entry = current.ifa_next
            guard let address = current.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET),
                Int32(truncatingIfNeeded: current.ifa_flags) & Int32(IFF_UP) != 0
            else { continue }
            let ipv4 = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_addr }
            let text = TransportAddress(ipv4: UInt32(bigEndian: ipv4.s_addr), port: 0)
            if let interface {
                if interface == String(cString: current.ifa_name) || interface == text.host { found.append(ipv4) }
            } else if !text.isLoopback,
                Int32(truncatingIfNeeded: current.ifa_flags) & Int32(IFF_MULTICAST) != 0
            {
                found.append(ipv4)
            }
        }
        guard !found.isEmpty else {
            throw .unreachable(
                interface.map { "this host has no interface \($0) with an IPv4 address" }
                    ?? "this host has no interface that can multicast; name one, or a camera's address")
        }
        return Array(found.prefix(32))
    }
}
