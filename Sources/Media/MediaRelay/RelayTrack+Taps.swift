import RTP
import Transport

/// A tap on a track, and how far it has come.
struct TapEntry {
    let tap: any TrackTap
    /// Whether it gets every batch: it has had its first key frame, or needs none.
    var hasStarted = false
    /// Whether it has received the place where it begins.
    var hasBegun = false
    /// The moment that it asked for.
    var wanted: Instant?
    /// The picture that sound begins with, and the sound that begins with a picture.
    var group: TapGroup?
}

extension RelayTrack {
    /// Adds a tap and gives it what the ring holds from `start` on. Sound with a group waits for the group's picture.
    /// - Returns: false while the tap waits for a key frame.
    @discardableResult
    func addTap(_ tap: any TrackTap, from start: TapStart = .newestKeyFrame, with group: TapGroup? = nil) -> Bool {
        removeTap(tap)
        var entry = TapEntry(tap: tap, group: group)
        if case .keyFrame(let moment) = start { entry.wanted = moment }
        taps.append(entry)
        guard isVideo else {
            if let group { group.add(tap, of: self) } else { startSound(of: tap, at: entry.wanted) }
            return true
        }
        group?.addPicture()
        guard let cursor = keyFrame(for: start) else { return false }
        give(from: cursor, to: taps.count - 1)
        return true
    }

    /// Removes a tap.
    func removeTap(_ tap: any TrackTap) {
        guard let index = taps.firstIndex(where: { $0.tap === tap }) else { return }
        let entry = taps.remove(at: index)
        if isVideo, !entry.hasBegun { entry.group?.removePicture() }
    }

    /// Passes the ring's newest entry to the taps.
    func feedTaps(at now: Instant) {
        guard let entry = ring[ring.end - 1] else { return }
        for index in taps.indices {
            if taps[index].hasStarted {
                give(tapped(entry, from: 0), to: index)
            } else if isVideo {
                if let start = ring.keyFrames.last, start.entry == ring.end - 1 {
                    taps[index].hasStarted = true
                    give(tapped(entry, from: start.packet), to: index)
                    taps[index].group?.startSound()
                } else {
                    repeatKeyFrameRequest(at: now)
                }
            }
        }
    }

    /// Reports to the taps that the source has restarted.
    func restartTaps() {
        for index in taps.indices {
            if isVideo { taps[index].hasStarted = false }
            taps[index].tap.trackRestarted()
        }
    }

    /// Reports to the taps that the track has gone.
    func endTaps() {
        let ended = taps
        taps = []
        for entry in ended {
            entry.tap.trackEnded()
            if isVideo, !entry.hasBegun { entry.group?.removePicture() }
        }
    }

    /// Starts a tap of sound with the packet of `moment`, or with the next one.
    func startSound(of tap: any TrackTap, at moment: Instant?) {
        guard let index = taps.firstIndex(where: { $0.tap === tap && !$0.hasStarted }) else { return }
        taps[index].hasStarted = true
        guard let moment else { return }
        taps[index].wanted = moment
        if let cursor = sound(at: moment) { give(from: cursor, to: index) }
    }

    private func give(from cursor: TrackRing.Cursor, to index: Int) {
        taps[index].hasStarted = true
        for number in cursor.entry..<ring.end {
            guard let entry = ring[number] else { continue }
            give(tapped(entry, from: number == cursor.entry ? cursor.packet : 0), to: index)
        }
    }

    private func give(_ tapped: TappedBatch, to index: Int) {
        if !taps[index].hasBegun {
            taps[index].hasBegun = true
            let shortfall = taps[index].wanted.map { max(tapped.capture - $0, .zero) } ?? .zero
            taps[index].tap.tapBegins(TapBeginning(capture: tapped.capture, shortfall: shortfall))
            if isVideo { taps[index].group?.pictureBegins(at: tapped.capture) }
        }
        taps[index].tap.receive(tapped)
    }

    /// The key frame that a tap begins with; nil if it is one that has not come yet.
    private func keyFrame(for start: TapStart) -> TrackRing.Cursor? {
        switch start {
        case .live: return nil
        case .newestKeyFrame: return ring.newestKeyFrame
        case .keyFrame(let moment):
            let older = ring.keyFrames.count(upTo: moment) { cursor in
                ring[cursor.entry].map { capture(of: cursor.packet, in: $0) } ?? .distantFuture
            }
            return older > 0 ? ring.keyFrames[older - 1] : ring.keyFrames.first
        }
    }

    /// Hardly any packet of sound lasts longer. One that does costs the tap this packet.
    private static let longestSoundPacket = Duration.milliseconds(500)

    /// The packet of sound in which `moment` lies: the newest one that was captured at or before it. If that is over, because
    /// the microphone was muted or the camera paused, it is the next one. It is the oldest one if all are later; nil if
    /// none has come yet.
    private func sound(at moment: Instant) -> TrackRing.Cursor? {
        var number = ring.end - 1
        let oldest = max(ring.first, ring.readableFrom)
        while number >= oldest, let entry = ring[number] {
            if let packet = entry.batch.packets.indices.last(where: { capture(of: $0, in: entry) <= moment }) {
                let isOver = moment - capture(of: packet, in: entry) > Self.longestSoundPacket
                return isOver
                    ? packetAfter(packet, in: entry, number) : TrackRing.Cursor(entry: number, packet: packet)
            }
            number -= 1
        }
        return oldest < ring.end ? TrackRing.Cursor(entry: oldest, packet: 0) : nil
    }

    private func packetAfter(_ packet: Int, in entry: TrackRing.Entry, _ number: Int) -> TrackRing.Cursor? {
        if packet + 1 < entry.batch.packets.count { return TrackRing.Cursor(entry: number, packet: packet + 1) }
        return number + 1 < ring.end ? TrackRing.Cursor(entry: number + 1, packet: 0) : nil
    }

    private func capture(of packet: Int, in entry: TrackRing.Entry) -> Instant {
        clock.instant(of: entry.batch.packets[packet].timestamp &+ entry.timestampOffset) ?? entry.batch.arrival
    }

    private func tapped(_ entry: TrackRing.Entry, from packet: Int) -> TappedBatch {
        TappedBatch(
            batch: entry.batch, firstPacket: packet, firstSequence: entry.firstSequence,
            timestampOffset: entry.timestampOffset, capture: capture(of: packet, in: entry))
    }
}

/// Taps of one consumer that begin together: its sound begins at the moment of the first picture.
final class TapGroup {
    private struct Sound {
        weak var track: RelayTrack?
        let tap: any TrackTap
    }

    /// Taps of pictures that have not begun.
    private var pictures = 0
    private var waiting: [Sound] = []
    private var moment: Instant?

    func addPicture() { pictures += 1 }

    func add(_ tap: any TrackTap, of track: RelayTrack) { waiting.append(Sound(track: track, tap: tap)) }

    func pictureBegins(at capture: Instant) {
        pictures -= 1
        moment = moment.map { min($0, capture) } ?? capture
    }

    /// A picture has gone before it began. If it was the last one, the sound does not wait any longer.
    func removePicture() {
        pictures -= 1
        if pictures == 0 { startSound() }
    }

    /// Starts the sound where the picture has begun, or with what comes next if there is no picture.
    func startSound() {
        for sound in waiting { sound.track?.startSound(of: sound.tap, at: moment) }
        waiting = []
    }

    /// Starts the sound if a picture has begun.
    func startSoundIfKnown() {
        if moment != nil { startSound() }
    }
}

extension RelayShard {
    /// Adds taps to tracks; the camera is asked for a key frame if it takes one to begin.
    func addTaps(_ taps: [(tap: any TrackTap, track: TrackID)], from start: TapStart, at now: Instant) {
        let known = taps.compactMap { tap, id in tracks[id].map { (tap: tap, track: $0) } }
        for (tap, id) in taps where tracks[id] == nil { tap.trackEnded() }
        let hasPicture = known.contains { $0.track.isVideo }
        var reachesBack = hasPicture
        if case .keyFrame = start { reachesBack = true }
        // A key frame that was handed in before the tap is part of what it begins with. Sound that begins live has no
        // such beginning: the tap comes first, so that it misses nothing of what is handed in while its request is on
        // the way.
        if reachesBack { handleInlets(at: now) }
        let group = hasPicture && known.contains { !$0.track.isVideo } ? TapGroup() : nil
        for (tap, track) in known where !track.isVideo { track.addTap(tap, from: start, with: group) }
        for (tap, track) in known where track.isVideo {
            if !track.addTap(tap, from: start, with: group) { track.requestKeyFrame(at: now) }
        }
        group?.startSoundIfKnown()
    }

    /// Adds one tap.
    func addTap(_ tap: any TrackTap, to id: TrackID, from start: TapStart = .newestKeyFrame, at now: Instant) {
        addTaps([(tap, id)], from: start, at: now)
    }
}
