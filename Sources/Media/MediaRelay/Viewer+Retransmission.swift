import Congestion
import PeerConnection
import RTP
import Transport

extension Viewer {
    /// The most packets that are retransmitted within one pause, whatever the number of messages. A hostile viewer's
    /// compound packet can hold dozens of messages, each of which asks for hundreds of packets.
    private static let mostPerPause = 128
    /// A packet is not retransmitted twice within this time, however short the round trip.
    private static let shortestRepetition = Duration.milliseconds(10)
    /// A packet is retransmitted after this time, however long the round trip seems to be. A queue that was full once
    /// must not delay the repair of a loss by as long as it took to drain.
    private static let longestRepetition = Duration.milliseconds(400)
    /// How old a packet may be when it reaches the viewer, counted from when it was first sent.
    ///
    /// Players wait for a missing packet as long as their buffer allows, because everything after it needs it. Chromium
    /// asks ten times, one round trip apart, or 100 ms apart if it knows no round trip: for one second, or for two on a
    /// long path, and each of the ten may be the one that gets through. After that it asks for a key frame, and the
    /// packet is useless.
    private static let playoutBound = Duration.seconds(2)
    /// A longer round trip is not believed. A viewer that makes one up would otherwise turn each of its requests into one for
    /// a key frame, which goes to everybody.
    private static let longestRoundTrip = Duration.seconds(1)
    /// The least time between two key frames for a viewer whose losses cannot be repaired. Key frames are large and go
    /// to every viewer of the camera.
    private static let keyFrameForLossInterval = Duration.seconds(2)

    /// Retransmits what the viewer asks for.
    func retransmit(_ nack: RTCPNack, through sender: inout MediaSender, at now: Instant) {
        guard let position = egress.firstIndex(where: { $0.configuration.ssrc == nack.mediaSSRC }) else { return }
        feedback.lossReportedAt = now
        feedback.requested.removeAll(keepingCapacity: true)
        feedback.requested.append(contentsOf: nack.prefix(feedback.requestsLeft))
        feedback.requestsLeft -= feedback.requested.count
        resend(feedback.requested, position, .missed(pause: repetitionPause), through: &sender, at: now)
    }

    /// Retransmits packets as far as that helps: packets that the ring still holds, that arrive in time for the
    /// picture, and only as many as the viewer's ``RateBudget`` allows. On a path that loses many packets,
    /// each missing one is sent twice, so that fewer need a second round.
    func resend(
        _ numbers: some Collection<UInt16>, _ position: Int, _ reason: ResendingReason,
        through sender: inout MediaSender, at now: Instant
    ) {
        guard egress[position].canRepeat, let destination = remoteAddress else { return }
        feedback.recentRetransmissions.forgetOld(at: now)
        earnRepairs()
        var left = Self.mostPerPause - feedback.recentRetransmissions.count(within: repetitionPause, of: now)
        let isPaced = egress[position].isBacklog && !line.isLimited
        if !line.estimator.hasFeedback(at: now), position == repairedEgress, !reason.isPrecaution {
            recordPlacements(of: numbers, position)
        }
        if isPaced {
            pacer.recordLost(numbers.count { isNewLoss($0, position) })
            left = min(left, pacer.roomForRepairs)
        }
        let packetsBefore = egress[position].packetsRetransmitted
        var isBeyondHelp = false
        for number in numbers {
            guard left > 0, !feedback.repairsAreBlocked(at: now) else { break }
            switch resend(number, position, reason, to: destination, through: &sender, at: now) {
            case .written: left -= 1
            case .notNeeded, .blocked: break
            case .beyondHelp: isBeyondHelp = true
            }
        }
        // Second copies are only of what has left.
        flushRepairs(position, to: destination, through: &sender, at: now)
        if isPaced ? pacer.repairsTwice : line.repairsTwice, !reason.isPrecaution,
            egress[position].configuration.retransmission != nil
        {
            for number in numbers where left > 0 && !feedback.repairsAreBlocked(at: now) {
                if resendOnceMore(number, position, to: destination, through: &sender, at: now) { left -= 1 }
            }
            flushRepairs(position, to: destination, through: &sender, at: now)
        }
        if isPaced {
            let count = Int(clamping: egress[position].packetsRetransmitted &- packetsBefore)
            if let probe = pacer.recordRetransmitted(count) { sendProbe(probe, through: &sender, at: now) }
        }
        if isBeyondHelp { askForKeyFrameAfterLoss(position, at: now) }
    }

    /// Requests show which packets are lost where no feedback does.
    private func recordPlacements(of numbers: some Collection<UInt16>, _ position: Int) {
        for number in numbers where isNewLoss(number, position) {
            recordPlacement(of: UInt64(number), position, sentAt: nil)
        }
    }

    /// Whether a number is of a packet that has not been retransmitted yet.
    private func isNewLoss(_ number: UInt16, _ position: Int) -> Bool {
        let newest = egress[position].nextIndex &- 1
        let behind = UInt64(UInt16(truncatingIfNeeded: newest) &- number)
        return behind <= newest && !feedback.recentRetransmissions.contains(newest - behind)
    }

    /// Why packets are retransmitted.
    enum ResendingReason {
        /// The viewer misses them. Those that were retransmitted within `pause` are skipped.
        case missed(pause: Duration)
        /// Nobody misses them yet, but some of them will be lost.
        case precaution

        var isPrecaution: Bool { if case .precaution = self { true } else { false } }
    }

    private enum Resending {
        case written
        case notNeeded
        /// Only a key frame can help.
        case beyondHelp
        /// The socket accepts nothing now.
        case blocked
    }

    private func resend(
        _ number: UInt16, _ position: Int, _ reason: ResendingReason, to destination: TransportAddress,
        through sender: inout MediaSender, at now: Instant
    ) -> Resending {
        let ring = egress[position].track.ring
        guard let found = egress[position].find(sequenceNumber: number), let entry = ring[found.cursor.entry] else {
            // The ring keeps everything since its newest key frame. So a packet that it does not hold is needed only if
            // there is none.
            return ring.newestKeyFrame == nil ? .beyondHelp : .notNeeded
        }
        if case .missed(let pause) = reason,
            feedback.recentRetransmissions.contains(found.index, within: pause, of: now)
                || feedback.unsent.contains(where: { $0.index == found.index })
        {
            return .notNeeded
        }
        let packet = entry.batch.packets[found.cursor.packet]
        let firstSent = max(entry.batch.arrival, found.epoch.startedAt)
        let isInTime = isInTime(firstSent, position, at: now)
        if isInTime, !makeRoom(for: packet, position, to: destination, through: &sender, at: now) { return .blocked }
        guard isInTime, line.budget.takeForRepair(Int(packet.length), at: now) else {
            // While loss has just become heavy, the viewer's next request gets the answer. A key frame would be one more burst.
            guard !reason.isPrecaution, !isInTime || line.losses != .sudden else { return .notNeeded }
            egress[position].retransmissionsRefused += 1
            // Nothing after a newer key frame needs it.
            return ring.newestKeyFrame.map { found.cursor >= $0 } ?? true ? .beyondHelp : .notNeeded
        }
        let purpose = UnsentRepair.Purpose.repair(isPrecaution: reason.isPrecaution)
        return write(number, position, found, entry, purpose, into: &sender) ? .written : .notNeeded
    }

    /// Writes the second copy of a retransmission. Returns false if nothing was written.
    private func resendOnceMore(
        _ number: UInt16, _ position: Int, to destination: TransportAddress, through sender: inout MediaSender,
        at now: Instant
    ) -> Bool {
        guard let found = egress[position].find(sequenceNumber: number),
            let entry = egress[position].track.ring[found.cursor.entry],
            feedback.recentRetransmissions.wasSentOnce(found.index, at: now),
            !feedback.unsent.contains(where: { $0.index == found.index })
        else { return false }
        let packet = entry.batch.packets[found.cursor.packet]
        guard makeRoom(for: packet, position, to: destination, through: &sender, at: now),
            line.budget.takeForRepair(Int(packet.length), at: now)
        else { return false }
        return write(number, position, found, entry, .copy, into: &sender)
    }

    /// Writes a packet into the run, which must have room for it (``makeRoom(for:_:to:through:at:)``). It counts as
    /// sent when the run has left (``flushRepairs(_:to:through:at:)``). Returns false if nothing was written.
    func write(
        _ number: UInt16, _ position: Int, _ found: (cursor: TrackRing.Cursor, epoch: EgressEpoch, index: UInt64),
        _ entry: TrackRing.Entry, _ purpose: UnsentRepair.Purpose, into sender: inout MediaSender
    ) -> Bool {
        let packet = entry.batch.packets[found.cursor.packet]
        let timestamp = found.epoch.timestamp(of: packet.timestamp &+ entry.timestampOffset)
        let payload = entry.batch.payload(of: packet)
        let isNumbered = egress[position].retransmissionHeader?.isNumbered == true
        let transportNumber = isNumbered ? transportSequence : nil
        let written: Int
        if egress[position].configuration.retransmission == nil {
            written = repeatPacket(
                position, packet: packet, payload: payload, index: found.index, timestamp: timestamp,
                into: sender.run.free)
        } else {
            written = wrapPacket(
                position, packet: packet, payload: payload, sequenceNumber: number, timestamp: timestamp,
                into: sender.run.free)
        }
        guard written > 0 else { return false }
        sender.run.add(written)
        feedback.unsent.append(
            UnsentRepair(
                purpose: purpose, index: found.index, transportNumber: transportNumber, payloadBytes: payload.count,
                bytes: written))
        // Each packet of the run has to find what the one before it has left of the budget.
        if purpose.needsBudget, line.isLimited { line.budget.spend(datagrams: 1, bytes: written) }
        return true
    }

    /// How long a packet is not retransmitted again: a little less than a round trip, because a viewer that sends a later
    /// request knows that the last answer was lost as well. If no round trip is known, a viewer that asks again has
    /// waited for about one.
    private var repetitionPause: Duration {
        let roundTrip = feedback.roundTrip ?? .zero
        return min(max(Self.shortestRepetition, roundTrip * 3 / 4), Self.longestRepetition)
    }

    /// Whether a packet that was first sent at `firstSent` reaches the viewer in time if it leaves now.
    private func isInTime(_ firstSent: Instant, _ position: Int, at now: Instant) -> Bool {
        // On a path that is too slow, packets leave later than they came.
        let delay = line.isLimited ? age(position, at: now) ?? .zero : .zero
        let roundTrip = min(feedback.roundTrip ?? .zero, Self.longestRoundTrip)
        return now - firstSent + roundTrip / 2 <= Self.playoutBound + delay
    }

    /// A packet that is not retransmitted can only be replaced by a key frame.
    func askForKeyFrameAfterLoss(_ position: Int, at now: Instant) {
        if let last = feedback.keyFrameForLossAt, now - last < Self.keyFrameForLossInterval { return }
        feedback.keyFrameForLossAt = now
        egress[position].track.requestKeyFrame(at: now)
    }

    /// Retransmits a packet unchanged. Header and payload are identical to the bit, so the same key stream hides the
    /// same text. That is why this is never combined with the transport-wide sequence number. Whether there is a playout
    /// delay follows from the packet alone.
    private func repeatPacket(
        _ position: Int, packet: PacketBatch.Packet, payload: UnsafeRawBufferPointer, index: UInt64,
        timestamp: UInt32, into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        guard egress[position].configuration.transportSequenceExtension == nil else { return 0 }
        let header = egress[position].header
        header.write(flags: packet.flags, index: index, timestamp: timestamp, transportSequence: 0, into: output)
        return peer.protectRTP(
            headerLength: header.length(of: packet.flags), payload: payload, output: output, index: index)
    }

    /// Retransmits a packet in the retransmission stream, with its sequence number before its payload (RFC 4588,
    /// section 4).
    private func wrapPacket(
        _ position: Int, packet: PacketBatch.Packet, payload: UnsafeRawBufferPointer, sequenceNumber: UInt16,
        timestamp: UInt32, into output: UnsafeMutableRawBufferPointer
    ) -> Int {
        guard let header = egress[position].retransmissionHeader else { return 0 }
        let index = egress[position].nextRetransmissionIndex
        egress[position].nextRetransmissionIndex += 1
        header.write(
            flags: packet.flags, index: index, timestamp: timestamp, transportSequence: transportSequence, into: output)
        if header.isNumbered { transportSequence &+= 1 }
        return peer.protectRTP(
            headerLength: header.length(of: packet.flags), originalSequenceNumber: sequenceNumber, payload: payload,
            output: output, index: index)
    }
}
