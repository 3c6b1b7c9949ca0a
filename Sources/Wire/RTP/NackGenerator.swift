import Transport

/// Finds which packets are missing and when to ask for them (RFC 4585, section 6.2.1).
///
/// It asks for a packet after a short wait, since the network may only have reordered it. It asks again each time an
/// answer is overdue by the round-trip time. It stops when the packet would come too late to be played.
public struct NackGenerator: Sendable {
    /// The limits.
    public struct Configuration: Sendable {
        /// How long it is worth asking for a packet.
        public var maximumAge: Duration
        /// How long a gap may be only a reordering.
        public var reorderingDelay: Duration
        /// The most requests for one packet.
        public var maximumRequests: Int
        /// The most packets that may be missing at a time. Beyond that a key frame costs less.
        public var maximumMissing: Int

        /// Sets the limits.
        public init(
            maximumAge: Duration = .milliseconds(500), reorderingDelay: Duration = .milliseconds(5),
            maximumRequests: Int = 10, maximumMissing: Int = 450
        ) {
            self.maximumAge = maximumAge
            self.reorderingDelay = reorderingDelay
            self.maximumRequests = maximumRequests
            self.maximumMissing = maximumMissing
        }
    }

    /// What a packet turned out to be.
    public enum Reception: Equatable, Sendable {
        /// The packet after the newest one.
        case next
        /// A packet ahead of the newest: `missing` packets before it have not come.
        case gap(missing: Int)
        /// A packet that was missing; `requests` is how often it had been asked for.
        case recovered(requests: Int)
        /// A duplicate, or a packet that had been given up.
        case old
        /// A packet so far ahead that all missing ones were given up.
        case tooManyMissing
    }

    private struct Missing {
        var number: Int64
        var givenUpAt: Instant
        var nextRequest: Instant
        var requests = 0
    }

    /// The limits.
    public let configuration: Configuration
    /// The time that an answer takes, according to reports.
    public var roundTripTime: Duration = .milliseconds(50)
    /// How many packets have been asked for; one that is asked for twice counts twice.
    public private(set) var requestCount: UInt64 = 0
    /// How many missing packets came after all.
    public private(set) var recoveredCount: UInt64 = 0
    /// How many packets have been given up.
    public private(set) var abandonedCount: UInt64 = 0

    private var unwrapper = SequenceUnwrapper()
    /// In rising order.
    private var missing: [Missing] = []

    /// Nothing has arrived.
    public init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        missing.reserveCapacity(configuration.maximumMissing)
    }

    /// How many packets are missing and not given up.
    public var missingCount: Int { missing.count }

    /// Whether a packet is missing and has not been given up.
    public func isMissing(_ sequenceNumber: UInt16) -> Bool { index(of: unwrapper.peek(sequenceNumber)) != nil }

    /// Records a packet of the stream; a retransmission under its original sequence number.
    public mutating func receive(sequenceNumber: UInt16, at now: Instant) -> Reception {
        guard let newest = unwrapper.newest else {
            _ = unwrapper.unwrap(sequenceNumber)
            return .next
        }
        let number = unwrapper.unwrap(sequenceNumber)
        if number == newest + 1 { return .next }
        if number <= newest {
            guard let index = index(of: number) else { return .old }
            let requests = missing.remove(at: index).requests
            recoveredCount &+= 1
            return .recovered(requests: requests)
        }
        let count = Int(number - newest - 1)
        guard missing.count + count <= configuration.maximumMissing else {
            abandonedCount &+= UInt64(missing.count + count)
            missing.removeAll(keepingCapacity: true)
            return .tooManyMissing
        }
        for absent in newest + 1..<number {
            missing.append(
                Missing(
                    number: absent, givenUpAt: now + configuration.maximumAge,
                    nextRequest: now + configuration.reorderingDelay))
        }
        return .gap(missing: count)
    }

    /// Gives up everything before `sequenceNumber`, for example because a key frame starts there.
    public mutating func abandon(before sequenceNumber: UInt16) {
        let number = unwrapper.peek(sequenceNumber)
        let count = missing.firstIndex { $0.number >= number } ?? missing.count
        abandonedCount &+= UInt64(count)
        missing.removeFirst(count)
    }

    /// Replaces `numbers` with the sequence numbers to ask for now, in rising order. Keep the array for the next call.
    public mutating func takeRequests(at now: Instant, into numbers: inout [UInt16]) {
        numbers.removeAll(keepingCapacity: true)
        guard !missing.isEmpty else { return }
        let before = missing.count
        missing.removeAll { $0.givenUpAt <= now }
        abandonedCount &+= UInt64(before - missing.count)
        let patience = max(roundTripTime + roundTripTime / 4, .milliseconds(20))
        for index in missing.indices where missing[index].nextRequest <= now {
            numbers.append(UInt16(truncatingIfNeeded: missing[index].number))
            missing[index].requests += 1
            missing[index].nextRequest =
                missing[index].requests < configuration.maximumRequests ? now + patience : .distantFuture
        }
        requestCount &+= UInt64(numbers.count)
    }

    /// When ``takeRequests(at:into:)`` has something to do; nil while nothing is missing.
    public var nextDeadline: Instant? {
        var deadline: Instant?
        for entry in missing { deadline = min(deadline ?? .distantFuture, entry.nextRequest, entry.givenUpAt) }
        return deadline
    }

    private func index(of number: Int64) -> Int? {
        var low = 0
        var high = missing.count
        while low < high {
            let middle = (low + high) / 2
            if missing[middle].number < number { low = middle + 1 } else { high = middle }
        }
        return low < missing.count && missing[low].number == number ? low : nil
    }
}
