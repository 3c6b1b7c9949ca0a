import Congestion
import PeerConnection
import RTP
import Transport

/// When a viewer's RTCP reports go out, and on which wall clock.
struct ReportSchedule {
    /// The first reports come quickly, because a player needs one before it can play picture and sound together.
    private static let firstInterval = Duration.milliseconds(500)
    private static let quickReports = 4
    /// Five seconds otherwise (RFC 3550, section 6.2).
    private static let interval = Duration.seconds(5)

    /// The source of receiver reports if nothing is sent.
    let fallbackSSRC: UInt32
    private(set) var next: Instant?
    private var count = 0
    private var wallClock = WallClockReading(instant: .zero, unixNanoseconds: 0)

    init(fallbackSSRC: UInt32) {
        self.fallbackSSRC = fallbackSSRC
    }

    mutating func setWallClock(_ reading: WallClockReading) {
        wallClock = reading
    }

    /// The NTP time for `now`. It follows the monotonic clock, so a step of the system's clock cannot pull picture and
    /// sound apart.
    func ntp(at now: Instant) -> NTPTimestamp {
        NTPTimestamp(unixNanoseconds: wallClock.unixNanoseconds + (now - wallClock.instant).wholeNanoseconds)
    }

    mutating func start(at now: Instant) {
        count = 0
        next = now + .milliseconds(20)
    }

    mutating func advance(at now: Instant) {
        count += 1
        next = now + (count < Self.quickReports ? Self.firstInterval : Self.interval)
    }
}

/// A reading of both clocks at the same moment.
public struct WallClockReading: Sendable {
    /// The monotonic clock.
    public var instant: Instant
    /// The wall clock in nanoseconds since 1970.
    public var unixNanoseconds: Int64

    /// Pairs two readings.
    public init(instant: Instant, unixNanoseconds: Int64) {
        self.instant = instant
        self.unixNanoseconds = unixNanoseconds
    }
}

extension Viewer {
    /// Sends a sender report for each track, and a receiver report for the microphone.
    func sendReports(through sender: inout MediaSender, scratch: UnsafeMutableRawBufferPointer, at now: Instant) {
        reports.advance(at: now)
        if !egress.contains(where: \.isBacklog) { peer.endProbes() }
        for index in egress.indices { egress[index].forgetOldEpochs(at: now) }
        let wasLimited = line.isLimited
        recordSilence(at: now)
        line.update(at: now)
        recordLimitChange(from: wasLimited, at: now)
        chooseStream(at: now)
        guard remoteAddress != nil else { return }
        var block = talkback.reportBlock(at: now)
        for index in egress.indices where egress[index].packetsSent > 0 {
            guard let mapping = egress[index].timestamp(at: now) else { continue }
            var writer = ByteWriter(UnsafeMutableRawBufferPointer(rebasing: scratch[..<Self.maximumRTCPLength]))
            let ssrc = egress[index].configuration.ssrc
            writer.writeSenderReport(
                RTCPSenderReport(
                    ssrc: ssrc, ntp: reports.ntp(at: now), rtpTimestamp: mapping,
                    packetCount: UInt32(truncatingIfNeeded: egress[index].packetsSent),
                    octetCount: UInt32(truncatingIfNeeded: egress[index].bytesSent)),
                blocks: block.map { [$0] } ?? [])
            block = nil
            writer.writeSourceDescription(ssrc: ssrc, canonicalName: egress[index].configuration.canonicalName)
            sendRTCP(writer, scratch, through: &sender)
        }
        if let block {
            var writer = ByteWriter(UnsafeMutableRawBufferPointer(rebasing: scratch[..<Self.maximumRTCPLength]))
            let ssrc = egress.first?.configuration.ssrc ?? reports.fallbackSSRC
            writer.writeReceiverReport(ssrc: ssrc, blocks: [block])
            writer.writeSourceDescription(
                ssrc: ssrc, canonicalName: egress.first?.configuration.canonicalName ?? "gatehouse")
            sendRTCP(writer, scratch, through: &sender)
        }
    }

    /// Looks whether the viewer reports what it gets. On a TCP connection that is not needed: TCP sends no more than the path
    /// carries.
    private func recordSilence(at now: Instant) {
        if remoteAddress?.route == .tcp {
            line.estimator.recordPartialReport(at: now)
        } else {
            line.estimator.recordTime(sent: wire.bytes, at: now)
        }
    }
}

extension Egress {
    /// The viewer's RTP timestamp for `now`, for its sender reports.
    func timestamp(at now: Instant) -> UInt32? {
        guard let epoch, let timestamp = track.clock.timestamp(at: now) else { return nil }
        return timestamp &+ epoch.timestampOffset
    }
}
