import STUN
import Transport

/// An answered probe of the path in use.
public struct ICEProbeAnswer: Equatable, Sendable, BitwiseCopyable {
    /// The number that the driver gave to the probe.
    public var number: UInt64
    /// The time from the probe to its answer.
    public var roundTripTime: Duration

    /// An answer to the probe with this number.
    public init(number: UInt64, roundTripTime: Duration) {
        self.number = number
        self.roundTripTime = roundTripTime
    }
}

/// The checks on the selected pair that the driver sends behind its data (``ICEAgent/writeProbe(_:into:at:)``).
struct PathProbes {
    private struct Probe {
        var id: STUNTransactionID
        var number: UInt64
        var sent: Instant
    }

    /// More are never useful: an answer also covers all probes before its own.
    private static let capacity = 64

    /// In the order of sending.
    private var waiting: [Probe] = []
    /// The newest answer that the driver has not taken.
    private var answer: ICEProbeAnswer?

    mutating func sent(_ id: STUNTransactionID, number: UInt64, at now: Instant) {
        if waiting.capacity == 0 { waiting.reserveCapacity(Self.capacity) }
        if waiting.count == Self.capacity { waiting.removeFirst() }
        waiting.append(Probe(id: id, number: number, sent: now))
    }

    func awaits(_ id: STUNTransactionID) -> Bool { waiting.contains { $0.id == id } }

    /// Handles an authenticated answer. Returns the round-trip time.
    mutating func answered(_ id: STUNTransactionID, at now: Instant) -> Duration? {
        guard let position = waiting.firstIndex(where: { $0.id == id }) else { return nil }
        let probe = waiting[position]
        waiting.removeFirst(position + 1)
        answer = ICEProbeAnswer(number: probe.number, roundTripTime: now - probe.sent)
        return now - probe.sent
    }

    mutating func takeAnswer() -> ICEProbeAnswer? { answer.take() }

    /// Counts the probes in progress as lost, and frees their memory.
    mutating func removeAll() {
        waiting = []
        answer = nil
    }
}
