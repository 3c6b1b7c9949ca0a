import Glibc
import Testing
import Transport

@testable import DatagramPort

/// Datagrams to a multicast group, such as the search for a router's UPnP service.
@Suite struct GroupSendTests {
    private static let group: UInt32 = 0xEFFF_FFFA

    @Test func `a datagram to a group reaches the host that has joined it`() throws {
        let receiver = try UDPPort()
        // Its datagrams stay on loopback.
        let sender = try UDPPort(.loopback())
        let descriptor = try #require(receiver.descriptors.first { $0.family == .ipv4 }?.descriptor)
        let loopback = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        let membership = ip_mreqn(
            imr_multiaddr: in_addr(s_addr: Self.group.bigEndian), imr_address: loopback, imr_ifindex: 0)
        let joined = withUnsafeBytes(of: membership) {
            setsockopt(descriptor, Int32(IPPROTO_IP), IP_ADD_MEMBERSHIP, $0.baseAddress, socklen_t($0.count))
        }
        #expect(joined == 0)
        let destination = TransportAddress(ipv4: Self.group, port: receiver.localPort)
        let bytes: [UInt8] = [1, 2, 3]
        let outcome = bytes.withUnsafeBytes { sender.send($0, toGroup: destination) }
        #expect(outcome == .sent)
        let buffers = try DatagramBuffers(capacity: 4)
        #expect(receiver.collect(1, buffers: buffers).map(\.bytes) == [bytes])
    }

    @Test func `an address that is not a multicast group is refused`() throws {
        let port = try UDPPort(.loopback())
        let hosts: [UInt32] = [0x7F00_0001, 0xFFFF_FFFF, 0, 0xC0A8_0101]
        var destinations = hosts.map { TransportAddress(ipv4: $0, port: 1900) }
        destinations.append(TransportAddress(ipv4: Self.group, port: 0))
        for destination in destinations {
            let outcome = [UInt8(1)].withUnsafeBytes { port.send($0, toGroup: destination) }
            #expect(outcome == .refused, "\(destination)")
        }
        #expect(port.counters.refusedSends == 5)
    }
}
