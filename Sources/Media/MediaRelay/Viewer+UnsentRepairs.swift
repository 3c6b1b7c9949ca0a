import Congestion
import PeerConnection
import RTP
import Transport

/// What becomes of a run of retransmissions or of a probe: it leaves, or the socket accepts nothing now.
///
/// Nothing of a run counts before it has left. Feedback would report what has never been sent as missing, which is a
/// loss that the path does not have, and the next request for it would find that it has just been answered.
extension Viewer {
    /// How long no repair is tried after the socket has accepted none: each try encrypts a run.
    private static let blockedPause = Duration.milliseconds(10)

    /// Makes room for a packet in the run. Returns false if the socket accepts nothing now.
    func makeRoom(
        for packet: PacketBatch.Packet, _ position: Int, to destination: TransportAddress,
        through sender: inout MediaSender, at now: Instant
    ) -> Bool {
        let size = egress[position].header.length(of: packet.flags) + peer.overhead + 2 + Int(packet.length)
        if sender.run.accepts(size) { return true }
        return flushRepairs(position, to: destination, through: &sender, at: now)
    }

    /// Sends the run of repairs of one egress. Returns false if the socket accepts nothing now.
    @discardableResult
    func flushRepairs(
        _ position: Int, to destination: TransportAddress, through sender: inout MediaSender, at now: Instant
    ) -> Bool {
        let hasLeft = sender.flush(to: destination, from: localAddress)
        if hasLeft {
            for repair in feedback.unsent { recordSent(repair, position, at: now) }
        } else {
            takeBackRepairs(at: now)
        }
        feedback.unsent.removeAll(keepingCapacity: true)
        return hasLeft
    }

    private func recordSent(_ repair: UnsentRepair, _ position: Int, at now: Instant) {
        if let number = repair.transportNumber {
            log.add(
                SendLog.Run(
                    kind: repair.purpose.kind, index: position == repairedEgress ? repair.index : nil, count: 1,
                    segmentSize: repair.bytes, byteCount: repair.bytes),
                from: number, at: now)
        }
        wire.datagrams &+= 1
        wire.bytes &+= UInt64(repair.bytes)
        switch repair.purpose {
        case .repair(let isPrecaution):
            feedback.recentRetransmissions.recordSent(repair.index, asPrecaution: isPrecaution, at: now)
        case .copy: feedback.recentRetransmissions.recordCopy(repair.index)
        case .probe: return
        }
        egress[position].packetsRetransmitted += 1
        egress[position].bytesRetransmitted += UInt64(repair.payloadBytes)
    }

    /// The run is given up: the viewer asks again if it still needs the packets when the socket accepts something. The
    /// transport-wide numbers go on where they were, as after a run of new packets. The indices of the retransmission
    /// stream do not, because another packet under one of them would be hidden by the same key stream.
    private func takeBackRepairs(at now: Instant) {
        feedback.repairsBlockedUntil = now + Self.blockedPause
        if let first = feedback.unsent.first?.transportNumber { transportSequence = first }
        for repair in feedback.unsent where repair.purpose.needsBudget {
            line.budget.giveBack(repair: repair.payloadBytes, spent: repair.bytes)
        }
    }
}
