import RTP
import Transport

/// Turns a camera's sequence numbers and timestamps into ones that continue without a jump, whatever the camera does:
/// reconnections, a new synchronization source, a clock that is set.
///
/// Packets that the camera lost stay visible as a gap in the sequence numbers, so that a viewer's decoder knows. So does
/// a restart without a reconnection.
/// Packets that the source adds or leaves out cause no gap.
package struct MediaTimeline {
    /// How a packet relates to the one before it.
    enum Arrival: Equatable {
        /// The next packet.
        case inOrder
        /// Packets before it are missing.
        case afterGap(Int)
        /// The stream has started or restarted.
        case restarted
        /// The packet has come before, or is too late to be of use.
        case outdated
    }

    private let clockRate: Int64
    private var nextSequenceNumber: UInt16
    private var newest: Newest?
    private var suspect: UInt16?
    private var timestampOffset: UInt32 = 0
    private var lastOutput: UInt32?
    private var lastArrival: Instant = .zero
    private var pace = ClockPace()
    /// How often the camera's clock has jumped or run backwards within one stream.
    package private(set) var leaps = 0
    /// The camera's clock runs at a rate so wrong that times of arrival are used instead.
    package var hasWrongPace: Bool { pace.isWrong }

    private struct Newest {
        var ssrc: UInt32
        var sequenceNumber: UInt16
        var timestamp: UInt32
    }

    /// How far a gap may reach before it is treated as a restart (RFC 3550, appendix A.1).
    private static let maximumGap = 3000
    /// How far back a packet may be and still be treated as late.
    private static let maximumDisorder = 100
    /// How much media time may differ from the time of arrival before the camera's clock is treated as set.
    private static let maximumClockJump: Int64 = 10_000_000_000
    /// How far a timestamp may step back. Frames that are shown before earlier ones step back by some frames; a clock
    /// that is set back goes further, and a viewer's picture would freeze until the clock had caught up.
    private static let maximumBackwardStep: Int64 = 1_000_000_000

    /// Starts with the number of the first packet that goes out.
    init(clockRate: Int, firstSequenceNumber: UInt16) {
        self.clockRate = Int64(max(1, clockRate))
        nextSequenceNumber = firstSequenceNumber
    }

    /// The camera restarts: its next packet follows the last one that went out.
    mutating func restart() {
        newest = nil
        suspect = nil
    }

    /// Handles a packet's numbers.
    mutating func accept(ssrc: UInt32, sequenceNumber: UInt16, timestamp: UInt32, at now: Instant) -> Arrival {
        guard let previous = newest, previous.ssrc == ssrc else {
            begin(ssrc: ssrc, sequenceNumber: sequenceNumber, timestamp: timestamp, at: now)
            return .restarted
        }
        let distance = sequenceNumber.sequenceDistance(from: previous.sequenceNumber)
        if distance <= 0, distance >= -Self.maximumDisorder {
            // Two packets in a row from the past are not late: the camera has restarted.
            guard suspect == sequenceNumber, distance != 0 else {
                suspect = sequenceNumber &+ 1
                return .outdated
            }
            begin(ssrc: ssrc, sequenceNumber: sequenceNumber, timestamp: timestamp, at: now)
            return .restarted
        }
        guard distance > 0, distance <= Self.maximumGap else {
            begin(ssrc: ssrc, sequenceNumber: sequenceNumber, timestamp: timestamp, at: now)
            return .restarted
        }
        suspect = nil
        let mediaTime = Int64(Int32(bitPattern: timestamp &- previous.timestamp)) * 1_000_000_000 / clockRate
        let passed = (now - lastArrival).wholeNanoseconds
        if abs(mediaTime &- passed) > Self.maximumClockJump || mediaTime < -Self.maximumBackwardStep {
            leaps &+= 1
            anchor(timestamp, at: now)
            pace.restart(at: now)
        } else {
            pace.record(mediaTime, at: now)
            if pace.isWrong, mediaTime != 0 { anchor(timestamp, at: now) }
        }
        newest = Newest(ssrc: ssrc, sequenceNumber: sequenceNumber, timestamp: timestamp)
        remember(timestamp, at: now)
        if distance == 1 { return .inOrder }
        nextSequenceNumber &+= UInt16(truncatingIfNeeded: distance - 1)
        return .afterGap(distance - 1)
    }

    /// The number of the next packet that goes out.
    mutating func takeSequenceNumber() -> UInt16 {
        defer { nextSequenceNumber &+= 1 }
        return nextSequenceNumber
    }

    /// The outgoing timestamp for a timestamp of the camera.
    package func outgoing(_ timestamp: UInt32) -> UInt32 { timestamp &+ timestampOffset }

    /// The camera's synchronization source.
    package var ssrc: UInt32? { newest?.ssrc }

    /// The outgoing timestamp of the newest packet; nil before the first one.
    package var newestTimestamp: UInt32? { newest.map { outgoing($0.timestamp) } }

    private mutating func begin(ssrc: UInt32, sequenceNumber: UInt16, timestamp: UInt32, at now: Instant) {
        suspect = nil
        // How many packets are missing is unknown. It is at least one, since the two ends do not meet: a decoder must not
        // continue with pictures that refer to others. The caller of `restart` reports that to the viewers itself.
        if newest != nil { nextSequenceNumber &+= 1 }
        newest = Newest(ssrc: ssrc, sequenceNumber: sequenceNumber, timestamp: timestamp)
        pace.restart(at: now)
        if lastOutput != nil { anchor(timestamp, at: now) }
        remember(timestamp, at: now)
    }

    /// Maps `timestamp` to the last packet's media time plus the time that has really passed, at least one tick.
    private mutating func anchor(_ timestamp: UInt32, at now: Instant) {
        guard let lastOutput else { return }
        let passed = max(0, (now - lastArrival).wholeNanoseconds)
        // Whole seconds and the rest are separate, since nanoseconds times ticks would exceed 64 bits after some hours.
        let ticks = passed / 1_000_000_000 &* clockRate &+ passed % 1_000_000_000 * clockRate / 1_000_000_000
        timestampOffset = lastOutput &+ UInt32(truncatingIfNeeded: max(1, ticks)) &- timestamp
    }

    private mutating func remember(_ timestamp: UInt32, at now: Instant) {
        lastOutput = outgoing(timestamp)
        lastArrival = now
    }
}

/// Judges by the times of arrival whether a camera's media clock runs at the right rate.
///
/// Crystals are off by some parts in a million, which is tolerated. Some cameras count at a rate other than the
/// described one, and their minute lasts six seconds or ten minutes. Their timestamps do not say when a picture should
/// be shown.
struct ClockPace: Sendable {
    /// How much time passes before a verdict: longer than a burst or a pause of a network.
    private static let window: Int64 = 10_000_000_000
    /// This many windows in a row must agree.
    private static let windows = 2

    /// The clock was more than a quarter off, and has not been right since.
    private(set) var isWrong = false
    private var begin: Instant?
    private var mediaTime: Int64 = 0
    private var dissents = 0

    /// Drops the measurements, since the clock was set. The verdict stays until it is disproved.
    mutating func restart(at now: Instant) {
        begin = now
        mediaTime = 0
        dissents = 0
    }

    /// The clock has advanced by this many nanoseconds since the packet before.
    mutating func record(_ nanoseconds: Int64, at now: Instant) {
        guard let begin else { return restart(at: now) }
        mediaTime &+= nanoseconds
        let passed = (now - begin).wholeNanoseconds
        guard passed >= Self.window else { return }
        // Off by a quarter is wrong, within a tenth is right, and anything between changes nothing.
        let isOff = mediaTime &* 4 > passed &* 5 || mediaTime &* 5 < passed &* 4
        let isRight = mediaTime &* 10 < passed &* 11 && mediaTime &* 10 > passed &* 9
        dissents = (isWrong ? isRight : isOff) ? dissents + 1 : 0
        (self.begin, mediaTime) = (now, 0)
        guard dissents >= Self.windows else { return }
        isWrong.toggle()
        dissents = 0
    }
}

/// What a receiver report says about one track (RFC 3550, section 6.4).
///
/// Jitter is left at zero: over TCP it would measure the connection's retransmissions, not the camera.
struct ReceptionCounts {
    private(set) var packets: UInt64 = 0
    private var lost: Int32 = 0
    private var cycles: UInt32 = 0
    private var highest: UInt16 = 0
    private var packetsAtReport: UInt64 = 0
    private var lostAtReport: Int32 = 0
    private var lastSenderReport: (middle: UInt32, arrival: Instant)?

    /// Counts a packet.
    mutating func count(_ arrival: MediaTimeline.Arrival, sequenceNumber: UInt16) {
        packets &+= 1
        switch arrival {
        case .outdated: return
        case .afterGap(let missing): lost = min(lost &+ Int32(truncatingIfNeeded: missing), 0x7F_FFFF)
        case .restarted: cycles = 0
        case .inOrder: break
        }
        if arrival != .restarted, sequenceNumber < highest { cycles &+= 0x1_0000 }
        highest = sequenceNumber
    }

    /// Records a sender report.
    mutating func record(_ ntp: NTPTimestamp, at now: Instant) {
        lastSenderReport = (ntp.middle, now)
    }

    /// The block for the next report.
    mutating func block(ssrc: UInt32, at now: Instant) -> RTCPReportBlock {
        let received = packets - packetsAtReport
        let missing = UInt64(max(0, lost - lostAtReport))
        let fraction = missing == 0 ? 0 : min(255, missing * 256 / (received + missing))
        packetsAtReport = packets
        lostAtReport = lost
        return RTCPReportBlock(
            ssrc: ssrc, fractionLost: UInt8(fraction), cumulativeLost: lost,
            extendedHighestSequenceNumber: cycles | UInt32(highest), jitter: 0,
            lastSenderReport: lastSenderReport?.middle ?? 0,
            delaySinceLastSenderReport: lastSenderReport.map { CompactTime.units(now - $0.arrival) } ?? 0)
    }
}
