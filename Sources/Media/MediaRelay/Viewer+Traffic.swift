import Congestion
import PeerConnection
import RTP
import Transport

/// What the estimator has to know of a viewer, and what it asks for.
extension Viewer {
    /// How long after its start a backlog may keep a limit from beginning.
    private static let backlogGrace = Duration.milliseconds(1_500)
    /// A packet that left within this time of its frame was not paced.
    private static let atOnce = Duration.milliseconds(5)
    /// From this age of the next picture on, a viewer with a limit is behind.
    private static let behind = Duration.milliseconds(250)
    /// The most packets of one send of a probe.
    private static let mostPerProbe = 48
    /// Headers and authentication, relative to the payload.
    private static let overhead = 1.07

    /// What has been sent, and what would be.
    func traffic(at now: Instant) -> BandwidthEstimator.Traffic {
        BandwidthEstimator.Traffic(
            datagrams: wire.datagrams, bytes: wire.bytes, demand: demand,
            mayBegin: !egress.contains(where: \.isBacklog) || now - pacer.startedAt > Self.backlogGrace,
            isBehind: isBehind(at: now))
    }

    /// Whether pictures wait that should have left long ago.
    private func isBehind(at now: Instant) -> Bool {
        guard line.isLimited, let index = repairedEgress, egress[index].behindSince != nil else { return false }
        return age(index, at: now).map { $0 > Self.behind } ?? false
    }

    /// What the viewer's tracks bring, in bits a second on the wire.
    var demand: Double {
        egress.reduce(0) { $0 + $1.track.recentBytes.mean * 8 } * Self.overhead
    }

    /// Records what has left this process.
    @inline(__always)
    func recordWire(datagrams: Int, bytes: Int) {
        wire.datagrams &+= UInt64(datagrams)
        wire.bytes &+= UInt64(bytes)
        if line.isLimited { line.budget.spend(datagrams: datagrams, bytes: bytes) }
    }

    /// Adds credit for repairs. The budget is the viewer's, so it always grows with the same tracks: a total that changes with
    /// the track that a request names would rise and fall. The video counts, because nearly all repairs are its; with the sound
    /// added, several viewers together send more than their line carries.
    func earnRepairs() {
        var total = (sent: UInt64(0), recent: UInt64(0))
        let video = repairedEgress
        for index in egress.indices where video == nil || index == video {
            total.sent &+= egress[index].bytesSent
            total.recent &+= egress[index].track.recentBytes.busiestSecond
        }
        line.budget.earn(bytesSent: total.sent, recentBytes: total.recent, line.losses)
    }

    /// Records where in its frame a packet was that the viewer misses. Only packets that left with the rest of their frame
    /// show something.
    /// - Parameter sentAt: when it left; nil if that is not known.
    func recordPlacement(of index: UInt64, _ position: Int, sentAt: Instant?) {
        guard !line.isLimited, !egress[position].isBacklog,
            let found = egress[position].find(sequenceNumber: UInt16(truncatingIfNeeded: index)),
            let batch = egress[position].track.ring[found.cursor.entry]?.batch, batch.arrival >= found.epoch.startedAt,
            sentAt.map({ $0 - batch.arrival <= Self.atOnce }) ?? true
        else { return }
        line.estimator.recordMissing(
            frame: UInt64(found.cursor.entry), position: found.cursor.packet, of: batch.packets.count)
    }

    /// The path has turned out to carry everything: what waits is sent now, and is not taken for a new delay.
    func recordLimitChange(from wasLimited: Bool, at now: Instant) {
        guard wasLimited, !line.isLimited else { return }
        for index in egress.indices where egress[index].behindSince != nil { egress[index].behindSince = now }
    }

    /// All feedback of a datagram has been read.
    func endFeedback(at now: Instant) {
        let wasLimited = line.isLimited
        defer { recordLimitChange(from: wasLimited, at: now) }
        line.endFeedback(traffic(at: now), log, at: now)
        let probes = repairedEgress.map { egress[$0].retransmissionHeader?.isNumbered ?? false } ?? false
        // The move up that waits for its key frame has been proven.
        let larger = probes && !egress.contains { $0.nextTrack != nil } ? choice.probed(at: now) : nil
        line.estimator.chooseProbe(larger: larger, failures: choice.failures, at: now)
        chooseStream(at: now)
    }

    /// Says so when another stream of the camera would be better for the path.
    func chooseStream(at now: Instant) {
        guard mediaFlows, let wish = takeWish(at: now) else { return }
        notify(.streamWanted(wish == .smaller ? .smaller : .larger))
    }

    private func takeWish(at now: Instant) -> StreamChoice.Wish? {
        guard let pending = egress.first(where: { $0.nextTrack != nil }) else {
            // Nothing to wish for, as nearly always. The estimator is too large to be passed on for that.
            guard line.isLimited || choice.larger != nil else { return nil }
            return choice.takeWish(line.estimator, demand: demand, at: now)
        }
        // One switch at a time: another one can only take it back. What somebody has chosen is not taken back.
        return switch pending.trackSwitch.kind {
        case .chosen: nil
        case .smaller: choice.takeTurn(from: .smaller, line.estimator, at: now)
        case .larger: choice.takeTurn(from: .larger, line.estimator, at: now)
        }
    }

    /// Sends packets that only measure the path: the newest ones again.
    func sendProbes(through sender: inout MediaSender, at now: Instant) {
        var due = line.estimator.probeBytes(traffic(at: now), next: log.next, at: now)
        guard due > 0, let position = repairedEgress, egress[position].retransmissionHeader?.isNumbered == true,
            let destination = remoteAddress
        else { return }
        var left = Self.mostPerProbe
        while due > 0, left > 0, !feedback.repairsAreBlocked(at: now) {
            let before = left
            var index = egress[position].nextIndex
            while due > 0, left > 0, index > 0 {
                index -= 1
                let number = UInt16(truncatingIfNeeded: index)
                guard let found = egress[position].find(sequenceNumber: number),
                    let entry = egress[position].track.ring[found.cursor.entry],
                    makeRoom(
                        for: entry.batch.packets[found.cursor.packet], position, to: destination, through: &sender,
                        at: now),
                    write(number, position, found, entry, .probe, into: &sender)
                else { break }
                due -= Int(entry.batch.packets[found.cursor.packet].length) + BandwidthEstimator.headerBytes
                left -= 1
            }
            // There is nothing to send again yet.
            if left == before { break }
        }
        flushRepairs(position, to: destination, through: &sender, at: now)
        // A probe of which only a part has left would show room that nobody has seen.
        if feedback.repairsAreBlocked(at: now) { line.estimator.recordProbeBlocked(at: now) }
    }
}
