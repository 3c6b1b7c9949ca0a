import Cameras
import MediaRelay
import RTP
import RTSP
import SDP
import Transport

/// One track as one reader gets it: its own source, sequence numbers and timestamps, and the packets that wait to be
/// sent.
struct ReaderTrack {
    /// The number in the description.
    let index: Int
    /// The track in the relay.
    let id: TrackID
    let clockRate: Int
    let ssrc: UInt32
    /// The agreed transport; nil before SETUP.
    var transport: RTSPTransport?
    /// The tap that feeds it, while the reader plays.
    var tap: QueueTap?
    var queue: SendQueue
    /// When the next burst of datagrams may be sent.
    var nextBurst: Instant?
    /// When the next sender report is due.
    var nextReport: Instant?
    private(set) var packetsSent: UInt64 = 0
    private(set) var octetsSent: UInt64 = 0

    private let header: RTPHeaderTemplate
    /// The number of the next packet, counted without wrapping.
    private var nextSequence: Int64
    /// What to add to the track's sequence numbers; nil before the first packet.
    private var sequenceOffset: Int64?
    /// What to add to the track's timestamps.
    let timestampOffset: UInt32
    /// A reference moment of the track: its timestamp, and when that was.
    private var moment: (timestamp: UInt32, instant: Instant)?
    private var reports = 0
    /// What to add to the wall clock to get the time of capture, in nanoseconds: for footage, how long ago it was.
    private var wallClockShift: Int64 = 0

    init(index: Int, id: TrackID, description: TrackDescription, random: inout RandomSource) {
        self.index = index
        self.id = id
        clockRate = max(description.codec.clockRate, 1)
        // Not every player accepts the source 0.
        ssrc = UInt32.random(in: 1...(.max), using: &random)
        queue = SendQueue(isVideo: description.kind == .video)
        header = RTPHeaderTemplate(
            payloadType: ServedDescription.payloadType(of: description.codec, track: index), ssrc: ssrc)
        nextSequence = Int64(UInt16(truncatingIfNeeded: random.next()))
        timestampOffset = UInt32(truncatingIfNeeded: random.next())
    }

    /// Adds a batch of the tap.
    mutating func append(
        _ tapped: TappedBatch, replay: ReplayHeaderExtension? = nil, ordinal: UInt64, at now: Instant
    ) {
        let packets = tapped.batch.packets
        guard packets.indices.contains(tapped.firstPacket) else { return }
        let timestamp = packets[tapped.firstPacket].timestamp &+ tapped.timestampOffset &+ timestampOffset
        moment = (timestamp, tapped.capture)
        queue.append(tapped, replay: replay, ordinal: ordinal, at: now)
        if nextReport == nil { nextReport = now }
    }

    /// Adds recorded packets, which were captured at another time than that of their sending.
    mutating func append(
        _ tapped: TappedBatch, captured: Int64, replay: ReplayHeaderExtension?, clock: WallClockReading,
        ordinal: UInt64, at now: Instant
    ) {
        append(tapped, replay: replay, ordinal: ordinal, at: now)
        let sent = clock.unixNanoseconds &+ (tapped.capture - clock.instant).wholeNanoseconds
        wallClockShift = captured &* 1_000 &- sent
    }

    /// The source has restarted: the numbers continue, and the next batch sets the clock again.
    mutating func restart(at now: Instant) {
        queue.removeAll()
        if nextReport != nil { nextReport = now }
        reports = 0
    }

    /// Ends the feed of the reader.
    mutating func pause() {
        tap = nil
        queue.removeAll()
        nextBurst = nil
        nextReport = nil
        reports = 0
        moment = nil
    }

    /// The moment of the oldest waiting packet.
    var firstCapture: Instant? {
        guard let first = queue.first, let timestamp = timestamp(ofPacket: first.next, in: first.tapped) else {
            return nil
        }
        return instant(of: timestamp)
    }

    /// The sequence number of the next packet.
    var nextSequenceNumber: UInt16 { UInt16(truncatingIfNeeded: nextSequence) }

    /// The reader's timestamp for `instant`; nil before the first packet.
    func timestamp(at instant: Instant) -> UInt32? {
        guard let moment else { return nil }
        let ticks = (instant - moment.instant).inSeconds * Double(clockRate)
        guard abs(ticks) < 9e15 else { return nil }
        return moment.timestamp &+ UInt32(truncatingIfNeeded: Int64(ticks.rounded()))
    }

    private func instant(of timestamp: UInt32) -> Instant? {
        guard let moment else { return nil }
        let ticks = Int64(Int32(bitPattern: timestamp &- moment.timestamp))
        return moment.instant + .nanoseconds(ticks * 1_000_000_000 / Int64(clockRate))
    }

    private func timestamp(ofPacket index: Int, in tapped: TappedBatch) -> UInt32? {
        let packets = tapped.batch.packets
        guard packets.indices.contains(index) else { return nil }
        return packets[index].timestamp &+ tapped.timestampOffset &+ timestampOffset
    }

    /// The length of the next packet with its RTP header; nil if nothing waits.
    var nextLength: Int? {
        guard let first = queue.first else { return nil }
        return headerLength(of: first) + Int(first.tapped.batch.packets[first.next].length)
    }

    private func headerLength(of entry: SendQueue.Entry) -> Int {
        header.length + (entry.replay == nil ? 0 : ReplayHeaderExtension.length)
    }

    /// Writes the next packet and returns its length; zero if nothing waits or it does not fit.
    mutating func writeNext(into output: UnsafeMutableRawBufferPointer) -> Int {
        guard let entry = queue.first else { return 0 }
        let packet = entry.tapped.batch.packets[entry.next]
        let headerLength = headerLength(of: entry)
        let length = headerLength + Int(packet.length)
        guard output.count >= length else { return 0 }
        let onTrack = entry.tapped.sequence(of: entry.next)
        if entry.followsGap || sequenceOffset == nil { sequenceOffset = nextSequence &- onTrack }
        let sequence = onTrack &+ (sequenceOffset ?? 0)
        _ = header.write(
            marker: packet.flags.contains(.marker), sequenceNumber: UInt16(truncatingIfNeeded: sequence),
            timestamp: packet.timestamp &+ entry.tapped.timestampOffset &+ timestampOffset, into: output)
        // It fits: the length counts it.
        _ = entry.replay?.part(isFirst: packet.flags.contains(.startsFrame), isLast: entry.next + 1 == entry.end)
            .write(into: output, headerLength: header.length)
        UnsafeMutableRawBufferPointer(rebasing: output[headerLength..<length])
            .copyMemory(from: entry.tapped.batch.payload(of: packet))
        nextSequence = sequence &+ 1
        packetsSent &+= 1
        octetsSent &+= UInt64(packet.length)
        queue.advance(to: entry.next + 1)
        return length
    }

    /// Skips the next packet, which no transport can carry: the player sees that it is missing.
    mutating func skipPacket() {
        guard let entry = queue.first else { return }
        if let sequenceOffset { nextSequence = entry.tapped.sequence(of: entry.next) &+ sequenceOffset &+ 1 }
        queue.advance(to: entry.next + 1)
    }

    /// Writes a sender report with the canonical name that ties the reader's tracks together, and returns its length.
    /// `interval` is the time to the next one, after the first few.
    mutating func writeReport(
        canonicalName: String, clock: WallClockReading, interval: Duration, at now: Instant,
        into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        scheduleReport(after: interval, at: now)
        guard let timestamp = timestamp(at: now) else { return 0 }
        let ntp = NTPTimestamp(
            unixNanoseconds: clock.unixNanoseconds &+ (now - clock.instant).wholeNanoseconds &+ wallClockShift)
        var writer = ByteWriter(output)
        writer.writeSenderReport(
            RTCPSenderReport(
                ssrc: ssrc, ntp: ntp, rtpTimestamp: timestamp, packetCount: UInt32(truncatingIfNeeded: packetsSent),
                octetCount: UInt32(truncatingIfNeeded: octetsSent)))
        writer.writeSourceDescription(ssrc: ssrc, canonicalName: canonicalName)
        return writer.overflowed ? 0 : writer.count
    }

    /// Writes a goodbye (RFC 3550, section 6.6) and returns its length; zero for a track that has sent nothing.
    func writeGoodbye(canonicalName: String, reason: String? = nil, into output: UnsafeMutableRawBufferPointer) -> Int {
        guard packetsSent > 0 else { return 0 }
        var writer = ByteWriter(output)
        writer.writeReceiverReport(ssrc: ssrc)
        writer.writeSourceDescription(ssrc: ssrc, canonicalName: canonicalName)
        writer.writeGoodbye(ssrcs: [ssrc], reason: reason)
        return writer.overflowed ? 0 : writer.count
    }

    /// The first reports come quickly, because a player needs one before it can play picture and sound together.
    private mutating func scheduleReport(after interval: Duration, at now: Instant) {
        reports += 1
        nextReport = now + (reports < 5 ? min(.milliseconds(500), interval) : interval)
    }
}
