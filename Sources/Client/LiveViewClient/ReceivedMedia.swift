import RTP
import SDP
import Transport

/// Receives the packets of one track. It puts them in order, counts and requests what is missing, and assembles whole
/// frames.
struct ReceivedMedia {
    /// Counts of what arrived.
    struct Counts: Sendable {
        var packets: UInt64 = 0
        var bytes: UInt64 = 0
        var retransmitted: UInt64 = 0
        var firstSequence: Int64?
        var highestSequence: Int64 = 0
        /// How many packets of earlier sources should have arrived.
        private var earlierExpected: UInt64 = 0

        /// How many packets should have arrived, by the sequence numbers.
        var expected: UInt64 {
            earlierExpected + (firstSequence.map { UInt64(max(0, highestSequence - $0 + 1)) } ?? 0)
        }

        /// The numbers of another source follow, which begin anywhere.
        mutating func beginSource() {
            earlierExpected = expected
            firstSequence = nil
            highestSequence = 0
        }

        /// How many have not.
        var lost: UInt64 { expected > packets ? expected - packets : 0 }
    }

    /// What a packet of the track contains.
    enum Content {
        case media
        /// A retransmitted packet (RFC 4588).
        case retransmission
        /// A payload type that was not agreed.
        case unknown
    }

    let media: NegotiatedMedia
    let isVideo: Bool
    // Lookup tables, used for each packet.
    private let mediaTypes: PayloadTypeSet
    private let retransmissionTypes: PayloadTypeSet
    private let retransmissionSSRCs: [UInt32]
    private(set) var counts = Counts()
    private(set) var ssrc: UInt32?
    var statistics: ReceptionStatistics?
    private var unwrapper = SequenceUnwrapper()
    /// The newest pairing of the sender's wall clock and RTP clock.
    private var senderReport: RTCPSenderReport?

    init(media: NegotiatedMedia) {
        self.media = media
        self.isVideo = media.kind == .video
        self.mediaTypes = PayloadTypeSet(media.receivePayloadTypes.keys)
        self.retransmissionTypes = PayloadTypeSet(media.receiveRetransmissionPayloadTypes.keys)
        self.retransmissionSSRCs = Array(media.remoteRetransmissionSSRCs.values)
        self.ssrc = media.remoteSSRCs.first
    }

    /// Whether `packet` belongs to this track.
    func accepts(_ packet: RTPPacketView) -> Bool {
        packet.ssrc == ssrc || mediaTypes.contains(packet.payloadType)
            || retransmissionTypes.contains(packet.payloadType) || retransmissionSSRCs.contains(packet.ssrc)
    }

    /// What a packet of this track contains.
    func content(of packet: RTPPacketView) -> Content {
        if retransmissionTypes.contains(packet.payloadType) { return .retransmission }
        return mediaTypes.contains(packet.payloadType) ? .media : .unknown
    }

    /// Counts a packet of the track's own stream. Returns whether it is the first one of another source than the one that
    /// has sent so far.
    @discardableResult
    mutating func count(_ packet: RTPPacketView, at now: Instant) -> Bool {
        let replacesSource = statistics != nil && ssrc != packet.ssrc
        if ssrc != packet.ssrc || statistics == nil {
            // What was reported of another source says nothing about this one.
            if ssrc != packet.ssrc { senderReport = nil }
            counts.beginSource()
            unwrapper = SequenceUnwrapper()
            ssrc = packet.ssrc
            statistics = ReceptionStatistics(clockRate: media.codec.clockRate)
        }
        statistics?.receive(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, payloadLength: packet.payload.count,
            at: now)
        let sequence = unwrapper.unwrap(packet.sequenceNumber)
        counts.packets += 1
        counts.bytes += UInt64(packet.payload.count)
        if counts.firstSequence == nil { counts.firstSequence = sequence }
        counts.highestSequence = max(counts.highestSequence, sequence)
        return replacesSource
    }

    mutating func countRetransmission() {
        counts.retransmitted += 1
        counts.packets += 1
    }

    /// Records the sender's clocks.
    mutating func record(_ report: RTCPSenderReport, at now: Instant) {
        guard report.ssrc == ssrc else { return }
        senderReport = report
        statistics?.receiveSenderReport(ntp: report.ntp, at: now)
    }

    /// How long ago the media with `timestamp` was captured, by the sender's wall clock; nil before its first report.
    func age(of timestamp: UInt32, unixNanoseconds: Int64) -> Duration? {
        guard let senderReport else { return nil }
        let ticks = Int64(Int32(bitPattern: timestamp &- senderReport.rtpTimestamp))
        let captured =
            senderReport.ntp.unixNanoseconds + ticks * 1_000_000_000 / Int64(max(media.codec.clockRate, 1))
        return .nanoseconds(unixNanoseconds - captured)
    }
}
