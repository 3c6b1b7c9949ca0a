import RTP
import Transport

/// Takes in a viewer's microphone: counts what comes, and hands it to the camera's speaker while the viewer holds the
/// floor.
struct TalkbackReceiver {
    private let payloadTypes: [UInt8]
    private var sink: (any TalkbackSink)?
    private var ssrc: UInt32?
    private var statistics: ReceptionStatistics?

    /// Packets that came, with the floor and without.
    private(set) var packets: UInt64 = 0
    /// Packets that were handed on.
    private(set) var delivered: UInt64 = 0

    init(payloadTypes: [UInt8]) {
        self.payloadTypes = payloadTypes
    }

    /// Opens or shuts the gate.
    mutating func setSink(_ sink: (any TalkbackSink)?) {
        self.sink = sink
    }

    mutating func close() {
        sink = nil
    }

    /// Takes one packet. Padding-only probes and payload types that were not agreed are passed over.
    mutating func receive(_ packet: RTPPacketView, at now: Instant) {
        let isAgreed = payloadTypes.contains(packet.payloadType)
        // Of the microphone's own source every packet counts as received, whatever it holds (RFC 3550, appendix A.3).
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

    mutating func noteSenderReport(_ report: RTCPSenderReport, at now: Instant) {
        guard report.ssrc == ssrc else { return }
        statistics?.receiveSenderReport(ntp: report.ntp, at: now)
    }

    /// What to tell the viewer of its microphone's packets; nil while none have come.
    mutating func reportBlock(at now: Instant) -> RTCPReportBlock? {
        guard let ssrc else { return nil }
        return statistics?.makeReportBlock(ssrc: ssrc, at: now)
    }
}

extension Viewer {
    /// Takes a plain RTP packet that the viewer sent.
    func receiveRTP(_ bytes: UnsafeRawBufferPointer, at now: Instant) {
        guard let packet = try? RTPPacketView(parsing: bytes) else { return }
        if let ingest {
            ingest.receive(packet, at: now)
        } else {
            talkback.receive(packet, at: now)
        }
    }
}
