import Transport

/// Puts a stream's packets into order. It holds packets that came too early until the missing ones come or their time
/// is over. It is bounded by time and by bytes, and it reports what is missing.
///
/// A packet that comes in order is handed out at once. Call ``next(at:)`` until it returns nil after each
/// ``insert(sequenceNumber:timestamp:marker:payloadType:payload:at:)`` and at ``nextDeadline``.
public struct PacketReorderBuffer: ~Copyable, @unchecked Sendable {
    // Proof for @unchecked: the memory behind the pointers is allocated and freed by this value alone, which cannot be
    // copied. So only the holder of the value can reach the memory.

    /// A packet in order.
    public struct Packet {
        /// The sequence number, counted on past its wraps.
        public let number: Int64
        /// The RTP timestamp.
        public let timestamp: UInt32
        /// The marker bit.
        public let marker: Bool
        /// The payload type; 0 where it was not given.
        public private(set) var payloadType: UInt8 = 0
        /// The payload; valid until the next call to the buffer.
        public let payload: UnsafeRawBufferPointer
        /// When the packet arrived.
        public let arrival: Instant
    }

    /// What comes next in the stream.
    public enum Output {
        case packet(Packet)
        /// This many packets have not come in time.
        case gap(Int)
    }

    private struct Slot {
        var number: Int64 = -1
        var timestamp: UInt32 = 0
        var marker = false
        var payloadType: UInt8 = 0
        var length = 0
        var memory = 0
        var arrival: Instant = .zero
    }

    /// How long a packet waits for those before it.
    public let maximumDelay: Duration
    /// The most payload bytes that wait.
    public let maximumBytes: Int
    /// Packets that came too late, or twice.
    public private(set) var lateCount: UInt64 = 0
    /// Packets that did not come in time.
    public private(set) var lostCount: UInt64 = 0

    private static let capacity = 1_024
    private var slots: [Slot]
    private var memories: [UnsafeMutableRawBufferPointer] = []
    /// Free memory blocks. The block that was freed last is used first, so an ordered stream needs only one.
    private var free: [Int] = []
    private var handedOut: Int?
    private var waitingCount = 0
    private var waitingBytes = 0

    private var unwrapper = SequenceUnwrapper()
    private var expected: Int64?
    private var newest: Int64 = 0
    private var pendingGap = 0
    private var expectedAfterJump: UInt16?
    private let startsAtFirstPacket: Bool

    /// An empty buffer. If `startsAtFirstPacket` is false, packets wait until ``start(at:)`` names the first one.
    public init(maximumDelay: Duration, maximumBytes: Int = 2 << 20, startsAtFirstPacket: Bool = true) {
        self.maximumDelay = maximumDelay
        self.maximumBytes = maximumBytes
        self.startsAtFirstPacket = startsAtFirstPacket
        slots = Array(repeating: Slot(), count: Self.capacity)
    }

    deinit {
        for memory in memories { memory.deallocate() }
    }

    /// The number of waiting packets.
    public var count: Int { waitingCount }

    /// Whether packets wait for ``start(at:)``: at the beginning, and after the source has restarted.
    public var needsStart: Bool { expected == nil && !startsAtFirstPacket }

    /// Copies a packet in. Returns false when it is a duplicate or too late.
    @discardableResult
    public mutating func insert(
        sequenceNumber: UInt16, timestamp: UInt32, marker: Bool, payloadType: UInt8 = 0,
        payload: UnsafeRawBufferPointer, at now: Instant
    ) -> Bool {
        releaseHandedOut()
        if isRestart(sequenceNumber) { restart() }
        let number = unwrapper.unwrap(sequenceNumber)
        if expected == nil {
            if startsAtFirstPacket {
                expected = number
            } else {
                dropStale(at: now)
            }
            if waitingCount == 0 { newest = number }
            guard (number - newest).magnitude < UInt64(Self.capacity) else {
                // A jump while the start is unknown: the waiting packets belong to an earlier stream.
                dropAll()
                newest = number
                return insert(
                    sequenceNumber: sequenceNumber, timestamp: timestamp, marker: marker, payloadType: payloadType,
                    payload: payload, at: now)
            }
        }
        if let expected {
            guard number >= expected else {
                lateCount &+= 1
                return false
            }
            if number - expected >= Int64(Self.capacity) { skip(to: number) }
        }
        let index = Self.index(number)
        guard slots[index].number != number else {
            lateCount &+= 1
            return false
        }
        // Nothing remains outside the window. So the packet here is older, and was never named as the start.
        if slots[index].number >= 0 { drop(index) }
        let memory = takeMemory(payload.count)
        memories[memory].copyMemory(from: payload)
        slots[index] = Slot(
            number: number, timestamp: timestamp, marker: marker, payloadType: payloadType, length: payload.count,
            memory: memory, arrival: now)
        waitingCount += 1
        waitingBytes += payload.count
        newest = max(newest, number)
        return true
    }

    /// Sets the first wanted packet. Packets that wait before it are dropped.
    public mutating func start(at sequenceNumber: UInt16) {
        releaseHandedOut()
        let number = unwrapper.peek(sequenceNumber)
        for index in slots.indices where slots[index].number >= 0 && slots[index].number < number { drop(index) }
        expected = number
        newest = max(newest, number)
    }

    /// What comes next; nil while that has not arrived.
    public mutating func next(at now: Instant) -> Output? {
        releaseHandedOut()
        if pendingGap > 0 {
            defer { pendingGap = 0 }
            return .gap(pendingGap)
        }
        guard let expected else { return nil }
        let index = Self.index(expected)
        if slots[index].number == expected {
            let slot = slots[index]
            slots[index].number = -1
            waitingCount -= 1
            waitingBytes -= slot.length
            handedOut = slot.memory
            self.expected = expected + 1
            return .packet(
                Packet(
                    number: slot.number, timestamp: slot.timestamp, marker: slot.marker, payloadType: slot.payloadType,
                    payload: UnsafeRawBufferPointer(rebasing: memories[slot.memory][..<slot.length]),
                    arrival: slot.arrival))
        }
        guard let head = firstWaiting(),
            waitingBytes > maximumBytes || slots[Self.index(head)].arrival + maximumDelay <= now
        else { return nil }
        let missing = Int(head - expected)
        lostCount &+= UInt64(missing)
        self.expected = head
        return .gap(missing)
    }

    /// When a missing packet's time is over; nil while none is missing.
    public var nextDeadline: Instant? {
        guard expected != nil, let head = firstWaiting() else { return nil }
        return slots[Self.index(head)].arrival + maximumDelay
    }

    private func firstWaiting() -> Int64? {
        guard waitingCount > 0, var number = expected else { return nil }
        // The loop is bounded by the capacity: nothing further ahead is ever kept.
        while number <= newest {
            if slots[Self.index(number)].number == number { return number }
            number += 1
        }
        return nil
    }

    /// Whether the source restarted: the number is far behind the expected one, and the one after it has come, too.
    private mutating func isRestart(_ sequenceNumber: UInt16) -> Bool {
        guard let expected, expected - unwrapper.peek(sequenceNumber) > Int64(Self.capacity) else {
            expectedAfterJump = nil
            return false
        }
        defer { expectedAfterJump = sequenceNumber &+ 1 }
        return sequenceNumber == expectedAfterJump
    }

    private mutating func restart() {
        dropAll()
        unwrapper = SequenceUnwrapper()
        expected = nil
        expectedAfterJump = nil
        // The number of missing packets is unknown. It is at least one, since the two ends do not meet.
        pendingGap = max(1, pendingGap)
        lostCount &+= 1
    }

    private mutating func skip(to number: Int64) {
        guard let expected else { return }
        let missing = Int(number - expected)
        dropAll()
        lostCount &+= UInt64(missing)
        pendingGap += missing
        self.expected = number
    }

    /// While the start is unknown, nothing leaves by itself. So waiting packets are dropped when their time is over.
    private mutating func dropStale(at now: Instant) {
        guard waitingCount > 0 else { return }
        for index in slots.indices where slots[index].number >= 0 {
            if slots[index].arrival + maximumDelay <= now || waitingBytes > maximumBytes { drop(index) }
        }
    }

    private mutating func dropAll() {
        for index in slots.indices where slots[index].number >= 0 { drop(index) }
    }

    private mutating func drop(_ index: Int) {
        free.append(slots[index].memory)
        waitingCount -= 1
        waitingBytes -= slots[index].length
        slots[index].number = -1
    }

    private mutating func releaseHandedOut() {
        guard let memory = handedOut else { return }
        free.append(memory)
        handedOut = nil
    }

    private mutating func takeMemory(_ length: Int) -> Int {
        guard let memory = free.popLast() else {
            memories.append(.allocate(byteCount: max(length, 1_504), alignment: 16))
            return memories.count - 1
        }
        if memories[memory].count < length {
            memories[memory].deallocate()
            memories[memory] = .allocate(byteCount: length, alignment: 16)
        }
        return memory
    }

    private static func index(_ number: Int64) -> Int {
        Int(truncatingIfNeeded: number & Int64(capacity - 1))
    }
}
