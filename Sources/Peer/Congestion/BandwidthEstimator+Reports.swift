import Transport

/// What receiver reports show, for peers that send no transport-wide feedback.
extension BandwidthEstimator {
    /// What a receiver has reported over some time.
    public struct Report: Sendable {
        /// The packets that it expected, and those that it lost.
        public var expected: Int
        public var lost: Int
        /// The time that it covers.
        public var duration: Duration
        /// The mean size of a packet on the wire, in bytes.
        public var packetBytes: Double

        /// Describes a report.
        public init(expected: Int, lost: Int, duration: Duration, packetBytes: Double) {
            self.expected = expected
            self.lost = lost
            self.duration = duration
            self.packetBytes = packetBytes
        }
    }

    /// Takes the round trip of a check that followed media.
    public mutating func recordRoundTrip(_ roundTrip: Duration, at now: Instant) {
        // A check that left on another path says nothing about this one.
        if now - roundTrip >= pathSince { roundTrips.record(roundTrip, at: now) }
    }

    /// Takes a report. It has no say while transport-wide feedback comes.
    public mutating func recordReport(_ report: Report, _ traffic: Traffic, at now: Instant) {
        guard !hasFeedback(at: now), report.expected > 0, report.duration > .zero else { return }
        sent.record(traffic, at: now)
        let share = Double(report.lost) / Double(report.expected)
        let seconds = report.duration.inSeconds
        // The report does not count retransmissions and sound, some of which have arrived as well.
        let claimed = Double(report.expected - report.lost) * report.packetBytes * 8 / seconds
        let arrived = sent.newest.map { (min(claimed, $0) + $0 * (1 - share)) / 2 } ?? claimed
        proven = max(proven, min(arrived, sent.most ?? 0))
        let usage = roundTrips.usage(since: limitation?.loweredAt ?? .zero, at: now)
        if let limitation {
            // It says nothing about the present rate if it began before the last decrease.
            let isNew = now - report.duration >= limitation.loweredAt
            judgeLimit(
                isNew ? LossWindow.Measurement(share: share, packets: report.expected) : nil,
                usage, delivered: arrived, traffic, at: now)
            if usage == .overuse, let lowered = self.limitation, lowered.loweredAt > limitation.loweredAt {
                let losesMore = share > lowered.usualLoss + Self.loss.some / 2
                roundTrips.recordDecrease(losesMore: losesMore, at: now)
            }
            return
        }
        lossShare = share
        heavyCount = share >= Self.loss.heavy ? heavyCount + 1 : 0
        if share < Self.loss.some / 4 { placement.removeAll() }
        guard traffic.mayBegin else { return }
        if usage == .overuse {
            // The queue has not become long while the path had room.
            if arrived < traffic.demand * Self.room { begin(.queue, delivered: arrived, loss: share, at: now) }
        } else if now >= nextDoubt {
            if share >= Self.loss.some, placement.showsLackOfRoom {
                begin(.loss, delivered: arrived, loss: share, at: now)
            } else if heavyCount >= Self.heavyWindows - 1 {
                begin(.trial, delivered: arrived, loss: share, at: now)
            }
        }
    }

    /// Whether round trips are worth measuring.
    public func wantsRoundTrips(at now: Instant) -> Bool {
        !hasFeedback(at: now) && (limitation != nil || lossShare >= Self.loss.some / 2)
    }
}
