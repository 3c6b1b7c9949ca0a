import PeerConnection
import RTP
import Transport

extension Viewer {
    /// How far one call of ``send(_:through:limits:at:)`` came.
    private enum Outcome {
        case reachedEnd
        case usedBudget
        case blocked
    }

    /// A batch has come to the track of `egress[index]`.
    @inline(__always)
    func mediaArrived(_ index: Int, through sender: inout MediaSender, limits: RelayLimits, at now: Instant) {
        // A burst under way picks the new packets up when their turn comes.
        guard isConnected, egress[index].nextBurst == nil else { return }
        if egress[index].cursor == nil { resumeAtKeyFrame(index) }
        send(index, through: &sender, limits: limits, at: now)
    }

    /// A viewer that waits for a key frame goes on with the newest one, if it has not been shown that one already.
    private func resumeAtKeyFrame(_ index: Int) {
        let ring = egress[index].track.ring
        guard let keyFrame = ring.newestKeyFrame, let entry = ring[keyFrame.entry] else { return }
        if entry.sequence(of: keyFrame.packet) < egress[index].nextTrackSequence { return }
        egress[index].start(at: keyFrame)
    }

    /// Sends what waits for the viewer: at once where it is little, in paced bursts where it is a backlog.
    func send(_ index: Int, through sender: inout MediaSender, limits: RelayLimits, at now: Instant) {
        let isCatchingUp = egress[index].nextBurst != nil || egress[index].behindSince != nil
        egress[index].nextBurst = nil
        guard egress[index].cursor != nil else { return }
        // At the live edge a whole ordinary frame goes out as one send; a large key frame in a few.
        let budget = isCatchingUp ? limits.burstPackets : max(limits.burstPackets, 32)
        switch forward(index, budget: budget, through: &sender, at: now) {
        case .reachedEnd:
            egress[index].behindSince = nil
            return
        case .usedBudget, .blocked:
            let since = egress[index].behindSince ?? now
            egress[index].behindSince = since
            if now - since > limits.maximumLag { skipAhead(index, at: now) }
            if egress[index].cursor != nil { egress[index].nextBurst = now + limits.burstInterval }
        }
    }

    /// The viewer is too slow: whole frames are left out, up to the newest key frame.
    private func skipAhead(_ index: Int, at now: Instant) {
        guard let cursor = egress[index].cursor else { return }
        let ring = egress[index].track.ring
        egress[index].behindSince = nil
        if let keyFrame = ring.newestKeyFrame, keyFrame > cursor {
            egress[index].framesDropped += egress[index].frames(from: cursor, to: keyFrame)
            egress[index].start(at: keyFrame)
        } else {
            egress[index].framesDropped += egress[index].frames(from: cursor, to: ring.head)
            egress[index].cursor = egress[index].configuration.isVideo ? nil : ring.head
            if let head = egress[index].cursor { egress[index].start(at: head) }
            egress[index].track.requestKeyFrame(at: now)
        }
    }

    /// The hot loop: from the cursor to the live edge, header and encryption straight into the send buffer.
    private func forward(
        _ position: Int, budget: Int, through sender: inout MediaSender, at now: Instant
    ) -> Outcome {
        guard var cursor = egress[position].cursor, var epoch = egress[position].epoch,
            let destination = remoteAddress
        else { return .reachedEnd }
        let ring = egress[position].track.ring
        if cursor.entry < ring.first {
            // What the viewer waits for has been evicted: only a key frame helps.
            guard egress[position].configuration.isVideo, let keyFrame = ring.newestKeyFrame else {
                egress[position].start(at: ring.head)
                return .reachedEnd
            }
            egress[position].start(at: keyFrame)
            cursor = keyFrame
            epoch = egress[position].epoch ?? epoch
        }
        let headerLength = egress[position].headerLength
        let total = headerLength + peer.overhead
        var left = budget
        var runStart = (cursor: cursor, index: egress[position].nextIndex, transport: transportSequence)
        var waiting: (packets: UInt64, bytes: UInt64) = (0, 0)

        while let entry = ring[cursor.entry] {
            let packets = entry.batch.packets
            while cursor.packet < packets.count {
                let packet = packets[cursor.packet]
                if egress[position].keyFramesOnly, packet.flags.contains(.startsFrame),
                    !packet.flags.contains(.keyFrame)
                {
                    let sent = sender.flush(to: destination, from: localAddress)
                    settle(position, waiting: sent ? waiting : (0, 0), at: now)
                    egress[position].framesDropped += egress[position].frames(from: cursor, to: ring.head)
                    egress[position].cursor = nil
                    return .reachedEnd
                }
                let sequence = entry.sequence(of: cursor.packet)
                if left == 0 || sequence < epoch.trackSequence {
                    if left == 0 {
                        guard sender.flush(to: destination, from: localAddress) else {
                            rewind(position, to: runStart)
                            return .blocked
                        }
                        settle(position, waiting: waiting, at: now)
                        egress[position].cursor = cursor
                        return .usedBudget
                    }
                    cursor.packet += 1
                    continue
                }
                let size = total + Int(packet.length)
                if !sender.run.accepts(size) {
                    guard sender.flush(to: destination, from: localAddress) else {
                        rewind(position, to: runStart)
                        return .blocked
                    }
                    settle(position, waiting: waiting, at: now)
                    waiting = (0, 0)
                    runStart = (cursor, egress[position].nextIndex, transportSequence)
                }
                let index = epoch.index(of: sequence)
                let timestamp = epoch.timestamp(of: packet.timestamp &+ entry.timestampOffset)
                let output = sender.run.free
                egress[position].writeHeader(
                    of: packet, payloadType: egress[position].configuration.payloadType,
                    ssrc: egress[position].configuration.ssrc, index: index, timestamp: timestamp,
                    transportSequence: transportSequence, into: output)
                let written = peer.protectRTP(
                    headerLength: headerLength, payload: entry.batch.payload(of: packet), output: output,
                    index: index)
                if written > 0 {
                    sender.run.add(written)
                    waiting.packets += 1
                    waiting.bytes += UInt64(packet.length)
                    transportSequence &+= 1
                    if index >= egress[position].nextIndex { egress[position].nextIndex = index + 1 }
                    egress[position].lastTimestamp = timestamp
                    if packet.flags.contains([.keyFrame, .marker]) { egress[position].sentWholeKeyFrame = true }
                }
                left -= 1
                cursor.packet += 1
            }
            cursor = TrackRing.Cursor(entry: cursor.entry + 1, packet: 0)
        }
        guard sender.flush(to: destination, from: localAddress) else {
            rewind(position, to: runStart)
            return .blocked
        }
        settle(position, waiting: waiting, at: now)
        egress[position].cursor = cursor
        return .reachedEnd
    }

    /// The socket takes nothing now. The run is made again later, with the same numbers, so the viewer sees no gap;
    /// it has not left this process, so no key stream has been shown twice.
    private func rewind(_ position: Int, to start: (cursor: TrackRing.Cursor, index: UInt64, transport: UInt16)) {
        egress[position].cursor = start.cursor
        egress[position].nextIndex = start.index
        transportSequence = start.transport
    }

    @inline(__always)
    private func settle(_ position: Int, waiting: (packets: UInt64, bytes: UInt64), at now: Instant) {
        egress[position].packetsSent += waiting.packets
        egress[position].bytesSent += waiting.bytes
        if !startIsComplete { noteStartSteps(position, at: now) }
    }

    /// Tells when the first packet and the first whole key frame had gone out.
    private func noteStartSteps(_ position: Int, at now: Instant) {
        guard egress[position].packetsSent > 0 else { return }
        status.note(.firstPacket, at: now)
        let awaitsPicture = egress.contains { $0.configuration.isVideo }
        guard !awaitsPicture || egress[position].configuration.isVideo && egress[position].sentWholeKeyFrame else {
            return
        }
        if awaitsPicture { status.note(.firstKeyFrame, at: now) }
        startIsComplete = true
    }
}
