import Cameras
import MediaRelay
import RTP
import Stations
import Transport

/// Keeps sound out of recordings that was captured while the microphone was muted for them. The relay has such sound,
/// because live views get it. A pre-roll reaches back to it, and so does a recorder whose thread is late.
final class SoundGate: Sendable {
    /// When the microphone was muted.
    struct Mutes: Sendable {
        /// Since when it is muted; nil while it is not.
        private(set) var since: Instant?
        /// When it was muted before, the oldest first.
        private(set) var past: [Range<Instant>] = []
        /// Nothing in the relay is older.
        private static let memory = Duration.seconds(3_600)
        private static let most = 64

        /// - Parameter isMuted: whether it is muted already, nobody knows since when.
        init(isMuted: Bool = false) {
            since = isMuted ? Instant.zero : nil
        }

        /// Whether none of what may still come was captured while it was muted.
        var areNone: Bool { since == nil && past.isEmpty }

        mutating func record(isMuted: Bool, at now: Instant) {
            guard isMuted != (since != nil) else { return }
            guard let since else { return self.since = now }
            self.since = nil
            past.removeAll { $0.upperBound + Self.memory < now }
            // What lies between two of them is left out rather than recorded by mistake.
            if past.count >= Self.most { past.replaceSubrange(0..<2, with: [past[0].lowerBound..<past[1].upperBound]) }
            past.append(since..<max(now, since))
        }

        /// Whether it was muted at a moment.
        func contain(_ moment: Instant) -> Bool {
            if let since, moment >= since { return true }
            return past.contains { $0.contains(moment) }
        }
    }

    private let station: CameraStation
    private let now: @Sendable () -> Instant
    private let mutes: Locked<Mutes>
    private let observer = Locked<Int?>(nil)

    /// Follows the switches of a camera from now on.
    init(_ station: CameraStation, now: @escaping @Sendable () -> Instant) {
        self.station = station
        self.now = now
        mutes = Locked(Mutes(isMuted: !station.outputs.policy.recordsSound))
        let number = station.observe { [weak self] event in
            if case .tracks(_) = event { self?.look() }
        }
        observer.withLock { $0 = number }
        look()
    }

    deinit {
        if let number = observer.withLock({ $0 }) { station.stopObserving(number) }
    }

    private func look() {
        let isMuted = !station.outputs.policy.recordsSound
        mutes.withLock { $0.record(isMuted: isMuted, at: now()) }
    }

    /// What of a batch of sound may be recorded; nil for nothing.
    func admitted(_ tapped: TappedBatch, clockRate: Int) -> TappedBatch? {
        let mutes = self.mutes.withLock { $0 }
        return mutes.areNone ? tapped : tapped.after(mutes, clockRate: clockRate)
    }
}

extension TappedBatch {
    /// The packets after the last one that was captured while the microphone was muted; nil if there is none.
    func after(_ mutes: SoundGate.Mutes, clockRate: Int) -> TappedBatch? {
        let packets = batch.packets
        guard packets.indices.contains(firstPacket) else { return nil }
        let first = packets[firstPacket].timestamp
        func captureOf(_ index: Int) -> Instant {
            let ticks = Int64(Int32(bitPattern: packets[index].timestamp &- first))
            return capture + .nanoseconds(ticks * 1_000_000_000 / Int64(max(clockRate, 1)))
        }
        /// A capture that is far from the arrival says nothing, and none is later than it.
        func momentOf(_ index: Int) -> Instant {
            let moment = captureOf(index)
            return moment >= batch.arrival - .seconds(3) ? min(moment, batch.arrival) : batch.arrival
        }
        guard let last = (firstPacket..<packets.count).last(where: { mutes.contain(momentOf($0)) }) else { return self }
        guard last + 1 < packets.count else { return nil }
        var rest = self
        rest.firstPacket = last + 1
        rest.capture = captureOf(last + 1)
        return rest
    }
}
