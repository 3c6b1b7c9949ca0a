import Foundation
import FragmentedMP4
import Transport

/// Where sessions begin and end.
extension RecordingAssembler {
    /// A session that is being recorded.
    struct Session: Sendable {
        let id: RecordingSession.ID
        /// The moment of the decode time 0, and that moment in nanoseconds since 1970.
        let origin: Instant
        let wallOrigin: Int64
        var pictures: CMAFTrackWriter?
        var sound: CMAFTrackWriter?
        /// What the tracks' times are counted from, in ticks since the origin of the monotonic clock.
        var pictureOrigin: Int64 = 0
        var soundOrigin: Int64 = 0
        /// Sound begins a segment here, because pictures have.
        var soundCut: Int64?
        /// How long the newest piece of sound lasts.
        var soundDuration: Int64?
        var eventCount: UInt32 = 0

        /// The index of a track in the session's description.
        func index(ofPictures isPictures: Bool) -> Int { isPictures || pictures == nil ? 0 : 1 }

        /// A time of a track in microseconds since 1970.
        func wallTime(of ticks: Int64, clockRate: Int) -> Int64 {
            let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: Int64(max(clockRate, 1)))
            return wallOrigin / 1_000 &+ seconds &* 1_000_000 &+ rest &* 1_000_000 / Int64(max(clockRate, 1))
        }

        /// When the newest written sample ends, in microseconds since 1970.
        var wallTimeOfEnd: Int64 {
            [pictures, sound].compactMap { $0 }.map { wallTime(of: $0.end, clockRate: $0.track.timescale) }.max()
                ?? wallOrigin / 1_000
        }
    }

    /// Something of the session is written: pictures.
    mutating func record(picture sample: TimedSample) {
        guard let wanted, !isSuspended, time(ofPicture: sample) >= wanted.notBefore else { return }
        if sample.isKeyFrame, let session {
            if session.pictures?.track != sample.description || soundHasChanged(in: session) {
                close(.formatChanged)
            } else if pictures?.isNew == true, let newest = newestPicture, time(ofPicture: sample) <= newest {
                // Other pictures of a time that is written already. They cannot follow it, and none is left out.
                close(.cut)
            } else if let reason = cutReason(of: session, at: time(ofPicture: sample)) {
                close(reason)
            }
        }
        if sample.isKeyFrame { pictures?.isNew = false }
        if session == nil {
            guard sample.isKeyFrame else { return needsKeyFrame = true }
            open(
                at: time(ofPicture: sample), pictures: sample.description,
                sound: soundIsThere ? sound?.description : nil)
        }
        guard session?.pictures != nil else { return }
        let segment = session?.pictures?.segment
        write(sample, isPictures: true)
        guard var session, let writer = session.pictures, writer.segment != segment, sound != nil else { return }
        let start = pictures?.timeline.instant(of: session.pictureOrigin + writer.segmentDecodeTime) ?? .zero
        session.soundCut = (sound?.timeline.ticks(at: start) ?? 0) - session.soundOrigin
        self.session = session
    }

    /// Something of the session is written: sound.
    mutating func record(sound sample: TimedSample) {
        guard let wanted, !isSuspended, time(ofSound: sample) >= wanted.notBefore else { return }
        let alone = !picturesAreExpected
        if let session {
            if let known = session.sound, known.track != sample.description {
                // Only pictures can be waited for.
                guard alone else { return needsKeyFrame = true }
                close(.formatChanged)
            } else if session.pictures == nil, let reason = cutReason(of: session, at: time(ofSound: sample)) {
                close(reason)
            }
        }
        if session == nil {
            guard alone else { return }
            open(at: time(ofSound: sample), pictures: nil, sound: sample.description)
        }
        guard session?.sound != nil else {
            // It comes with the next session, which begins with a key frame.
            if session != nil, sample.description.isWritable { needsKeyFrame = true }
            return
        }
        write(sample, isPictures: false)
    }

    /// When the newest picture of the session was captured; nil if it has none.
    var newestPicture: Instant? {
        guard let session, let writer = session.pictures, writer.segment > 0 else { return nil }
        let ticks = writer.newestDecodeTime ?? writer.end - 1
        let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: Int64(max(writer.track.timescale, 1)))
        return session.origin + .seconds(seconds)
            + .nanoseconds(rest * 1_000_000_000 / Int64(max(writer.track.timescale, 1)))
    }

    /// Whether sound has come that the session cannot take.
    private func soundHasChanged(in session: Session) -> Bool {
        soundIsThere && session.sound?.track != sound?.description
    }

    /// Whether sound has come that a session can begin with.
    private var soundIsThere: Bool {
        guard let sound, let last = sound.lastQueued, sound.description?.isWritable == true else { return false }
        return now - last < configuration.silence
    }

    /// Whether pictures will come. Sound does not wait forever for those of a camera that sends none.
    private var picturesAreExpected: Bool {
        guard let pictures else { return false }
        if pictures.description == nil { return now - pictures.since < .seconds(5) }
        return true
    }

    private func cutReason(of session: Session, at moment: Instant) -> RecordingEnd.Reason? {
        if moment - session.origin >= configuration.longestSession { return .cut }
        let step = session.wallOrigin - session.origin.nanoseconds - wallClockOffset
        return abs(step) >= configuration.wallClockStep.wholeNanoseconds ? .cut : nil
    }

    private mutating func open(at origin: Instant, pictures described: MP4Track?, sound heard: MP4Track?) {
        guard let wanted else { return }
        let wallOrigin = origin.nanoseconds &+ wallClockOffset
        do throws(MP4Error) {
            func writer(_ track: MP4Track?, _ identifier: UInt32) throws(MP4Error) -> CMAFTrackWriter? {
                guard let track else { return nil }
                return try CMAFTrackWriter(
                    track: track, parameters: configuration.parameters, start: wallOrigin, identifier: identifier)
            }
            let number: UInt32 = configuration.isLive && described != nil ? 2 : 1
            let (first, second) = (try writer(described, 1), try writer(heard, number))
            let name = naming(wallOrigin / 1_000_000, wanted.number)
            var trigger = wanted.trigger
            trigger.events += wanted.waitingEvents
            self.wanted?.number = nil
            self.wanted?.waitingEvents = []
            var session = Session(
                id: name.id, origin: origin, wallOrigin: wallOrigin, pictures: first, sound: second)
            session.pictureOrigin = pictures?.timeline.ticks(at: origin) ?? 0
            session.soundOrigin = sound?.timeline.ticks(at: origin) ?? 0
            if !configuration.isLive { session.record(trigger, at: max(wanted.triggeredAt, origin)) }
            self.session = session
            if described != nil { needsKeyFrame = false }
            let tracks = [first, second].compactMap { $0 }.map { track(of: $0) }
            produce(
                .began(
                    RecordingSession(
                        id: name.id, connection: configuration.connection, number: name.number,
                        trigger: trigger,
                        triggeredAt: (wanted.triggeredAt.nanoseconds &+ wallClockOffset) / 1_000_000, tracks: tracks)),
                of: name.id)
        } catch {
            recordRefusal(error.description)
        }
    }

    private func track(of writer: CMAFTrackWriter) -> RecordingSession.Track {
        RecordingSession.Track(
            writer.track, name: writer.track.isVideo ? configuration.pictureName : configuration.soundName,
            header: writer.header)
    }

    /// Ends the session, with all that has been passed on to it.
    mutating func close(_ reason: RecordingEnd.Reason) {
        guard session != nil else { return }
        for isPictures in [true, false] {
            forward(isPictures) { writer, output in writer.finish(output) }
        }
        guard let session else { return }
        produce(.ended(RecordingEnd(at: session.wallTimeOfEnd, reason: reason)), of: session.id)
        self.session = nil
    }

    /// Writes what waits in a track's writer: nothing more will come soon.
    mutating func flushWriter(_ isPictures: Bool) {
        forward(isPictures) { writer, output in writer.flush(output) }
    }

    /// Completes the segment of sound: other sound comes from now on, or none.
    mutating func finishSound() {
        forward(false) { writer, output in writer.finish(output) }
    }

    /// What of the session decides where a sample goes. The session itself is not held meanwhile: what is held twice is
    /// copied when it changes.
    private struct Place {
        var clockRate: Int64
        var origin: Int64
        var newest: Int64?
        var end: Int64
        var usual: Int64
        var hasSamples: Bool
        var segmentStart: Int64
        /// Sound only: the time at which a segment begins, and after which one begins in any case.
        var cut: Int64?
        var longestSegment: Int64
        var hasPictures: Bool
    }

    private func place(of sample: TimedSample, isPictures: Bool) -> Place? {
        guard let session, let writer = isPictures ? session.pictures : session.sound else { return nil }
        let clockRate = Int64(writer.track.timescale)
        var place = Place(
            clockRate: clockRate, origin: isPictures ? session.pictureOrigin : session.soundOrigin,
            newest: writer.newestDecodeTime, end: writer.end, usual: writer.usualDuration,
            hasSamples: writer.segment > 0, segmentStart: writer.segmentDecodeTime, cut: session.soundCut,
            longestSegment: 0, hasPictures: session.pictures != nil)
        guard !isPictures else {
            place.usual = max(place.usual, pictures?.usualStep ?? 0)
            return place
        }
        place.usual = session.soundDuration ?? sample.duration ?? place.usual
        guard let video = session.pictures else { return place }
        // When pictures have stopped, sound goes on alone.
        let group = (video.end - video.segmentDecodeTime) * clockRate / Int64(video.track.timescale)
        let segment = configuration.parameters.segmentDuration.wholeNanoseconds / 1_000_000 * clockRate / 1_000
        place.longestSegment = 2 * max(segment, group)
        return place
    }

    private mutating func write(_ sample: TimedSample, isPictures: Bool) {
        guard let place = place(of: sample, isPictures: isPictures) else { return }
        var time = sample.decodeTime - place.origin
        let expected = place.newest.map { $0 + place.usual } ?? place.end
        // Sound that began before the session, or before other sound has ended: less than half of it is heard.
        if !isPictures, time + (sample.duration ?? 0) / 2 < expected { return }
        let shown = time + Int64(sample.compositionOffset)
        time = max(time, place.newest.map { $0 + 1 } ?? place.end)
        let limit = max(place.clockRate * 2, place.usual * 4)
        let isHole = place.hasSamples && (place.newest == nil ? time > expected : time - expected > limit)
        if place.hasSamples, sample.missing != nil || isHole, isPictures || !place.hasPictures {
            report(missing: expected..<max(time, expected), at: place.clockRate, sample.missing ?? .cameraAway)
        }
        var starts: Bool?
        if !isPictures, place.hasPictures {
            starts = place.cut.map { time >= $0 } ?? false || time - place.segmentStart >= place.longestSegment
            if starts == true { session?.soundCut = nil }
        } else if isHole, sample.isKeyFrame {
            starts = true
        }
        let offset = isPictures && sample.compositionOffset != 0 ? Int32(clamping: shown - time) : 0
        var failure: MP4Error?
        forward(isPictures) { writer, output in
            do throws(MP4Error) {
                try writer.append(
                    MP4Sample(
                        data: sample.data, decodeTime: time, compositionOffset: offset, isKeyFrame: sample.isKeyFrame),
                    startsSegment: starts, previousDuration: isHole ? place.usual : nil, output)
            } catch {
                failure = error
            }
        }
        if !isPictures { session?.soundDuration = sample.duration }
        if let failure { recordRefusal(failure.description) }
    }

    private mutating func report(missing range: Range<Int64>, at clockRate: Int64, _ reason: RecordingGap.Reason) {
        let shortest = configuration.shortestGap.wholeNanoseconds / 1_000_000 * clockRate / 1_000
        guard let session, Int64(range.count) >= shortest else { return }
        produce(
            .gap(
                RecordingGap(
                    from: session.wallTime(of: range.lowerBound, clockRate: Int(clockRate)),
                    until: session.wallTime(of: range.upperBound, clockRate: Int(clockRate)), reason: reason)),
            of: session.id)
    }

    /// Lets a track's writer work, and passes on what it makes. The writer is taken out meanwhile, so that what it
    /// holds is not copied.
    private mutating func forward(
        _ isPictures: Bool, _ body: (inout CMAFTrackWriter, (CMAFOutput) -> Void) -> Void
    ) {
        guard var session = session.take() else { return }
        let index = session.index(ofPictures: isPictures)
        let (id, origin, wallOrigin) = (session.id, session.origin, session.wallOrigin)
        if var writer = isPictures ? session.pictures.take() : session.sound.take() {
            body(&writer) { output in
                var made = RecordingOutput(output, track: index)
                if case .chunk(let chunk) = output, case .chunk(var recorded) = made {
                    recorded.captured = origin + .nanoseconds(chunk.wallTime &- wallOrigin)
                    made = .chunk(recorded)
                }
                outputs.append((id, made))
            }
            if isPictures { session.pictures = writer } else { session.sound = writer }
        }
        self.session = session
    }
}

extension RecordingAssembler.Session {
    /// Puts a trigger into the track itself, so that a clip says what caused it.
    mutating func record(_ trigger: RecordingSession.Trigger, at instant: Instant) {
        guard let message = try? JSONEncoder().encode(trigger) else { return }
        eventCount += 1
        let nanoseconds = max((instant - origin).wholeNanoseconds, 0)
        func event(_ clockRate: Int) -> CMAFEvent {
            let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
            return CMAFEvent(
                scheme: "urn:gatehouse:recording:trigger", value: trigger.kind.rawValue,
                time: seconds &* Int64(clockRate) &+ rest &* Int64(clockRate) / 1_000_000_000, number: eventCount,
                message: Array(message))
        }
        if let writer = pictures {
            pictures?.append(event(writer.track.timescale))
        } else if let writer = sound {
            sound?.append(event(writer.track.timescale))
        }
    }
}

extension RecordingOutput {
    fileprivate init(_ output: CMAFOutput, track: Int) {
        switch output {
        case .chunk(let chunk):
            self = .chunk(
                RecordedChunk(
                    track: track, segment: chunk.segment, beginsSegment: chunk.beginsSegment,
                    decodeTime: chunk.decodeTime, duration: chunk.duration, wallTime: chunk.wallTime / 1_000,
                    beginsWithKeyFrame: chunk.beginsWithKeyFrame, bytes: chunk.bytes))
        case .segmentEnd(let segment):
            self = .segmentEnded(
                RecordedSegment(
                    track: track, segment: segment.number, decodeTime: segment.decodeTime, duration: segment.duration))
        }
    }
}

extension RecordingSession.Track {
    /// Describes a track of which only the header has been written.
    init(_ track: MP4Track, name: String, header: [UInt8]) {
        self.init(
            name: name, isVideo: track.isVideo, codec: track.codecName,
            timescale: track.timescale, initializationSegment: Data(header), width: track.pictureSize?.width,
            height: track.pictureSize?.height)
    }
}
