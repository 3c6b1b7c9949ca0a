import FragmentedMP4
import Transport

/// Samples of both tracks in the order of their times.
extension RecordingAssembler {
    /// Passes on what no longer has to wait.
    /// - Parameters:
    ///   - force: whether nothing has to wait.
    ///   - end: what was captured at this moment or later is dropped.
    mutating func drain(force: Bool = false, until end: Instant = .distantFuture) {
        while true {
            let (picture, piece) = (pictures?.queue.head, sound?.queue.head)
            let takesPicture: Bool
            switch (picture, piece) {
            case (nil, nil): return
            case (let picture?, let piece?): takesPicture = time(ofPicture: picture) <= time(ofSound: piece)
            case (let picture?, nil):
                guard force || !waits(picture, for: sound) else { return }
                takesPicture = true
            case (nil, let piece?):
                guard force || !waits(piece, for: pictures) else { return }
                takesPicture = false
            }
            if takesPicture, let sample = pictures?.queue.removeFirst() {
                if time(ofPicture: sample) < end { record(picture: sample) }
            } else if let sample = sound?.queue.removeFirst() {
                if time(ofSound: sample) < end { record(sound: sample) }
            }
        }
    }

    func time(ofPicture sample: TimedSample) -> Instant {
        pictures?.timeline.instant(of: sample.decodeTime) ?? .distantFuture
    }

    func time(ofSound sample: TimedSample) -> Instant {
        sound?.timeline.instant(of: sample.decodeTime) ?? .distantFuture
    }

    /// Whether a sample has to wait because an earlier one of the other track may come.
    private func waits(_ sample: TimedSample, for other: Track?) -> Bool {
        guard let other, isWanted else { return false }
        guard (pictures?.queue.byteCount ?? 0) + (sound?.queue.byteCount ?? 0) <= configuration.mostWaitingBytes else {
            return false
        }
        if now - (other.lastQueued ?? other.since) >= configuration.silence { return false }
        let patience = session == nil ? configuration.patience + configuration.patience : configuration.patience
        return now - sample.queued < patience
    }

    /// Time has passed. Call it now and then, whether something has come or not.
    mutating func advance(to now: Instant) {
        self.now = max(self.now, now)
        if let track = pictures, isSilent(track, session?.pictures) { flushReordering() }
        drain()
        guard let session else { return }
        for isPictures in [true, false] {
            guard let track = isPictures ? pictures : sound, track.queue.isEmpty else { continue }
            let writer = isPictures ? session.pictures : session.sound
            if isSilent(track, writer) { flushWriter(isPictures) }
        }
        let last = [pictures, sound].compactMap { $0?.lastQueued }.max()
        if let last, self.now - last >= configuration.longestAbsence {
            drain(force: true)
            close(.cameraAway)
        }
    }

    /// Whether nothing has come of a track for much longer than its samples last.
    private func isSilent(_ track: Track, _ writer: CMAFTrackWriter?) -> Bool {
        guard let last = track.lastQueued else { return false }
        let usual = Duration.nanoseconds(
            track.timeline.instant(of: max(writer?.usualDuration ?? 0, track.usualStep)).nanoseconds)
        return now - last >= max(.seconds(2), usual * 4)
    }
}
