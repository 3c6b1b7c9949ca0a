import RTP
import Transport

/// Receives a viewer's microphone. It counts the packets, and hands them to the camera's speaker while the viewer holds
/// the floor.
struct TalkbackReceiver {
    private let payloadTypes: [UInt8]
    private var sink: (any TalkbackSink)?
    private var ssrc: UInt32?
    private var statistics: ReceptionStatistics?

    /// Packets that arrived, with and without the floor.
    private(set) var packets: UInt64 = 0
    /// Packets that were handed over.
    private(set) var delivered: UInt64 = 0

    init(payloadTypes: [UInt8]) {
        self.payloadTypes = payloadTypes
    }

    /// Opens or closes the gate.
    mutating func setSink(_ sink: (any TalkbackSink)?) {
        self.sink = sink
    }

    mutating func close() {
        sink = nil
    }

    /// Handles one packet. Padding-only probes and payload types that were not agreed on are dropped.
    mutating func receive(_ packet: RTPPacketView, at now: Instant) {
        let isAgreed = payloadTypes.contains(packet.payloadType)
        // Every packet of the microphone's own source counts as received, whatever it contains (RFC 3550, appendix
        // A.3).
        guard isAgreed || ssrc == packet.ssrc else { return }
        if ssrc != packet.ssrc {
            ssrc = packet.ssrc
            statistics = ReceptionStatistics(clockRate: packet.payloadType < 96 ? 8000 : 48_000)
        }
        statistics?.receive(
            sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, payloadLength: packet.payload.count,
            at: now)
        guard isAgreed, !packet.payload.isEmpty else { return }
        packets += 1
        guard let sink else { return }
        delivered += 1
        sink.receive(
            packet.payload, payloadType: packet.payloadType, sequenceNumber: packet.sequenceNumber,
            timestamp: packet.timestamp, at: now)
    }

    mutating func recordSenderReport(_ report: RTCPSenderReport, at now: Instant) {
        guard report.ssrc == ssrc else { return }
        statistics?.receiveSenderReport(ntp: report.ntp, at: now)
    }

    /// What to report to the viewer about its microphone's packets; nil before the first one.
    mutating func reportBlock(at now: Instant) -> RTCPReportBlock? {
        guard let ssrc else { return nil }
        return statistics?.makeReportBlock(ssrc: ssrc, at: now)
    }
}
