import Transport

/// The RTP packets of one wake-up of a source (usually one frame): parsed once, stored once, shared by all.
///
/// The payloads lie one after the other in one slab. Headers are not kept: each viewer gets its own, made from
/// ``Packet``. A batch does not change once it has been delivered. ``PacketBatchPool`` writes into it again only after
/// all others have released it.
public final class PacketBatch: @unchecked Sendable {
    // Proof for @unchecked: `packets`, `storage`, `byteCount` and `arrival` are written only through `PacketBatchPool`,
    // either before the batch is first shared or when `isKnownUniquelyReferenced` shows that it has no other holder. By
    // the same rule the standard library's copy-on-write storage is Sendable.

    /// One packet of the batch.
    public struct Packet: BitwiseCopyable, Sendable {
        /// Where the payload starts in ``PacketBatch/storage``.
        public var offset: Int32
        /// The payload's length in bytes, without padding.
        public var length: Int32
        /// The source's RTP timestamp.
        public var timestamp: UInt32
        /// The source's sequence number.
        public var sequenceNumber: UInt16
        /// The source's payload type, 0 to 127.
        public var payloadType: UInt8
        /// Properties of the packet.
        public var flags: Flags

        /// Describes a packet.
        @inlinable
        public init(
            offset: Int32, length: Int32, timestamp: UInt32, sequenceNumber: UInt16, payloadType: UInt8, flags: Flags
        ) {
            self.offset = offset
            self.length = length
            self.timestamp = timestamp
            self.sequenceNumber = sequenceNumber
            self.payloadType = payloadType
            self.flags = flags
        }
    }

    /// Properties of a packet.
    public struct Flags: OptionSet, BitwiseCopyable, Sendable {
        public let rawValue: UInt8

        @inlinable
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The RTP marker bit.
        @inlinable public static var marker: Flags { Flags(rawValue: 1) }
        /// The first packet of a frame.
        @inlinable public static var startsFrame: Flags { Flags(rawValue: 2) }
        /// The packet belongs to a frame from which decoding can start (including the parameter sets before it).
        @inlinable public static var keyFrame: Flags { Flags(rawValue: 4) }
        /// The packet belongs to a frame that no other frame needs.
        @inlinable public static var unreferenced: Flags { Flags(rawValue: 8) }
    }

    /// The packets in the order in which the source sent them.
    public fileprivate(set) var packets: [Packet] = []
    /// When the packets were read from the source.
    public fileprivate(set) var arrival: Instant = .zero
    fileprivate(set) var byteCount = 0
    fileprivate var storage: UnsafeMutableRawBufferPointer

    fileprivate init(capacity: Int) {
        storage = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit {
        storage.deallocate()
    }

    /// Replaces the slab; the content of the old one is lost.
    fileprivate func replaceStorage(capacity: Int) {
        storage.deallocate()
        storage = .allocate(byteCount: capacity, alignment: 16)
    }

    /// The payload of one of this batch's packets. The memory lives as long as the batch.
    @inline(__always)
    public func payload(of packet: Packet) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: storage[Int(packet.offset)..<Int(packet.offset) + Int(packet.length)])
    }

    /// The total number of payload bytes in the packets.
    public var payloadByteCount: Int { byteCount }

    /// How many bytes of memory the batch holds.
    public var footprint: Int { storage.count + packets.capacity * MemoryLayout<Packet>.stride }

    /// Whether decoding can start with this batch's first packet.
    public var startsKeyFrame: Bool {
        packets.first.map { $0.flags.contains([.keyFrame, .startsFrame]) } ?? false
    }
}

/// Makes batches for one source. It reuses old batches when all holders have released them, so a steady stream
/// allocates nothing. When the holders need far fewer than before, it frees the rest after a while.
///
/// A pool belongs to one source and is used by one thread at a time.
public struct PacketBatchPool: ~Copyable {
    private var lent: [PacketBatch] = []
    private var next = 0
    private var current: PacketBatch?
    /// The average size in bytes of the last few dozen batches.
    private var usualByteCount = 0
    /// For how many batches in a row half of the lent ones were free.
    private var spareCount = 0

    /// An empty pool.
    public init() {}

    /// Adds a packet to the batch being built. `payload` is copied.
    public mutating func append(_ packet: PacketBatch.Packet, payload: UnsafeRawBufferPointer) {
        let batch = current ?? takeBatch(capacity: max(payload.count, 2048))
        current = batch
        let end = batch.byteCount + payload.count
        if end > batch.storage.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: max(end, batch.storage.count * 2), alignment: 16)
            larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: batch.storage[..<batch.byteCount]))
            batch.storage.deallocate()
            batch.storage = larger
        }
        UnsafeMutableRawBufferPointer(rebasing: batch.storage[batch.byteCount..<end]).copyMemory(from: payload)
        var packet = packet
        packet.offset = Int32(truncatingIfNeeded: batch.byteCount)
        packet.length = Int32(truncatingIfNeeded: payload.count)
        batch.packets.append(packet)
        batch.byteCount = end
    }

    /// Whether nothing has been added since the last ``finish(arrival:)``.
    public var isEmpty: Bool { current == nil }

    /// The payload bytes that have been added since the last ``finish(arrival:)``.
    public var waitingByteCount: Int { current?.byteCount ?? 0 }

    /// Closes the batch and hands it out; nil when nothing was added.
    public mutating func finish(arrival: Instant) -> PacketBatch? {
        guard let batch = current else { return nil }
        current = nil
        batch.arrival = arrival
        usualByteCount += (batch.byteCount - usualByteCount) / 16
        return batch
    }

    /// Frees half of the lent batches if nobody has held that many for two rounds. A ring that releases a group of
    /// pictures at a time needs all of them again before its next release.
    private mutating func freeSpares() {
        let half = lent.count / 2
        guard half >= 32 else { return }
        let probed = (next + half) % lent.count
        guard isKnownUniquelyReferenced(&lent[probed]) else {
            spareCount = 0
            return
        }
        spareCount += 1
        guard spareCount >= lent.count * 2 else { return }
        // The oldest ones go.
        lent = (half..<lent.count).map { lent[(next + $0) % lent.count] }
        next = 0
        spareCount = 0
    }

    private mutating func takeBatch(capacity: Int) -> PacketBatch {
        freeSpares()
        // A ring releases the oldest lent batch first, so it is enough to look at one.
        if !lent.isEmpty, isKnownUniquelyReferenced(&lent[next]) {
            let batch = lent[next]
            batch.packets.removeAll(keepingCapacity: true)
            batch.byteCount = 0
            // A batch that has held a key frame would keep that much memory forever, and in time all batches would.
            let enough = max(usualByteCount * 2, 2048)
            if batch.storage.count > enough * 4 { batch.replaceStorage(capacity: enough) }
            next = (next + 1) % lent.count
            return batch
        }
        let batch = PacketBatch(capacity: capacity)
        // It is inserted at the place of the oldest one: the array stays in the order of lending.
        lent.insert(batch, at: next)
        next = (next + 1) % lent.count
        return batch
    }
}
