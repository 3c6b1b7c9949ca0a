import Cameras
import Codecs
import DatagramPort
import FragmentedMP4
import MediaRelay
import SDP
import Stations
import Transport

/// The part of a recorder that lives on the recording thread.
struct RecorderWork: ~Copyable {
    /// What one of the camera's tracks brings.
    private struct Feed {
        let track: StationTrack
        let tap: QueueTap
        /// Keeps the gateway's transcoder running, for a track that it makes.
        let use: CameraHold?
    }

    private static let pictures: UInt64 = 0
    private static let sound: UInt64 = 1

    // The members that are not private are for the delivery of the output (RecorderWork+Output.swift).
    let configuration: CameraRecorder.Configuration
    var assembler: RecordingAssembler
    /// The right to record.
    var permit: OutputPermit?
    /// Nothing is recorded before this time, because the sink has refused something.
    var pausedUntil: Instant?
    private var queue: TapQueue?
    private var entries: [TapQueue.Entry] = []
    private var pictureFeed: Feed?
    private var soundFeed: Feed?
    private var reader: PictureFeed?
    private var sound: SoundReader?
    private var meter = KeyFrameMeter()
    private var hold: CameraHold?
    private var nextKeyFrameRequest = Instant.zero
    private var nextChoice = Instant.zero
    /// Whether the sound has gone, and other sound is to be chosen.
    private var choosesAgain = false

    init(_ configuration: CameraRecorder.Configuration, naming: @escaping CameraRecorder.Naming) {
        self.configuration = configuration
        var own = RecordingAssembler.Configuration()
        own.device = configuration.device
        own.connection = configuration.connection
        own.pictureName = configuration.pictureName ?? own.pictureName
        own.soundName = configuration.soundName ?? own.soundName
        switch configuration.purpose {
        case .recording:
            own.parameters = .init(
                segmentDuration: configuration.segmentDuration, chunkDuration: configuration.chunkDuration)
        case .liveView:
            own.parameters = .live(
                segmentDuration: configuration.segmentDuration, chunkDuration: configuration.chunkDuration)
            own.isLive = true
            // Nothing is kept whose times the wall clock would have to match.
            own.wallClockStep = configuration.longestSession
        }
        own.longestSession = configuration.longestSession
        own.longestAbsence = configuration.longestAbsence
        let now = configuration.now()
        assembler = RecordingAssembler(
            own, wallClockOffset: configuration.wallClock() - now.nanoseconds, at: now, naming: naming)
    }

    /// Does all that there is to do.
    mutating func work(for recorder: CameraRecorder) {
        let now = configuration.now()
        assembler.wallClockOffset = configuration.wallClock() - now.nanoseconds
        if let until = pausedUntil, now >= until {
            pausedUntil = nil
            assembler.isSuspended = false
        }
        // What has come before a command belongs to the time before it.
        let commands = recorder.takeCommands()
        readQueue(at: now, for: recorder)
        for command in commands { obey(command, for: recorder, at: now) }
        if assembler.isWanted, choosesAgain || (pictureFeed == nil && soundFeed == nil), now >= nextChoice {
            nextChoice = now + .milliseconds(500)
            choosesAgain = false
            chooseTracks(for: recorder, at: now)
        }
        assembler.advance(to: now)
        deliver(to: recorder, at: now)
        if assembler.needsKeyFrame, assembler.isWanted, let feed = pictureFeed, now >= nextKeyFrameRequest {
            nextKeyFrameRequest = now + .seconds(2)
            recorder.relay.requestKeyFrame(of: feed.track.id)
        }
    }

    /// Gives up all that it holds.
    mutating func release(_ relay: MediaRelay) {
        removeTaps(relay)
        hold?.end()
        hold = nil
        permit?.end()
        permit = nil
    }

    // MARK: Commands

    private mutating func obey(_ command: CameraRecorder.Command, for recorder: CameraRecorder, at now: Instant) {
        switch command {
        case .start(let trigger, let instant, let preRoll, let notBefore, let number):
            guard !assembler.isWanted else { return assembler.start(trigger, triggeredAt: instant, at: now) }
            do throws(StationError) {
                permit = try recorder.station.permit(
                    for: configuration.usage, owner: configuration.ownerName
                ) { [weak recorder] in await recorder?.end(because: $0) }
            } catch {
                return recorder.report(.refused(error))
            }
            assembler.start(trigger, triggeredAt: instant, notBefore: notBefore, number: number, at: now)
            recorder.update { $0.isWanted = true }
            if hold == nil { hold = recorder.station.hold(for: configuration.holdOwner) }
            chooseTracks(for: recorder, from: .keyFrame(before: max(instant - preRoll, notBefore)), at: now)
        case .extend(let trigger, let instant):
            assembler.extend(trigger, at: instant)
        case .stop(let reason, let instant):
            guard assembler.isWanted else { return recorder.recordStopped() }
            assembler.stop(reason, at: instant)
            removeTaps(recorder.relay)
            deliver(to: recorder, at: now)
            hold?.end()
            hold = nil
            recorder.update { $0.isWanted = false }
            permit?.end()
            permit = nil
            recorder.recordStopped()
        case .chooseTracks:
            if assembler.isWanted { chooseTracks(for: recorder, at: now) }
        }
    }

    /// Which of the camera's tracks are to be recorded now.
    private func chooseSource(for recorder: CameraRecorder) -> RecordingSource {
        var source = RecordingSource(choosingFrom: recorder.station.tracks, stream: configuration.stream)
        // What the connection does not name is not recorded, whatever else the camera sends.
        if configuration.pictureName == nil { source.pictures = nil }
        let policy = recorder.station.outputs.policy
        let isMuted = configuration.purpose == .recording ? !policy.recordsSound : policy.mutesSound
        if configuration.soundName == nil || isMuted { source.sound = nil }
        return source
    }

    /// Taps the tracks that are to be recorded, unless that is done already.
    /// - Parameter start: where they begin; nil to continue where what has been written ends.
    private mutating func chooseTracks(
        for recorder: CameraRecorder, from start: TapStart? = nil, at now: Instant
    ) {
        guard permit?.revocation == nil else { return }
        let source = chooseSource(for: recorder)
        // Tracks that the camera announces again and that have not changed go on.
        let picturesGoOn = source.pictures.map { pictureFeed?.track.isSame(as: $0) ?? false } ?? false
        let soundGoesOn = source.sound.map { soundFeed?.track.isSame(as: $0) ?? false } ?? (soundFeed == nil)
        if soundGoesOn, picturesGoOn || source.pictures == nil && source.sound != nil { return }
        guard source.pictures != nil || source.sound != nil else { return }
        // What the relay holds of pictures that go on is recorded already.
        if picturesGoOn, let queue { return changeSound(to: source.sound, of: queue, for: recorder, at: now) }
        removeTaps(recorder.relay)
        meter.interrupt()
        let queue = TapQueue(
            limits: .init(
                duration: configuration.longestBacklog, startDuration: .seconds(180),
                bytes: configuration.largestBacklog, overflow: .refuse))
        self.queue = queue
        var taps: [(tap: any TrackTap, track: TrackID)] = []
        if let track = source.pictures, let reader = PictureFeed(track.description.codec) {
            let feed = Feed(
                track: track, tap: queue.makeTap(id: Self.pictures, resumesAtKeyFrame: true, at: now),
                use: try? recorder.station.use(track.id, for: .recording))
            pictureFeed = feed
            self.reader = reader
            assembler.setPictures(
                codecName: track.description.codec.name, clockRate: track.description.codec.clockRate,
                outOfBandParameters: RecordingSource.outOfBandParameters(of: track.description.codec))
            taps.append((feed.tap, track.id))
        } else {
            assembler.setPictures(codecName: nil)
        }
        assembler.setSound(clockRate: nil)
        if let track = source.sound, let tap = prepareSound(track, for: queue, at: now) { taps.append((tap, track.id)) }
        queue.setWake { [weak recorder] in recorder?.wake() }
        for tap in taps { permit?.cover(tap.tap, of: tap.track) }
        let place = assembler.newestPicture.map { TapStart.keyFrame(before: $0) } ?? .newestKeyFrame
        recorder.relay.addTaps(taps, from: start ?? place)
        recorder.update { $0.taps += 1 }
    }

    /// Takes other sound, or none, beside pictures that go on. It begins with what comes next.
    private mutating func changeSound(
        to track: StationTrack?, of queue: TapQueue, for recorder: CameraRecorder, at now: Instant
    ) {
        if let feed = soundFeed { recorder.relay.removeTap(feed.tap, from: feed.track.id) }
        soundFeed = nil
        sound = nil
        assembler.setSound(clockRate: nil)
        guard let track, let tap = prepareSound(track, for: queue, at: now) else { return }
        permit?.cover(tap, of: track.id)
        recorder.relay.addTaps([(tap, track.id)], from: .live)
        recorder.update { $0.taps += 1 }
    }

    /// Prepares to read sound. Returns its tap; nil for sound that cannot be read.
    private mutating func prepareSound(_ track: StationTrack, for queue: TapQueue, at now: Instant) -> QueueTap? {
        guard let new = try? SoundReader(track.description.codec) else { return nil }
        let feed = Feed(track: track, tap: queue.makeTap(id: Self.sound, at: now), use: nil)
        soundFeed = feed
        assembler.setSound(clockRate: new.clockRate)
        sound = consume new
        return feed.tap
    }

    private mutating func removeTaps(_ relay: MediaRelay) {
        for feed in [pictureFeed, soundFeed].compactMap({ $0 }) {
            relay.removeTap(feed.tap, from: feed.track.id)
            feed.use?.end()
        }
        queue?.close()
        queue = nil
        pictureFeed = nil
        soundFeed = nil
        reader = nil
        sound = nil
    }

    // MARK: What comes

    private mutating func readQueue(at now: Instant, for recorder: CameraRecorder) {
        guard let queue else { return }
        var entries: [TapQueue.Entry] = []
        swap(&entries, &self.entries)
        _ = queue.take(into: &entries)
        for entry in entries {
            let isPictures = entry.tap === pictureFeed?.tap
            // What a tap that was removed has left is no longer wanted.
            guard isPictures || entry.tap === soundFeed?.tap else { continue }
            if isPictures {
                readPictures(entry.event, at: now, for: recorder)
            } else {
                readSound(entry.event, at: now, for: recorder)
            }
            guard case .ended = entry.event else { continue }
            // The track has gone. What the camera sends instead is chosen in a moment.
            nextChoice = now + .milliseconds(500)
            choosesAgain = true
            // Pictures go on without the sound.
            if !isPictures, pictureFeed != nil {
                changeSound(to: nil, of: queue, for: recorder, at: now)
                continue
            }
            removeTaps(recorder.relay)
            break
        }
        // A reference left here would keep a batch from being used again.
        entries.removeAll(keepingCapacity: true)
        swap(&entries, &self.entries)
        let (drops, lost, refused) = (queue.drops.packets, reader?.lostPictures ?? 0, assembler.refused.count)
        recorder.update {
            $0.counters.droppedPackets = drops
            $0.counters.lostPictures = lost
            $0.counters.refusedSamples = refused
        }
    }

    private mutating func readPictures(_ event: TapQueue.Event, at now: Instant, for recorder: CameraRecorder) {
        switch event {
        case .begins, .ended: break
        case .gap:
            assembler.recordMissing(.overload, inPictures: true)
            meter.interrupt()
        case .restarted:
            meter.interrupt()
            reader?.restart()
            assembler.recordRestart(ofPictures: true)
        case .batch(let tapped):
            var read: [PictureFeed.Output] = []
            reader?.read(tapped) { read.append($0) }
            for output in read {
                switch output {
                case .picture(let picture):
                    measure(picture, for: recorder)
                    assembler.append(picture, at: now)
                case .loss:
                    meter.interrupt()
                    assembler.recordMissing(.loss, inPictures: true)
                    assembler.needsKeyFrame = true
                }
            }
        }
    }

    private mutating func measure(_ picture: RecordedPicture, for recorder: CameraRecorder) {
        guard picture.isKeyFrame, let feed = pictureFeed,
            meter.record(picture.timestamp, clockRate: feed.track.description.codec.clockRate)
        else { return }
        recorder.report(.keyFrameInterval(feed.track.description.stream, meter.interval))
    }

    private mutating func readSound(_ event: TapQueue.Event, at now: Instant, for recorder: CameraRecorder) {
        switch event {
        case .begins, .ended: break
        case .gap: assembler.recordMissing(.overload, inPictures: false)
        case .restarted:
            // A decoder that cannot be made again leaves the sound out.
            do throws(CodecError) { try sound?.restart() } catch { sound = nil }
            assembler.recordRestart(ofPictures: false)
        case .batch(let whole):
            var pieces: [RecordedSound] = []
            guard let feed = soundFeed else { return }
            let clockRate = feed.track.description.codec.clockRate
            let admitted: TappedBatch? =
                if let gate = recorder.gate { gate.admitted(whole, clockRate: clockRate) } else { whole }
            guard let tapped = admitted else { return }
            do throws(CodecError) { try sound?.read(tapped) { pieces.append($0) } } catch { sound = nil }
            for piece in pieces { assembler.append(piece, at: now) }
        }
    }
}

extension CameraRecorder.Configuration {
    fileprivate var holdOwner: CameraHold.Owner { purpose == .recording ? .recording : .liveView }
    fileprivate var ownerName: String {
        purpose == .recording ? "recorder of connection \(connection)" : "live stream"
    }
}

extension StationTrack {
    /// Whether packets of `other` continue those of this track.
    fileprivate func isSame(as other: StationTrack) -> Bool {
        id == other.id && description.codec.isNamed(other.description.codec.name)
            && description.codec.clockRate == other.description.codec.clockRate
            && description.codec.channels == other.description.codec.channels
            && description.codec.formatParameters["config"] == other.description.codec.formatParameters["config"]
    }
}
