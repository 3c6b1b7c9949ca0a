import CLinuxUDP
import Glibc
import Synchronization
public import Transport

/// One UDP port of this host for all peers, on IPv4 and IPv6.
///
/// It handles its own errors: a datagram that cannot be sent is counted and lost, whatever the reason, and the port
/// continues to serve all other peers. Only opening it can throw.
///
/// It has one socket for each family instead of a dual-stack socket. So an IPv4 viewer does not depend on IPv6, and the
/// local address to send from always belongs to the destination's family.
///
/// Any thread may send. For each ``DatagramBuffers`` only one thread may receive.
public final class UDPPort: DatagramSending, Sendable {
    /// The settings of a port.
    public struct Configuration: Sendable {
        /// The port's number; 0 lets the kernel choose one.
        public var port: UInt16
        /// The local IPv4 address, whose port is ignored; nil for no IPv4. 0.0.0.0 is every address of the host.
        public var ipv4Address: TransportAddress? = TransportAddress(ipv4: 0, port: 0)
        /// The local IPv6 address, whose port is ignored; nil for no IPv6. `::` is every address of the host.
        public var ipv6Address: TransportAddress? = TransportAddress(ipv6High: 0, low: 0, port: 0)
        /// The size of the kernel's receive buffer in bytes. It must hold what arrives while the thread is busy.
        public var receiveBufferSize = 4 << 20
        /// The size of the kernel's send buffer in bytes. It must hold a key frame for each viewer of a shard.
        public var sendBufferSize = 4 << 20
        /// Whether the kernel cuts runs of datagrams (UDP generic segmentation offload) where it can.
        public var usesSegmentationOffload = true
        /// Called once for each socket, on the thread that sends, when the kernel has refused to cut a run.
        public var segmentationRefused: (@Sendable (SegmentationRefusal) -> Void)?

        /// A port on every address of this host.
        public init(port: UInt16 = 0) {
            self.port = port
        }

        /// A port that only this host can reach.
        public static func loopback(port: UInt16 = 0) -> Configuration {
            var configuration = Configuration(port: port)
            configuration.ipv4Address = TransportAddress(ipv4: 0x7F00_0001, port: 0)
            configuration.ipv6Address = TransportAddress(ipv6High: 0, low: 1, port: 0)
            return configuration
        }
    }

    /// The number of the port on both families.
    public let localPort: UInt16
    let ipv4: UDPSocket?
    let ipv6: UDPSocket?
    let meters = UDPPortMeters()

    /// Opens the port. On a host without IPv6 (or without IPv4) the port has only the other family.
    public init(_ configuration: Configuration = Configuration()) throws(SystemCallError) {
        // The kernel chooses a port for one family without regard to the other, where a few choices may be in use.
        var attemptsLeft = configuration.port == 0 ? 16 : 1
        while true {
            attemptsLeft -= 1
            do throws(SystemCallError) {
                let four = try Self.open(configuration.ipv4Address, port: configuration.port, configuration)
                let six = try Self.open(
                    configuration.ipv6Address, port: four?.localAddress.port ?? configuration.port, configuration)
                guard let port = (four ?? six)?.localAddress.port else {
                    throw SystemCallError(
                        call: "socket", purpose: "cannot open UDP port \(configuration.port) on IPv4 or IPv6",
                        errorNumber: EAFNOSUPPORT)
                }
                self.ipv4 = four
                self.ipv6 = six
                self.localPort = port
                return
            } catch {
                guard error.errorNumber == EADDRINUSE, attemptsLeft > 0 else { throw error }
            }
        }
    }

    /// Opens the port of `first` once more, with sockets of its own. The kernel gives each datagram to one of the ports.
    init(joining first: UDPPort, _ configuration: Configuration) throws(SystemCallError) {
        func join(_ socket: UDPSocket?) throws(SystemCallError) -> UDPSocket? {
            guard let socket else { return nil }
            try socket.share()
            return try UDPSocket(bindingTo: socket.localAddress, configuration: configuration, joins: true)
        }
        ipv4 = try join(first.ipv4)
        ipv6 = try join(first.ipv6)
        localPort = first.localPort
    }

    /// Returns nil for a family that the host does not have.
    private static func open(
        _ address: TransportAddress?, port: UInt16, _ configuration: Configuration
    ) throws(SystemCallError) -> UDPSocket? {
        guard let address else { return nil }
        do throws(SystemCallError) {
            return try UDPSocket(bindingTo: address.withPort(port), configuration: configuration)
        } catch {
            switch error.errorNumber {
            case EAFNOSUPPORT: return nil
            // The family exists but has no address: an error only if a specific address was requested.
            case EADDRNOTAVAIL where address.isUnspecified || address.isLoopback: return nil
            default: throw error
            }
        }
    }

    /// The addresses that the sockets are bound to: at most one of each family.
    public var localAddresses: [TransportAddress] {
        [ipv4, ipv6].compactMap { $0?.localAddress }
    }

    /// The sockets' file descriptors, for a driver with its own loop. They stay the port's.
    public var descriptors: [(family: TransportAddress.Family, descriptor: Int32)] {
        [(TransportAddress.Family.ipv4, ipv4), (.ipv6, ipv6)].compactMap { family, socket in
            socket.map { (family, $0.descriptor) }
        }
    }

    /// What the port has done since it was opened.
    public var counters: UDPPortCounters {
        var counters = meters.snapshot()
        for socket in [ipv4, ipv6].compactMap({ $0 }) {
            counters.receiveBufferDrops += max(0, Int(linux_udp_receive_drops(socket.descriptor)))
        }
        return counters
    }

    /// Whether the kernel cuts runs of datagrams for `family`. After a refusal, each datagram costs a separate call
    /// until the port is opened again.
    public func segmentsInKernel(_ family: TransportAddress.Family) -> Bool {
        socket(for: family)?.segmentsInKernel.load(ordering: .relaxed) ?? false
    }

    /// The sizes in bytes that the kernel granted, for the first socket: it may grant less than requested, see
    /// `net.core.rmem_max` and `net.core.wmem_max`.
    public var bufferSizes: (receive: Int, send: Int) {
        guard let socket = ipv4 ?? ipv6 else { return (0, 0) }
        return (
            Int(linux_udp_receive_buffer(socket.descriptor)), Int(linux_udp_send_buffer(socket.descriptor))
        )
    }

    /// Lets the kernel hand over datagrams in the runs in which they arrived (UDP generic receive offload), which costs
    /// less when one sender sends many. From then on, the port must be read with
    /// ``DatagramBuffers/forRuns(capacity:)``. A kernel before Linux 5.0 still hands over single datagrams.
    public func receiveRuns() {
        for socket in [ipv4, ipv6].compactMap({ $0 }) { _ = linux_udp_receive_runs(socket.descriptor) }
    }
}

/// The kernel does not cut runs of datagrams for a socket: from now on each datagram costs a separate system call.
public struct SegmentationRefusal: Hashable, Sendable, CustomStringConvertible {
    /// The address that the socket is bound to.
    public var localAddress: TransportAddress
    /// The `errno` of the refusal.
    public var errorNumber: Int32

    /// The refusal in words, for a log.
    public var description: String { "UDP \(localAddress): \(String(cString: strerror(errorNumber)))" }
}
