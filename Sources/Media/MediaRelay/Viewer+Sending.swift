import Congestion
import ICE
import PeerConnection
import RTP
import Transport

extension Viewer {
    /// How far one call of ``forward(_:budget:through:at:)`` got.
    private enum Outcome {
        case reachedEnd
        case usedBudget
        /// The socket accepts nothing now.
        case blocked
        /// The next packet starts a frame that this viewer must not get.
        case reachedFrameToLeaveOut
        /// The next packet starts a frame of a backlog that no other frame needs.
        case reachedUnreferenced
    }

    /// The track of `egress[index]` has a new batch.
    @inline(__always)
    func mediaArrived(_ index: Int, through sender: inout MediaSender, limits: RelayLimits, at now: Instant) {
        // A burst in progress sends the new packets in its turn.
        guard mediaFlows, egress[index].nextBurst == nil else { return }
        if let heldUntil = soundHeldUntil, !egress[index].configuration.isVideo {
            if now < heldUntil { return }
            // Nothing has reported that the viewer stopped talking, for example because its packets stopped in the
            // middle of a word.
            holdSound(until: nil, at: now)
        }
        if let due = egress[index].replayDue, now >= due { replayKeyFrame(index, at: now) }
        if egress[index].cursor == nil { resumeAtKeyFrame(index, at: now) }
        if egress[index].cursor == nil { egress[index].track.repeatKeyFrameRequest(at: now) }
        send(index, through: &sender, limits: limits, at: now)
    }

    /// A viewer that waits for a key frame continues with the newest one, unless it has had that one already.
    private func resumeAtKeyFrame(_ index: Int, at now: Instant) {
        let ring = egress[index].track.ring
        guard let keyFrame = ring.newestKeyFrame, let entry = ring[keyFrame.entry] else { return }
        if entry.sequence(of: keyFrame.packet) < egress[index].nextTrackSequence { return }
        if let from = egress[index].leftOutFrom { recordDropped(index, from: from, to: keyFrame) }
        start(index, at: keyFrame, now: now)
    }

    /// Starts an egress at a place in its track's ring, and the pacer with it where that is a backlog.
    func start(_ index: Int, at cursor: TrackRing.Cursor, now: Instant) {
        egress[index].start(at: cursor, now: now)
        if egress[index].isBacklog { pacer.begin(roundTrip: peer.pathRoundTripTime, at: now) }
    }

    /// Sends what waits for the viewer: a little at once, a backlog in paced bursts.
    func send(_ index: Int, through sender: inout MediaSender, limits: RelayLimits, at now: Instant) {
        let isCatchingUp = egress[index].nextBurst != nil || egress[index].behindSince != nil
        egress[index].nextBurst = nil
        guard let cursor = egress[index].cursor else { return }
        if cursor.entry < egress[index].track.ring.first { skipEvicted(index, at: now) }
        guard egress[index].cursor != nil else { return }
        let isLimited = line.isLimited && egress[index].configuration.isVideo
        let isBacklog = egress[index].isBacklog && !isLimited
        // At the live edge an ordinary frame is sent whole, and a large key frame in a few sends.
        let isPaced = isCatchingUp || egress[index].packetsSent == 0
        var budget = isPaced ? limits.burstPackets : max(limits.burstPackets, 32)
        if isLimited { budget = min(budget, line.budget.packets(at: now)) }
        let firstNew = egress[index].nextIndex
        let outcome =
            isBacklog
            ? sendBacklog(index, through: &sender, at: now)
            : isLimited
                ? sendLimited(index, budget: budget, through: &sender, at: now)
                : forward(index, budget: budget, through: &sender, at: now)
        if egress[index].nextIndex > firstNew, line.takeRoundTripDue(at: now) {
            sendProbe(0, through: &sender, at: now)
        }
        switch outcome {
        case .reachedEnd:
            egress[index].behindSince = nil
            egress[index].isBacklog = false
            if line.isLossy {
                repeatAsPrecaution(index, from: firstNew, through: &sender, at: now)
            }
            return
        case .reachedFrameToLeaveOut:
            leaveOut(index, at: now)
        case .usedBudget, .blocked, .reachedUnreferenced:
            let since = egress[index].behindSince ?? now
            egress[index].behindSince = since
            recordFramesBefore(index)
            let isTooFarBehind = isLimited ? isTooOld(index, at: now) : now - since > limits.maximumLag
            if isTooFarBehind { skipAhead(index, at: now) }
        }
        guard egress[index].cursor != nil else { return }
        if isBacklog, egress[index].isBacklog, outcome != .blocked {
            egress[index].nextBurst = pacer.nextBurst
        } else {
            egress[index].nextBurst = now + (isLimited ? Self.limitedInterval : limits.burstInterval)
        }
    }

    /// The time between two groups of packets while the rate is limited.
    private static let limitedInterval = Duration.milliseconds(10)
    /// From this age on, frames that no other frame needs are left out while the rate is limited.
    private static let lagForLeavingOut = Duration.milliseconds(120)

    /// Sends as much as the budget allows, and leaves out frames that no other needs when the viewer falls behind.
    private func sendLimited(
        _ index: Int, budget: Int, through sender: inout MediaSender, at now: Instant
    ) -> Outcome {
        let before = egress[index].packetsSent
        var skips = age(index, at: now).map { $0 > Self.lagForLeavingOut } ?? false
        while true {
            let left = budget - Int(clamping: egress[index].packetsSent &- before)
            let outcome = forward(index, budget: left, skipsUnreferenced: skips, through: &sender, at: now)
            guard outcome == .reachedUnreferenced else { return outcome }
            recordFramesBefore(index)
            skips = skipUnreferenced(index, at: now)
            if skips, let cursor = egress[index].cursor {
                recordDropped(index, from: egress[index].framesBefore, to: cursor)
            }
        }
    }

    /// How long ago the next packet came from the camera; nil at the live edge.
    func age(_ index: Int, at now: Instant) -> Duration? {
        guard let cursor = egress[index].cursor, let entry = egress[index].track.ring[cursor.entry] else { return nil }
        return now - entry.batch.arrival
    }

    /// Sends as much of a backlog as the path takes now.
    private func sendBacklog(_ index: Int, through sender: inout MediaSender, at now: Instant) -> Outcome {
        let room = pacer.room(at: now)
        guard room > 0 else { return .usedBudget }
        let before = egress[index].packetsSent
        var outcome = Outcome.reachedUnreferenced
        var skips = true
        while outcome == .reachedUnreferenced {
            let left = room - Int(clamping: egress[index].packetsSent &- before)
            outcome = forward(index, budget: left, skipsUnreferenced: skips, through: &sender, at: now)
            // The newest frame is sent in any case.
            if outcome == .reachedUnreferenced { skips = skipUnreferenced(index, at: now) }
        }
        let sent = Int(clamping: egress[index].packetsSent &- before)
        if let probe = pacer.recordSent(sent, at: now) { sendProbe(probe, through: &sender, at: now) }
        return outcome
    }

    /// Moves the viewer past frames that no other frame needs. False if nothing that it needs follows.
    private func skipUnreferenced(_ index: Int, at now: Instant) -> Bool {
        guard let cursor = egress[index].cursor, let next = egress[index].track.ring.endOfUnreferenced(from: cursor)
        else { return false }
        egress[index].skip(to: next, now: now)
        return true
    }

    /// Sends a check behind the media, whose answer shows that the media has arrived.
    func sendProbe(_ number: UInt64, through sender: inout MediaSender, at now: Instant) {
        let output = sender.run.free
        guard let transmit = peer.writeProbe(number, into: output, at: now) else { return }
        sender.send(
            UnsafeRawBufferPointer(rebasing: output[..<transmit.byteCount]), transmit, from: peer.transmitSource)
    }

    /// The ring no longer holds what the viewer waits for: only a key frame can help.
    private func skipEvicted(_ index: Int, at now: Instant) {
        let ring = egress[index].track.ring
        egress[index].behindSince = nil
        guard egress[index].configuration.isVideo else {
            egress[index].start(at: ring.head, now: now)
            return
        }
        goOnWithKeyFrame(ring.newestKeyFrame, index, at: now)
    }

    /// Whether the viewer has to go on with a newer key frame, because its path is too slow. It is always behind then, and
    /// falls further behind with each picture. Each key frame is its chance to catch up. Until then the path is not left
    /// idle: an old picture shows more than one that stands still and is older still. A camera whose key frames are far
    /// apart is asked for one.
    private func isTooOld(_ index: Int, at now: Instant) -> Bool {
        guard let cursor = egress[index].cursor, let age = age(index, at: now) else { return false }
        if let keyFrame = egress[index].track.ring.newestKeyFrame, keyFrame > cursor { return age > Self.lagAtKeyFrame }
        if age > Self.lagForKeyFrame { askForKeyFrameAfterLoss(index, at: now) }
        // One that has begun with an old key frame catches up. One that waits for the key frame of a smaller stream gets that soon.
        let waitsForSmaller = egress[index].nextTrack != nil && egress[index].trackSwitch.kind == .smaller
        guard !egress[index].isBacklog, !waitsForSmaller else { return false }
        return age > Self.longestLag
    }

    /// How far behind a viewer with a slow path may be for the pictures before a key frame.
    private static let lagAtKeyFrame = Duration.milliseconds(500)
    /// From which age of the next picture on a key frame is asked for, and how old it may be at most.
    private static let lagForKeyFrame = Duration.milliseconds(2_500)
    /// How old the next picture may be when there is no newer key frame to go on with. Beyond that, nothing is sent
    /// until one comes.
    ///
    /// A path that carries the share f of the stream is about (1 - f) t behind at t seconds after a key frame. With key
    /// frames each 4 s, and with a camera that makes them on request, no viewer gets so far. With key frames each 10 s
    /// and none on request, the pictures are at most 4 s late at 60 % of the stream, and at 30 % the picture stands still
    /// for the last 1.4 s of each ten. With a bound of 3 s, it would stand still for 2.5 and for 5.7 s; and with key
    /// frames each 4 s, it would do so on a path for less than a quarter of the stream.
    static let longestLag = Duration.seconds(6)

    /// The viewer is too slow. It skips whole frames, up to the newest key frame. The current frame is completed first,
    /// however late.
    private func skipAhead(_ index: Int, at now: Instant) {
        egress[index].behindSince = now
        guard !egress[index].configuration.isVideo else {
            egress[index].skipsAtNextFrame = true
            return
        }
        egress[index].start(at: egress[index].track.ring.head, now: now)
    }

    /// The viewer is at a frame that it must not get, and continues with a newer key frame.
    private func leaveOut(_ index: Int, at now: Instant) {
        guard let cursor = egress[index].cursor else { return }
        egress[index].behindSince = nil
        egress[index].skipsAtNextFrame = false
        recordFramesBefore(index)
        let newest = egress[index].track.ring.newestKeyFrame
        goOnWithKeyFrame(newest.flatMap { $0 >= cursor ? $0 : nil }, index, at: now)
    }

    private func goOnWithKeyFrame(_ keyFrame: TrackRing.Cursor?, _ index: Int, at now: Instant) {
        if let keyFrame {
            recordDropped(index, from: egress[index].framesBefore, to: keyFrame)
            start(index, at: keyFrame, now: now)
            return
        }
        egress[index].skipsAtNextFrame = false
        egress[index].leftOutFrom = egress[index].framesBefore
        egress[index].cursor = nil
        egress[index].track.requestKeyFrame(at: now)
    }

    private func recordFramesBefore(_ index: Int) {
        guard let cursor = egress[index].cursor, let count = egress[index].track.ring.framesBefore(cursor) else {
            return
        }
        egress[index].framesBefore = count
    }

    private func recordDropped(_ index: Int, from first: Int, to cursor: TrackRing.Cursor) {
        guard let end = egress[index].track.ring.framesBefore(cursor), end > first else { return }
        egress[index].framesDropped += UInt64(end - first)
    }

    /// Sends from the cursor to the live edge, one run of datagrams after the other.
    ///
    /// The numbering of the egress changes only when a run has left this process. If the socket accepts nothing, the
    /// run is built again later with the same numbers. So the viewer sees no gap, and no key stream is used twice.
    private func forward(
        _ position: Int, budget: Int, skipsUnreferenced: Bool = false, through sender: inout MediaSender,
        at now: Instant
    ) -> Outcome {
        guard let start = Progress(egress[position], transportSequence: transportSequence, budget: budget),
            let stretch = Stretch(egress[position], skipsUnreferenced: skipsUnreferenced),
            let destination = remoteAddress
        else { return .reachedEnd }
        var progress = start
        while true {
            progress.sent = (0, 0)
            let stop = stretch.fill(&sender.run, from: &progress, for: &peer)
            let sent = (count: sender.run.segments, size: sender.run.segmentSize, bytes: sender.run.byteCount)
            guard sender.flush(to: destination, from: localAddress) else { return .blocked }
            recordWire(datagrams: sent.count, bytes: sent.bytes)
            if stretch.isNumbered, sent.count > 0 {
                log.add(
                    SendLog.Run(
                        kind: egress[position].configuration.isVideo ? .picture : .sound,
                        index: egress[position].firstIndex(of: progress), count: sent.count, segmentSize: sent.size,
                        byteCount: sent.bytes),
                    from: transportSequence, at: now)
            }
            settle(position, progress, at: now)
            switch stop {
            case .runIsFull: continue
            case .reachedEnd: return .reachedEnd
            case .usedBudget: return .usedBudget
            case .reachedFrameToLeaveOut: return .reachedFrameToLeaveOut
            case .reachedUnreferenced: return .reachedUnreferenced
            }
        }
    }

    /// Records what has left this process.
    @inline(__always)
    private func settle(_ position: Int, _ progress: Progress, at now: Instant) {
        egress[position].settle(progress)
        transportSequence = progress.transportSequence
        if !startIsComplete { recordStartSteps(position, at: now) }
    }

    /// Reports when the first packet and the first complete key frame have been sent.
    private func recordStartSteps(_ position: Int, at now: Instant) {
        guard egress[position].packetsSent > 0 else { return }
        status.record(.firstPacket, at: now)
        let awaitsPicture = egress.contains { $0.configuration.isVideo }
        guard !awaitsPicture || egress[position].configuration.isVideo && egress[position].sentWholeKeyFrame else {
            return
        }
        if awaitsPicture { status.record(.firstKeyFrame, at: now) }
        startIsComplete = true
    }
}
