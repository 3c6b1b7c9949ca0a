import DatagramPort
import PeerConnection
import RTP
import SDP
import Transport

extension ViewingSession {
    func receiveRTP(_ bytes: UnsafeRawBufferPointer, at now: Instant) {
        // A packet that is authentic but is not RTP comes from the sender itself, so nothing can be done about it.
        guard let packet = try? RTPPacketView(parsing: bytes) else { return }
        recordFirstPacket(at: now)
        recordTransportSequence(packet, at: now)
        // The track is read in place: a copy costs more than everything else here.
        guard let index = media.indices.first(where: { media[$0].accepts(packet) }) else { return }
        switch media[index].content(of: packet) {
        case .media: break
        case .retransmission: return receiveRetransmission(packet, index, at: now)
        case .unknown: return
        }
        if media[index].count(packet, at: now), media[index].isVideo { pictures.restart() }
        if media[index].isVideo {
            if packet.marker {
                pictureArrivals.record(packet, unixNanoseconds: WallClock.now)
                frameArrivals.record(timestamp: packet.timestamp, at: now)
            }
            if pictures.insert(packet, at: now) { recordKeyFrame(at: now) }
        } else if assemblesFrames, !packet.payload.isEmpty {
            report(
                .audio(
                    ReceivedSound(
                        payload: Array(packet.payload), payloadType: packet.payloadType, timestamp: packet.timestamp,
                        sequenceNumber: packet.sequenceNumber, arrival: now,
                        age: media[index].age(of: packet.timestamp, unixNanoseconds: WallClock.now))))
        }
    }

    private func receiveRetransmission(_ packet: RTPPacketView, _ index: Int, at now: Instant) {
        guard let original = Retransmission.parse(payload: packet.payload), !original.payload.isEmpty else { return }
        media[index].countRetransmission()
        _ = pictures.nacks?.receive(sequenceNumber: original.originalSequenceNumber, at: now)
        let endsKeyFrame = pictures.insert(
            sequenceNumber: original.originalSequenceNumber, timestamp: packet.timestamp, marker: packet.marker,
            payload: original.payload, at: now)
        if endsKeyFrame { recordKeyFrame(at: now) }
    }

    private func recordTransportSequence(_ packet: RTPPacketView, at now: Instant) {
        guard let identifier = transportSequenceExtension, let bytes = packet.headerExtension(identifier),
            bytes.count == 2
        else { return }
        reports.feedback.receive(
            transportSequenceNumber: UInt16(bytes[0]) << 8 | UInt16(bytes[1]), at: now)
    }

    func deliverPictures(at now: Instant) {
        while let frame = pictures.nextFrame(at: now) {
            if frame.isKeyFrame { recordKeyFrame(at: now) }
            report(.frame(frame))
        }
    }

    func receiveRTCP(_ bytes: UnsafeRawBufferPointer, at now: Instant) {
        for packet in RTCPPackets(bytes) {
            switch packet {
            case .senderReport(let report, _):
                for index in media.indices { media[index].record(report, at: now) }
            case .goodbye(let goodbye):
                // The gateway sends BYE for all sources at once when it ends the session.
                if goodbye.contains(where: { ssrc in media.contains { $0.ssrc == ssrc } }) {
                    end(goodbye.reason ?? "the sender has ended the session")
                }
            default: break
            }
        }
    }
}
