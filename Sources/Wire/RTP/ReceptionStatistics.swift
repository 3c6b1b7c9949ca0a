import Transport

/// Counts what arrives of one stream, and reports it in report blocks (RFC 3550, section 6.4.1 and appendices A.1, A.3
/// and A.8).
///
/// It receives each packet of the stream's own SSRC, even one without payload. Packets of a retransmission stream have
/// a separate SSRC and are not counted here (RFC 4588, section 4).
public struct ReceptionStatistics: Sendable {
    /// The stream's clock rate in hertz.
    public let clockRate: Int
    /// Packets received, including duplicates.
    public private(set) var packetCount: UInt64 = 0
    /// Payload bytes received.
    public private(set) var octetCount: UInt64 = 0
    /// How often the stream has restarted at a distant sequence number.
    public private(set) var restartCount = 0

    private var unwrapper = SequenceUnwrapper()
    private var first: Int64 = 0
    private var receivedSinceFirst: Int64 = 0
    /// If this sequence number comes right after a distant one, the stream has restarted.
    private var expectedAfterJump: UInt16?
    private var expectedAtLastReport: Int64 = 0
    private var receivedAtLastReport: Int64 = 0

    private var lastTransit: UInt32?
    /// The jitter in sixteenths of a tick, which keeps the running mean exact in integers (RFC 3550, appendix A.8).
    private var scaledJitter: UInt32 = 0

    private var lastSenderReport: (middle: UInt32, arrival: Instant)?

    /// A packet this far ahead means a restart, not a loss (RFC 3550, appendix A.1).
    private static let maximumDropout = 3_000
    /// A packet this far behind means a restart, not a reordering.
    private static let maximumMisorder = 100

    /// Nothing has arrived. `clockRate` is in hertz.
    public init(clockRate: Int) {
        self.clockRate = max(1, clockRate)
    }

    /// Records a packet.
    public mutating func receive(sequenceNumber: UInt16, timestamp: UInt32, payloadLength: Int, at now: Instant) {
        if let newest = unwrapper.newest {
            let distance = sequenceNumber.sequenceDistance(from: UInt16(truncatingIfNeeded: newest))
            if distance > Self.maximumDropout || distance < -Self.maximumMisorder {
                guard sequenceNumber == expectedAfterJump else {
                    expectedAfterJump = sequenceNumber &+ 1
                    return
                }
                restartCount += 1
                start(sequenceNumber)
            }
            expectedAfterJump = nil
            _ = unwrapper.unwrap(sequenceNumber)
        } else {
            start(sequenceNumber)
        }
        packetCount &+= 1
        receivedSinceFirst += 1
        octetCount &+= UInt64(max(0, payloadLength))
        recordTransit(timestamp: timestamp, at: now)
    }

    /// Records a sender report of the stream.
    public mutating func receiveSenderReport(ntp: NTPTimestamp, at now: Instant) {
        lastSenderReport = (ntp.middle, now)
    }

    /// Packets expected and not received; negative when there were more duplicates than losses.
    public var lostCount: Int64 { expected - receivedSinceFirst }

    /// The interarrival jitter.
    public var jitter: Duration {
        .nanoseconds(Int64(scaledJitter >> 4) * 1_000_000_000 / Int64(clockRate))
    }

    /// Whether anything has arrived that can be reported.
    public var hasReceived: Bool { unwrapper.newest != nil }

    /// Makes the block of the next report. The fraction lost counts from the block before.
    public mutating func makeReportBlock(ssrc: UInt32, at now: Instant) -> RTCPReportBlock {
        let expectedInterval = expected - expectedAtLastReport
        let lostInterval = expectedInterval - (receivedSinceFirst - receivedAtLastReport)
        expectedAtLastReport = expected
        receivedAtLastReport = receivedSinceFirst
        let fraction = expectedInterval > 0 && lostInterval > 0 ? min(255, lostInterval * 256 / expectedInterval) : 0
        return RTCPReportBlock(
            ssrc: ssrc, fractionLost: UInt8(fraction),
            cumulativeLost: Int32(min(max(lostCount, -0x80_0000), 0x7F_FFFF)),
            // The unwrapper starts in the second cycle.
            extendedHighestSequenceNumber: UInt32(truncatingIfNeeded: (unwrapper.newest ?? 0x1_0000) &- 0x1_0000),
            jitter: scaledJitter >> 4, lastSenderReport: lastSenderReport?.middle ?? 0,
            delaySinceLastSenderReport: lastSenderReport.map { CompactTime.units(now - $0.arrival) } ?? 0)
    }

    private var expected: Int64 { unwrapper.newest.map { $0 - first + 1 } ?? 0 }

    private mutating func start(_ sequenceNumber: UInt16) {
        unwrapper = SequenceUnwrapper()
        first = unwrapper.unwrap(sequenceNumber)
        receivedSinceFirst = 0
        expectedAtLastReport = 0
        receivedAtLastReport = 0
        lastTransit = nil
        expectedAfterJump = nil
    }

    private mutating func recordTransit(timestamp: UInt32, at now: Instant) {
        let (seconds, rest) = now.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let ticks = seconds &* Int64(clockRate) &+ rest &* Int64(clockRate) / 1_000_000_000
        let transit = UInt32(truncatingIfNeeded: ticks) &- timestamp
        defer { lastTransit = transit }
        guard let lastTransit else { return }
        let difference = Int32(bitPattern: transit &- lastTransit).magnitude
        // A jump of more than ten seconds means a clock that was set, not a slow network.
        guard difference < UInt32(clamping: clockRate * 10) else { return }
        scaledJitter = scaledJitter &+ difference &- ((scaledJitter &+ 8) >> 4)
    }
}
