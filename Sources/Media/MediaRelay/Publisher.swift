import PeerConnection
import RTP
import Transport

/// One publisher: its connection, and what it sends on its way into the relay. It lives only on its shard's thread.
final class Publisher: Session {
    let ingest: Ingest

    init(
        _ configuration: PublisherConfiguration, handle: SessionHandle, peer: consuming PeerConnection, ingest: Ingest,
        status: SessionStatus, notify: @escaping @Sendable (SessionEvent) -> Void, checkAccount: CheckAccount
    ) {
        self.ingest = ingest
        super.init(
            handle: handle, sessionID: configuration.sessionID, local: configuration.peer.localCredentials, peer: peer,
            status: status, notify: notify, checkAccount: checkAccount)
    }

    override var nextDeadline: Instant? {
        guard isConnected, let due = ingest.nextDeadline else { return connectionDeadline }
        return connectionDeadline.map { min($0, due) } ?? due
    }

    override func receiveRTP(_ bytes: UnsafeRawBufferPointer, at now: Instant) {
        guard let packet = try? RTPPacketView(parsing: bytes) else { return }
        ingest.receive(packet, at: now)
    }

    override func receiveRTCP(_ bytes: UnsafeRawBufferPointer, through sender: inout MediaSender, at now: Instant) {
        for packet in RTCPPackets(bytes) {
            switch packet {
            case .senderReport(let report, _): ingest.recordSenderReport(report, at: now)
            case .goodbye(let goodbye): ingest.recordGoodbye(goodbye, at: now)
            // The rest is about what somebody is sent, and a publisher is sent nothing.
            default: break
            }
        }
    }

    /// Hands over what the publisher has sent, and reports to it what arrived.
    override func serviceMedia(
        through sender: inout MediaSender, limits: RelayLimits, scratch: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> RelayEnd? {
        if isConnected {
            ingest.deliver(at: now)
            sendFeedback(through: &sender, scratch: scratch, at: now)
        }
        return ingest.isOver ? .goodbye : nil
    }

    private func sendFeedback(
        through sender: inout MediaSender, scratch: UnsafeMutableRawBufferPointer, at now: Instant
    ) {
        let memory = UnsafeMutableRawBufferPointer(rebasing: scratch[..<Self.maximumRTCPLength])
        var writer = ByteWriter(memory)
        ingest.writeFeedback(into: &writer, at: now)
        if writer.count > 0 { sendRTCP(writer, scratch, through: &sender) }
        // More than one report is only due after a long pause. There can never be more than eight.
        for _ in 0..<8 {
            var report = ByteWriter(memory)
            if !ingest.reducedSizeRTCP, ingest.nextDeadline.map({ $0 <= now }) ?? false {
                report.writeReceiverReport(ssrc: ingest.ssrc)
            }
            guard ingest.writeTransportFeedback(into: &report, at: now) else { break }
            sendRTCP(report, scratch, through: &sender)
        }
    }
}
