/// Compares and measures sequence numbers on their circle (RFC 3550, appendix A.1).
extension UInt16 {
    /// How far this sequence number is ahead of `other` in the shorter direction; negative when it is behind.
    @inlinable
    public func sequenceDistance(from other: UInt16) -> Int {
        Int(Int16(bitPattern: self &- other))
    }

    /// Whether this sequence number comes after `other`.
    @inlinable
    public func isNewerSequence(than other: UInt16) -> Bool {
        Int16(bitPattern: self &- other) > 0
    }
}

extension UInt32 {
    /// Whether this RTP timestamp comes after `other` in the shorter direction.
    @inlinable
    public func isNewerTimestamp(than other: UInt32) -> Bool {
        Int32(bitPattern: self &- other) > 0
    }
}

/// Extends 16-bit sequence numbers past their wrap. It assumes that each one is near the newest before it.
///
/// The first number counts as part of the second cycle. So numbers that were sent before it (the network may reorder
/// them) still have a place. A start above 32,768 is not a special case.
public struct SequenceUnwrapper: Sendable, BitwiseCopyable {
    @usableFromInline var latest: Int64?

    /// The newest number so far; nil before the first.
    @inlinable public var newest: Int64? { latest }

    /// Nothing has been seen.
    @inlinable
    public init() {
        latest = nil
    }

    /// The extended `sequenceNumber`, without recording it.
    @inlinable
    public func peek(_ sequenceNumber: UInt16) -> Int64 {
        guard let newest else { return 0x1_0000 + Int64(sequenceNumber) }
        return newest &+ Int64(sequenceNumber.sequenceDistance(from: UInt16(truncatingIfNeeded: newest)))
    }

    /// The extended `sequenceNumber`; a number ahead of all others becomes the newest.
    @inlinable
    public mutating func unwrap(_ sequenceNumber: UInt16) -> Int64 {
        let number = peek(sequenceNumber)
        if number > latest ?? .min { latest = number }
        return number
    }
}

/// Extends 32-bit RTP timestamps past their wrap; see ``SequenceUnwrapper``.
public struct TimestampUnwrapper: Sendable, BitwiseCopyable {
    @usableFromInline var latest: Int64?

    /// The newest timestamp so far; nil before the first.
    @inlinable public var newest: Int64? { latest }

    /// Nothing has been seen.
    @inlinable
    public init() {
        latest = nil
    }

    /// The extended `timestamp`; one ahead of all others becomes the newest. The first keeps its own value.
    @inlinable
    public mutating func unwrap(_ timestamp: UInt32) -> Int64 {
        let number: Int64
        if let newest {
            number = newest &+ Int64(Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: newest)))
        } else {
            number = Int64(timestamp)
        }
        if number > latest ?? .min { latest = number }
        return number
    }
}
