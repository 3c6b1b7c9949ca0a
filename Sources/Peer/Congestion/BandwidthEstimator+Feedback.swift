import Transport

/// What transport-wide feedback shows (draft-holmer-rmcat-transport-wide-cc-extensions-01).
extension BandwidthEstimator {
    /// The window of loss while there is no limit.
    private static let lossWindow = (time: Duration.milliseconds(500), packets: 40)
    /// How long after it got a larger stream a sudden loss is put down to that.
    private static let raisedTime = Duration.seconds(10)

    /// A packet has arrived at `arrival`, in units of 250 µs on the peer's clock.
    public mutating func recordArrival(of packet: SendLog.Packet, at arrival: Int64) {
        window.recordArrival(wasMissing: packet.wasMissing)
        limitation?.recordArrival(of: packet)
        probe.record(packet, hasArrived: true)
        let bytes = packet.byteCount + Self.headerBytes
        delivered.add(bytes, at: arrival)
        // The delay of another path says nothing.
        guard packet.sentAt >= pathSince else { return }
        delay.recordArrival(bytes: bytes, sentAt: packet.sentAt, at: arrival)
        let (group, restarts) = groups.record(sentAt: packet.sentAt, arrival: arrival)
        if restarts {
            delay = DelayDetector()
            delivered = DeliveredRate()
            service = ServiceRate()
        }
        service.record(
            bytes: bytes, arrival: arrival, wait: delay.wait(sentAt: packet.sentAt, arrival: arrival))
        if let group, delay.record(group) { service = ServiceRate() }
    }

    /// A packet is reported missing for the first time.
    public mutating func recordMissing(_ packet: SendLog.Packet) {
        window.recordMissing()
        limitation?.recordMissing(packet)
        if packet.sentAt >= pathSince { delay.recordMissing(usual: limitation?.usualLoss ?? lossShare) }
        probe.record(packet, hasArrived: false)
    }

    /// All messages of a datagram have been read.
    /// - Parameter log: what was sent, after its arrivals have been taken.
    public mutating func endFeedback(_ traffic: Traffic, _ log: SendLog, at now: Instant) {
        feedbackAt = now
        recordHeard(at: now)
        sent.record(traffic, at: now)
        // A peer cannot get more than it was sent.
        let arrived = sent.most.flatMap { most in delivered.bitsPerSecond.map { min($0, most * 1.1) } }
        if let arrived { proven = max(proven, arrived) }
        let outcome = probe.judge(
            reported: log.unreported, usualLoss: limitation?.usualLoss ?? lossShare, queue: delay.queueDelay,
            traffic.wireBytes, next: log.next, at: now)
        if case .passed(let rate) = outcome {
            proven = max(proven, rate)
            provenAt = now
            limitation?.raise(to: rate, at: now)
        }
        if limitation != nil {
            // What is too much while a probe is on its way is the probe.
            if probe.isInFlight || outcome != nil {
                limitation?.passOver(until: now)
            } else {
                let rate = delay.usage == .overuse ? service.bitsPerSecond ?? arrived : arrived
                let loweredAt = limitation?.loweredAt
                judgeLimit(nil, delay.usage, delivered: rate, traffic, at: now)
                if delay.usage == .overuse, limitation?.loweredAt != loweredAt { delay.recordDecrease() }
            }
        } else {
            // What is lost while a probe is on its way is the probe's.
            if probe.isInFlight || outcome != nil { window.restart(at: now) } else { judgeLoss(at: now) }
            if traffic.mayBegin, !probe.isInFlight, let arrived {
                beginIfNeeded(arrived, demand: traffic.demand, at: now)
            }
        }
    }

    private mutating func judgeLoss(at now: Instant) {
        sudden.record(window, at: now)
        guard let measured = window.close(after: Self.lossWindow.time, Self.lossWindow.packets, at: now) else { return }
        sudden.record(measured, at: now)
        lossShare = measured.share
        heavyCount = measured.share >= Self.loss.heavy ? heavyCount + 1 : 0
        if measured.share < Self.loss.some / 4 { placement.removeAll() }
    }

    private mutating func beginIfNeeded(_ arrived: Double, demand: Double, at now: Instant) {
        if delay.usage == .overuse, let rate = service.bitsPerSecond {
            // A key frame makes a queue on a path that carries the stream well.
            if rate < demand * Self.room { begin(.queue, delivered: rate, loss: lossShare, at: now) }
            return
        }
        guard now >= nextDoubt else { return }
        let share = max(lossShare, window.packets >= Self.lossWindow.packets ? window.share : 0)
        let afterStep = raisedAt.map { now - $0 < Self.raisedTime } ?? false
        let lacksRoom =
            losesSuddenly ? placement.suggestsLackOfRoom(afterStep: afterStep) : placement.showsLackOfRoom
        if share >= Self.loss.some, lacksRoom {
            begin(.loss, delivered: arrived, loss: share, at: now)
        } else if heavyCount >= Self.heavyWindows {
            begin(.trial, delivered: arrived, loss: lossShare, at: now)
        }
    }
}
