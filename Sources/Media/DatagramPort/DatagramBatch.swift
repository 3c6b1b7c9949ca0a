import CLinuxUDP
import Glibc
import Synchronization
public import Transport

/// A datagram that has arrived. Its bytes may be changed in place. SRTP is decrypted that way.
public struct ReceivedDatagram {
    /// The payload, at least one byte; valid until the call that was handed the datagram returns.
    public let bytes: UnsafeMutableRawBufferPointer
    /// The sender's address.
    public let source: TransportAddress
    /// The local address that it came to, with the port's number: an answer should be sent from there.
    public let destination: TransportAddress
}

/// The datagrams of one system call, in the order of their arrival.
///
/// It borrows the memory of the ``DatagramBuffers`` that received it, until they receive again.
public struct DatagramBatch: Sequence {
    /// The number of datagrams, at least one.
    public let count: Int
    /// Whether the call found as many datagrams (or runs of them) as there is memory for, so that more may be waiting.
    public let isFull: Bool
    let bytes: UnsafeMutablePointer<UInt8>
    let entries: UnsafePointer<linux_udp_datagram>

    /// The datagram at `index`, which must be in `0..<count`.
    public subscript(index: Int) -> ReceivedDatagram {
        precondition(index >= 0 && index < count, "there is no datagram \(index) in a batch of \(count)")
        let entry = entries[index]
        return ReceivedDatagram(
            bytes: UnsafeMutableRawBufferPointer(start: bytes + Int(entry.offset), count: Int(entry.length)),
            source: TransportAddress(entry.source), destination: TransportAddress(entry.destination))
    }

    /// Walks over the datagrams from the first to the last.
    public struct Iterator: IteratorProtocol {
        let batch: DatagramBatch
        var index = 0

        public mutating func next() -> ReceivedDatagram? {
            guard index < batch.count else { return nil }
            defer { index += 1 }
            return batch[index]
        }
    }

    public func makeIterator() -> Iterator { Iterator(batch: self) }
}

/// Memory for one batch of datagrams, reused for each. It belongs to the thread that receives.
public final class DatagramBuffers {
    private let batch: OpaquePointer
    private let capacity: UInt32

    /// Makes room for `capacity` datagrams of up to `datagramSize` bytes; longer ones are dropped and counted.
    ///
    /// 2,048 bytes hold anything that fits an Ethernet frame.
    public convenience init(capacity: Int = 32, datagramSize: Int = 2048) throws(SystemCallError) {
        try self.init(capacity: capacity, datagramSize: datagramSize, runLength: 1)
    }

    /// Makes room for `capacity` runs of datagrams, for ports that receive runs (``UDPPort/receiveRuns()``): 64 KiB each.
    public static func forRuns(capacity: Int = 8) throws(SystemCallError) -> DatagramBuffers {
        // Linux makes runs of up to 128 datagrams (UDP_MAX_SEGMENTS).
        try DatagramBuffers(capacity: capacity, datagramSize: 65_536, runLength: 128)
    }

    private init(capacity: Int, datagramSize: Int, runLength: UInt32) throws(SystemCallError) {
        let count = UInt32(clamping: Swift.min(Swift.max(capacity, 1), 1024))
        let size = UInt32(clamping: Swift.min(Swift.max(datagramSize, 1), 65_536))
        guard let batch = linux_udp_batch_create(count, size, runLength) else {
            throw SystemCallError(
                call: "calloc", purpose: "cannot make \(count) receive buffers of \(size) bytes", errorNumber: ENOMEM)
        }
        self.batch = batch
        self.capacity = count
    }

    deinit {
        linux_udp_batch_destroy(batch)
    }

    func receive(from socket: UDPSocket, meters: borrowing UDPPortMeters) -> ReceiveResult {
        let receipt = linux_udp_receive(socket.descriptor, batch, socket.localAddress.port)
        guard receipt.error == 0 else {
            if receipt.error == EAGAIN { return .empty }
            // The kernel reports an error that an earlier datagram caused. It says nothing about the next one.
            if receipt.error != EINTR { meters.receiveErrors.add(1, ordering: .relaxed) }
            return .nothingUsable
        }
        guard let entries = linux_udp_batch_datagrams(batch), let bytes = linux_udp_batch_bytes(batch) else {
            return .empty
        }
        var byteCount = 0
        for index in 0..<Int(receipt.usable) { byteCount += Int(entries[index].length) }
        meters.countReceived(
            datagrams: Int(Swift.max(receipt.received, receipt.usable)), bytes: byteCount,
            truncated: Int(receipt.truncated))
        guard receipt.usable > 0 else { return .nothingUsable }
        return .datagrams(
            DatagramBatch(
                count: Int(receipt.usable), isFull: receipt.received == capacity, bytes: bytes, entries: entries))
    }
}

/// The result of one receive call.
enum ReceiveResult {
    /// Nothing is waiting.
    case empty
    /// Something had come, but nothing to pass on; more may be waiting.
    case nothingUsable
    case datagrams(DatagramBatch)
}

extension UDPPort {
    /// The datagrams that wait on one family's socket, at most as many as `buffers` hold; nil when none wait.
    ///
    /// It does not wait. A ``ShardThread`` calls it itself; it is public for drivers with their own loop.
    public func receive(_ family: TransportAddress.Family, into buffers: DatagramBuffers) -> DatagramBatch? {
        guard let socket = socket(for: family) else { return nil }
        // The loop is bounded, because a peer could send empty datagrams without end.
        for _ in 0..<16 {
            switch buffers.receive(from: socket, meters: meters) {
            case .empty: return nil
            case .nothingUsable: continue
            case .datagrams(let batch): return batch
            }
        }
        return nil
    }
}
