import PeerConnection
import RTP
import Transport

extension Viewer {
    /// At most so many packets are sent again within one pause, whatever the number of messages: a compound packet of a
    /// hostile viewer holds dozens of them, each of which asks for hundreds of packets.
    private static let mostPerPause = 128
    /// A packet is not sent twice within this time, however short the round trip.
    private static let shortestRepetition = Duration.milliseconds(10)
    /// However long the round trip seems to be, a packet is sent again after this time: a queue that was full once must not
    /// keep a loss from being made good for as long as it took to drain.
    private static let longestRepetition = Duration.milliseconds(400)
    /// How old a packet may be when it reaches the viewer, counted from when it was first sent.
    ///
    /// Players wait for a missing packet as long as their buffer lets them, because everything after it needs it. Chromium
    /// asks ten times, one round trip apart, or 100 ms apart where it knows none: a second, or two over a long line, and
    /// each of them may be the one that gets through. After that it asks for a key frame, and so the packet is good for nothing.
    private static let playoutBound = Duration.seconds(2)
    /// A viewer whose losses cannot be made good gets a key frame at most this often. Key frames are large, and go to
    /// every viewer of the camera.
    private static let keyFrameForLossInterval = Duration.seconds(2)

    /// Sends again what the viewer misses, as far as it helps: what the ring still holds, what comes in time to be shown,
    /// and no more than the viewer's ``RetransmissionBudget``.
    func retransmit(_ nack: RTCPNack, through sender: inout MediaSender, at now: Instant) {
        guard let position = egress.firstIndex(where: { $0.configuration.ssrc == nack.mediaSSRC }),
            let destination = remoteAddress
        else { return }
        let pause = repetitionPause
        feedback.recentRetransmissions.removeAll { now - $0.at >= pause }
        let ring = egress[position].track.ring
        egress[position].retransmissions.refill(
            bytesSent: egress[position].bytesSent, recentBytes: egress[position].track.recentBytes.busiestSecond)
        var isBeyondHelp = false
        for sequenceNumber in nack {
            guard feedback.recentRetransmissions.count < Self.mostPerPause else { break }
            guard let found = egress[position].find(sequenceNumber: sequenceNumber),
                let entry = ring[found.cursor.entry]
            else {
                // The ring keeps everything since its newest key frame, so what it does not hold is needed only without one.
                if ring.newestKeyFrame == nil { isBeyondHelp = true }
                continue
            }
            if feedback.recentRetransmissions.contains(where: { $0.index == found.index }) { continue }
            let packet = entry.batch.packets[found.cursor.packet]
            let firstSent = max(entry.batch.arrival, found.epoch.startedAt)
            guard isInTime(firstSent, at: now), egress[position].retransmissions.take(Int(packet.length)) else {
                egress[position].retransmissionsRefused += 1
                // Nothing after a newer key frame needs it.
                if ring.newestKeyFrame.map({ found.cursor >= $0 }) ?? true { isBeyondHelp = true }
                continue
            }
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
            egress[position].bytesRetransmitted += UInt64(payload.count)
        }
        _ = sender.flush(to: destination, from: localAddress)
        if isBeyondHelp { askForKeyFrameAfterLoss(position, at: now) }
    }

    /// How long a packet is not sent again: a little less than a round trip, because a request that comes after one was made
    /// in the knowledge that the last answer was lost as well. Where no round trip is known, a viewer that asks again has
    /// waited for what it takes for one.
    private var repetitionPause: Duration {
        let roundTrip = feedback.roundTrip ?? .zero
        return min(max(Self.shortestRepetition, roundTrip * 3 / 4), Self.longestRepetition)
    }

    /// Whether a packet that was first sent at `firstSent` reaches the viewer in time if it leaves now.
    private func isInTime(_ firstSent: Instant, at now: Instant) -> Bool {
        now - firstSent + (feedback.roundTrip ?? .zero) / 2 <= Self.playoutBound
    }

    /// What is not sent again can only be made good by a key frame.
    private func askForKeyFrameAfterLoss(_ position: Int, at now: Instant) {
        if let last = feedback.keyFrameForLossAt, now - last < Self.keyFrameForLossInterval { return }
        feedback.keyFrameForLossAt = now
        egress[position].track.requestKeyFrame(at: now)
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
