import DatagramPort
import Glibc
import Transport

/// One UDP socket in place of any number of viewers on loopback: every address of 127.1.0.0/16 leads to it.
///
/// It is emptied after every few sends. The kernel's memory for datagrams then stays in the processor's cache however
/// many viewers there are, as it does when a network card sends them. The cost of emptying is counted, so that a
/// measurement can subtract it. Datagrams that the socket had no room for are counted as well, because a datagram that
/// the kernel drops costs the sender less than one that is delivered.
final class DrainingPort {
    /// 64 frames of 8 datagrams.
    private static let sendsBetweenDrains = 64

    private let port: UDPPort
    private let buffers: DatagramBuffers
    private var sends = 0
    /// The processor time that emptying the socket has taken, in nanoseconds.
    private(set) var processorTime: Int64 = 0

    /// - Parameter takesRuns: whether the kernel hands over each run of datagrams whole. It then does not cut the run inside the
    ///   sender's call. The same holds when a network card cuts it.
    init(takesRuns: Bool = false) throws {
        var configuration = UDPPort.Configuration()
        configuration.ipv6Address = nil
        configuration.receiveBufferSize = 16 << 20
        port = try UDPPort(configuration)
        if takesRuns { port.receiveRuns() }
        buffers = try takesRuns ? .forRuns(capacity: 32) : DatagramBuffers(capacity: 256)
    }

    /// The address of viewer `index`.
    func address(of index: Int) -> TransportAddress {
        TransportAddress(ipv4: 0x7F01_0001 + UInt32(truncatingIfNeeded: index), port: port.localPort)
    }

    /// Records that a frame was sent to one of the addresses.
    @inline(__always)
    func recordSend() {
        sends += 1
        if sends >= Self.sendsBetweenDrains { drain() }
    }

    /// Drops the waiting datagrams.
    func drain() {
        let start = ProcessorClock.thread
        receive { _ in }
        sends = 0
        processorTime += ProcessorClock.thread - start
    }

    /// Sends a datagram as the viewer that has the address `source`.
    func send(_ datagram: UnsafeRawBufferPointer, from source: TransportAddress, to destination: TransportAddress) {
        port.send(datagram, transmit: Transmit(destination: destination, byteCount: datagram.count), from: source)
    }

    /// Waits for at most `milliseconds` until something can be received.
    func wait(milliseconds: Int32) {
        guard let descriptor = port.descriptors.first?.descriptor else { return }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&entry, 1, milliseconds)
    }

    /// Hands out the waiting datagrams.
    func receive(_ body: (ReceivedDatagram) -> Void) {
        // Bounded: far fewer batches are ever waiting.
        for _ in 0..<1000 {
            guard let batch = port.receive(.ipv4, into: buffers) else { return }
            for datagram in batch { body(datagram) }
        }
    }

    /// How many datagrams found no room.
    var overflowed: Int { port.counters.receiveBufferDrops }
}

/// The relay's egress in a benchmark: a real port, whose receiver is emptied in time.
final class DrainedSender: DatagramSending {
    private let port: UDPPort
    private let drain: DrainingPort

    init(port: UDPPort, drain: DrainingPort) {
        self.port = port
        self.drain = drain
    }

    func send(_ bytes: UnsafeRawBufferPointer, transmit: Transmit, from local: TransportAddress?) -> SendOutcome {
        let outcome = port.send(bytes, transmit: transmit, from: local)
        // The viewer fetches the handshake's datagrams itself; they are single.
        if transmit.segmentSize < transmit.byteCount { drain.recordSend() }
        return outcome
    }
}
