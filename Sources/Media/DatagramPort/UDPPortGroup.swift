import CLinuxUDP
import Glibc
import Transport

/// One UDP port of this host, served by several threads. Each has sockets of its own, on the same address.
///
/// The kernel gives all datagrams of one remote address to the same member: the address's door. No other program can
/// take the port while the group has it.
public final class UDPPortGroup: Sendable {
    /// The most members of a group.
    public static let maximumCount = 64

    /// The members: one for each thread.
    public let ports: [UDPPort]
    /// The number of the port.
    public let localPort: UInt16

    /// Opens a port for `count` threads, 1 to ``maximumCount``.
    public init(_ configuration: UDPPort.Configuration, count: Int) throws(SystemCallError) {
        // The first one is bound without sharing, so that the kernel reports a port that another program has, even one
        // that would share it.
        let first = try UDPPort(configuration)
        var ports = [first]
        while ports.count < min(count, Self.maximumCount) {
            ports.append(try UDPPort(joining: first, configuration))
        }
        self.ports = ports
        localPort = first.localPort
        if ports.count > 1 { steerBySource() }
    }

    /// A group with one member.
    public init(_ port: UDPPort) {
        ports = [port]
        localPort = port.localPort
    }

    /// If the kernel does not accept the program, it chooses by source and destination together. That is as good on a
    /// host with one address.
    private func steerBySource() {
        let key = UInt32.random(in: .min ... .max)
        for socket in [ports[0].ipv4, ports[0].ipv6].compactMap({ $0 }) {
            _ = linux_udp_steer_by_source(
                socket.descriptor, socket.localAddress.family.rawValue, UInt32(ports.count), key)
        }
    }

    /// What all members have done since the port was opened.
    public var counters: UDPPortCounters {
        ports.dropFirst().reduce(into: ports[0].counters) { $0 += $1.counters }
    }
}

extension UDPPortCounters {
    static func += (left: inout UDPPortCounters, right: UDPPortCounters) {
        left.datagramsSent += right.datagramsSent
        left.bytesSent += right.bytesSent
        left.segmentedSends += right.segmentedSends
        left.refusedSends += right.refusedSends
        left.sendBufferFull += right.sendBufferFull
        left.messageTooLong += right.messageTooLong
        left.unreachable += right.unreachable
        left.notPermitted += right.notPermitted
        left.invalid += right.invalid
        left.otherSendErrors += right.otherSendErrors
        if right.lastSendError != 0 { left.lastSendError = right.lastSendError }
        left.datagramsReceived += right.datagramsReceived
        left.bytesReceived += right.bytesReceived
        left.datagramsTruncated += right.datagramsTruncated
        left.receiveErrors += right.receiveErrors
        left.receiveBufferDrops += right.receiveBufferDrops
    }
}
