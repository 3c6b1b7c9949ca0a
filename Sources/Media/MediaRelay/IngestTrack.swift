import RTP
import Transport

/// One track that a publisher sends. It finds out what is missing, requests retransmissions, and puts the packets in
/// order.
///
/// It lives only on the shard's thread. All memory is kept, so a steady stream allocates nothing.
final class IngestTrack {
    /// How long to wait for a lost packet of a picture: some round trips of a retransmission.
    static let pictureDelay = Duration.milliseconds(300)
    /// Sound is not retransmitted, so this only waits for reordered packets.
    static let soundDelay = Duration.milliseconds(40)
    /// Another source takes over a track at its first packet when the previous one has been silent for this long.
    static let silence = Duration.seconds(1)
    /// Another source takes over a track when it has sent for this long and the track's own has not.
    static let takeOver = Duration.milliseconds(300)
    /// The least time between two requests for key frames.
    static let keyFrameRequestInterval = Duration.milliseconds(500)

    let configuration: PublishedTrack
    private(set) var ssrc: UInt32?
    private(set) var statistics: ReceptionStatistics
    private(set) var nacks: NackGenerator
    private var buffer: PacketReorderBuffer
    /// When the track's last packet arrived.
    private(set) var lastPacket: Instant?
    private var others = OtherSources()
    /// The number of the next packet to hand over. Packets that only pad leave no gap.
    private var nextSequenceNumber: UInt16 = 0
    private var keyFrameWanted = false
    private var lastKeyFrameRequest: Instant?
    /// When the track's own source said goodbye (RFC 3550, section 6.6); nil if it has sent for a while since.
    private var goodbye: Instant?
    /// Whether nothing of a new source has been handed over yet. Nobody can relate its timestamps to those before.
    private(set) var awaitsDelivery = false

    init(_ configuration: PublishedTrack) {
        self.configuration = configuration
        ssrc = configuration.ssrc
        statistics = ReceptionStatistics(clockRate: configuration.clockRate)
        nacks = Self.makeNacks()
        buffer = Self.makeBuffer(configuration)
    }

    private static func makeNacks() -> NackGenerator {
        NackGenerator(configuration: .init(maximumAge: pictureDelay))
    }

    private static func makeBuffer(_ configuration: PublishedTrack) -> PacketReorderBuffer {
        PacketReorderBuffer(maximumDelay: configuration.isVideo ? pictureDelay : soundDelay)
    }

    /// Handles a packet of the track's own payload type. Returns whether it came from the track's source.
    func receive(_ packet: RTPPacketView, at now: Instant) -> Bool {
        if packet.ssrc != ssrc {
            guard takesOver(packet.ssrc, at: now) else { return false }
            if ssrc != nil { restart() }
            ssrc = packet.ssrc
            others.remove(packet.ssrc)
            goodbye = nil
        }
        lastPacket = now
        // Datagrams may overtake each other: a packet right after the goodbye was sent before it.
        if let goodbye, now - goodbye >= Self.takeOver { self.goodbye = nil }
        statistics.receive(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, payloadLength: packet.payload.count,
            at: now)
        insert(packet.sequenceNumber, packet, payload: packet.payload, at: now)
        return true
    }

    /// Whether the track's own source has said goodbye, and does not send again.
    var saidGoodbye: Bool { goodbye != nil }

    func recordGoodbye(at now: Instant) { goodbye = now }

    /// Whether another source becomes the track's own.
    ///
    /// A publisher has named its source, or has begun to send: another source must not mix in. The source may return under
    /// another number, as restarted encoders do, or send under another number than its offer named. It has then said
    /// goodbye (RFC 3550, section 6.6), or it sends nothing more under the number before.
    ///
    /// What has sent beside the source for a while is another layer of its picture. It does not take the place of a
    /// number that follows, so it waits until there is none.
    private func takesOver(_ other: UInt32, at now: Instant) -> Bool {
        guard ssrc != nil else { return true }
        let source = others.record(other, own: lastPacket, at: now)
        if let lastPacket {
            if now - lastPacket >= Self.silence { return true }
            if lastPacket - source.begin >= Self.takeOver { return false }
        }
        return saidGoodbye || now - source.alone >= Self.takeOver
    }

    /// Handles a packet of the retransmission stream (RFC 4588, section 4).
    func receiveRetransmission(_ packet: RTPPacketView, at now: Instant) {
        // Empty packets only probe the path. What is not missing may come from the source before this one, whose numbers
        // have nothing to do with those of this one.
        guard let original = Retransmission.parse(payload: packet.payload), !original.payload.isEmpty,
            nacks.isMissing(original.originalSequenceNumber)
        else { return }
        insert(original.originalSequenceNumber, packet, payload: original.payload, at: now)
    }

    private func insert(
        _ sequenceNumber: UInt16, _ packet: RTPPacketView, payload: UnsafeRawBufferPointer, at now: Instant
    ) {
        if configuration.takesNack, nacks.receive(sequenceNumber: sequenceNumber, at: now) == .tooManyMissing {
            keyFrameWanted = true
        }
        buffer.insert(
            sequenceNumber: sequenceNumber, timestamp: packet.timestamp, marker: packet.marker, payload: payload,
            at: now)
    }

    private func restart() {
        statistics = ReceptionStatistics(clockRate: configuration.clockRate)
        nacks = Self.makeNacks()
        buffer = Self.makeBuffer(configuration)
        keyFrameWanted = configuration.isVideo
        awaitsDelivery = true
    }

    /// Hands over the packets that are in order. Each one is written into `scratch` with a plain header of its own.
    func deliver(_ scratch: UnsafeMutableRawBufferPointer, at now: Instant, to body: (UnsafeRawBufferPointer) -> Void) {
        while let output = buffer.next(at: now) {
            switch output {
            case .gap(let count):
                nextSequenceNumber &+= UInt16(truncatingIfNeeded: count)
                // What follows cannot be decoded without the missing packets.
                if configuration.isVideo { keyFrameWanted = true }
            case .packet(let packet):
                let length = 12 + packet.payload.count
                guard !packet.payload.isEmpty, length <= scratch.count else { continue }
                scratch[0] = 0x80
                scratch[1] = configuration.payloadType & 0x7F | (packet.marker ? 0x80 : 0)
                scratch.storeBytes(of: nextSequenceNumber.bigEndian, toByteOffset: 2, as: UInt16.self)
                scratch.storeBytes(of: packet.timestamp.bigEndian, toByteOffset: 4, as: UInt32.self)
                scratch.storeBytes(of: (ssrc ?? 0).bigEndian, toByteOffset: 8, as: UInt32.self)
                UnsafeMutableRawBufferPointer(rebasing: scratch[12..<length]).copyMemory(from: packet.payload)
                nextSequenceNumber &+= 1
                awaitsDelivery = false
                body(UnsafeRawBufferPointer(rebasing: scratch[..<length]))
            }
        }
    }

    func recordSenderReport(_ report: RTCPSenderReport, at now: Instant) {
        statistics.receiveSenderReport(ntp: report.ntp, at: now)
    }

    /// Replaces `numbers` by the sequence numbers to request now.
    func takeRequests(at now: Instant, into numbers: inout [UInt16]) {
        nacks.takeRequests(at: now, into: &numbers)
    }

    func requestKeyFrame() {
        if configuration.isVideo, configuration.takesPictureLossIndication { keyFrameWanted = true }
    }

    func takeKeyFrameRequest(at now: Instant) -> Bool {
        guard keyFrameWanted, ssrc != nil, keyFrameRequestDue <= now else { return false }
        keyFrameWanted = false
        lastKeyFrameRequest = now
        return configuration.takesPictureLossIndication
    }

    private var keyFrameRequestDue: Instant { lastKeyFrameRequest.map { $0 + Self.keyFrameRequestInterval } ?? .zero }

    func makeReportBlock(at now: Instant) -> RTCPReportBlock? {
        guard let ssrc, statistics.hasReceived else { return nil }
        return statistics.makeReportBlock(ssrc: ssrc, at: now)
    }

    /// When a packet, a request for packets or one for a key frame may be due.
    var nextDeadline: Instant? {
        var next = buffer.nextDeadline
        if let due = nacks.nextDeadline { next = min(next ?? due, due) }
        if keyFrameWanted, ssrc != nil { next = min(next ?? keyFrameRequestDue, keyFrameRequestDue) }
        return next
    }
}
