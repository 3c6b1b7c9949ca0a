import PeerConnection
import RTP
import Transport

extension Viewer {
    /// At most so many packets are sent again within one pause, whatever the number of messages: a compound packet of a
    /// hostile viewer holds dozens of them, each of which asks for hundreds of packets.
    private static let mostPerPause = 128
    /// A packet is not sent twice within this time, or within a round trip where that is known to be longer.
    private static let shortestRepetition = Duration.milliseconds(10)

    /// Sends again what the viewer misses and the ring still holds.
    func retransmit(_ nack: RTCPNack, through sender: inout MediaSender, at now: Instant) {
        guard let position = egress.firstIndex(where: { $0.configuration.ssrc == nack.mediaSSRC }),
            let destination = remoteAddress
        else { return }
        let pause = max(Self.shortestRepetition, feedback.roundTrip ?? .zero)
        feedback.recentRetransmissions.removeAll { now - $0.at >= pause }
        var isBeyondHelp = false
        for sequenceNumber in nack {
            guard feedback.recentRetransmissions.count < Self.mostPerPause else { break }
            guard let found = egress[position].find(sequenceNumber: sequenceNumber),
                let entry = egress[position].track.ring[found.cursor.entry]
            else {
                isBeyondHelp = true
                continue
            }
            if feedback.recentRetransmissions.contains(where: { $0.index == found.index }) { continue }
            let packet = entry.batch.packets[found.cursor.packet]
            let timestamp = found.epoch.timestamp(of: packet.timestamp &+ entry.timestampOffset)
            let payload = entry.batch.payload(of: packet)
            let size = egress[position].header.length + peer.overhead + 2 + payload.count
            if !sender.run.accepts(size) { _ = sender.flush(to: destination, from: localAddress) }
            let written =
                egress[position].configuration.retransmission == nil
                ? repeatPacket(
                    position, packet: packet, payload: payload, index: found.index, timestamp: timestamp,
                    into: sender.run.free)
                : wrapPacket(
                    position, packet: packet, payload: payload, sequenceNumber: sequenceNumber, timestamp: timestamp,
                    into: sender.run.free)
            guard written > 0 else { continue }
            sender.run.add(written)
            feedback.recentRetransmissions.append((found.index, now))
            egress[position].packetsRetransmitted += 1
        }
        _ = sender.flush(to: destination, from: localAddress)
        // What is no longer held can only be made good by a key frame.
        if isBeyondHelp { egress[position].track.requestKeyFrame(at: now) }
    }

    /// Sends a packet again as it was. Header and payload are the same to the bit (that is why the transport-wide
    /// sequence number is never used together with this), so the same key stream hides the same text.
    private func repeatPacket(
        _ position: Int, packet: PacketBatch.Packet, payload: UnsafeRawBufferPointer, index: UInt64,
        timestamp: UInt32, into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        guard egress[position].configuration.transportSequenceExtension == nil else { return 0 }
        let header = egress[position].header
        header.write(
            marker: packet.flags.contains(.marker), index: index, timestamp: timestamp, transportSequence: 0,
            into: output)
        return peer.protectRTP(headerLength: header.length, payload: payload, output: output, index: index)
    }

    /// Sends a packet again in the retransmission stream, its sequence number before its payload (RFC 4588, section 4).
    private func wrapPacket(
        _ position: Int, packet: PacketBatch.Packet, payload: UnsafeRawBufferPointer, sequenceNumber: UInt16,
        timestamp: UInt32, into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        guard let header = egress[position].retransmissionHeader else { return 0 }
        let index = egress[position].nextRetransmissionIndex
        egress[position].nextRetransmissionIndex += 1
        header.write(
            marker: packet.flags.contains(.marker), index: index, timestamp: timestamp,
            transportSequence: transportSequence, into: output)
        transportSequence &+= 1
        return peer.protectRTP(
            headerLength: header.length, originalSequenceNumber: sequenceNumber, payload: payload, output: output,
            index: index)
    }
}
