import Glibc
import Testing
import Transport

@testable import DatagramPort

@Suite("A UDP port of several threads")
struct UDPPortGroupTests {
    private let buffers: DatagramBuffers

    init() throws {
        buffers = try DatagramBuffers()
    }

    /// The member that a datagram has come to.
    private func receiver(
        _ group: UDPPortGroup, _ family: TransportAddress.Family = .ipv4, of bytes: [UInt8]
    ) -> Int? {
        var waiting = group.ports.compactMap { port in
            port.socket(for: family).map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        }
        guard poll(&waiting, nfds_t(waiting.count), 120_000) > 0,
            let index = waiting.firstIndex(where: { $0.revents != 0 })
        else { return nil }
        return group.ports[index].collect(1, family, buffers: buffers).first?.bytes == bytes ? index : nil
    }

    @Test("one member is an ordinary port")
    func oneMember() throws {
        let group = try UDPPortGroup(.loopback(), count: 1)
        #expect(group.ports.count == 1 && group.ports[0].localPort == group.localPort)
    }

    /// It would not matter to the kernel whether these were programs of their own: all that counts is the user.
    @Test("is in use for everybody else", arguments: [1, 2, 5])
    func isInUse(count: Int) throws {
        let group = try UDPPortGroup(.loopback(), count: count)
        #expect(group.ports.count == count && group.ports.allSatisfy { $0.localPort == group.localPort })
        for others in 1...2 {
            let error = #expect(throws: SystemCallError.self) {
                try UDPPortGroup(.loopback(port: group.localPort), count: others)
            }
            #expect(error?.errorNumber == EADDRINUSE)
        }
    }

    @Test("gives one member all that comes from one address", arguments: [4, 6] as [UInt8])
    func hasDoors(version: UInt8) throws {
        let family = try #require(TransportAddress.Family(rawValue: version))
        let group = try UDPPortGroup(UDPPort.Configuration(), count: 3)
        guard group.ports[0].socket(for: family) != nil else { return }
        var members: Set<Int> = []
        for number in 0..<40 as Range<UInt8> {
            let peer = try UDPPort(UDPPort.Configuration())
            let first = group.ports[0].loopback(family)
            // On IPv4 the host has more than one address, and the door does not depend on which one is used.
            let second = family == .ipv4 ? TransportAddress(ipv4: 0x7F00_0105, port: group.localPort) : first
            let source = peer.loopback(family)
            var doors: Set<Int?> = []
            for round in 0..<3 as Range<UInt8> {
                for destination in [first, second] {
                    peer.send([number, round], to: destination, from: source)
                    doors.insert(receiver(group, family, of: [number, round]))
                }
            }
            #expect(doors.count == 1 && !doors.contains(nil))
            if let door = doors.first ?? nil { members.insert(door) }
        }
        #expect(members == [0, 1, 2])
        #expect(group.counters.datagramsReceived == 240)
    }

    @Test("every member sends from the port")
    func membersSend() throws {
        let group = try UDPPortGroup(.loopback(), count: 3)
        let peer = try UDPPort(.loopback())
        for (index, port) in group.ports.enumerated() {
            #expect(port.send([UInt8(index)], to: peer.loopback()) == .sent)
            let received = peer.collect(1, buffers: buffers)
            #expect(received.first?.bytes == [UInt8(index)] && received.first?.source == port.loopback())
        }
        #expect(group.counters.datagramsSent == 3)
    }
}
