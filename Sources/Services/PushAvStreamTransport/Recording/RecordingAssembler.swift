import FragmentedMP4
import RTP
import Transport

/// Makes a recording from the pictures and the sound of one camera: sessions of CMAF segments and chunks. It has no
/// thread, no clock and no file.
///
/// It brings the samples of both tracks into one order (`merge`), and gives each the time that it was captured, so that
/// both tracks stay in step. A session begins with a key frame and with the sound of that moment. It is cut at key
/// frames.
///
/// While ``isWanted``, what comes is recorded. Otherwise it is dropped.
struct RecordingAssembler: Sendable {
    /// What is recorded, and how.
    struct Configuration: Sendable {
        /// The device's minted id, and the connection that it is recorded for.
        var device = ""
        var connection: UInt16 = 1
        /// The names of its tracks.
        var pictureName = "video"
        var soundName = "audio"
        /// How tracks are cut.
        var parameters = CMAFParameters()
        /// Whether somebody watches now: the tracks get different identifiers, so that their chunks make one file, and
        /// carry no events.
        var isLive = false
        /// A session that is longer is cut at the next key frame.
        var longestSession = Duration.seconds(3600)
        /// A session ends when nothing has come for this long.
        var longestAbsence = Duration.seconds(60)
        /// A sample waits this long for the other track's; twice as long at the start of a session.
        var patience = Duration.seconds(1)
        /// A track from which nothing has come for this long is not waited for.
        var silence = Duration.seconds(3)
        /// A hole of this length or more in a session is reported.
        var shortestGap = Duration.milliseconds(500)
        /// The most bytes that may wait for the other track.
        var mostWaitingBytes = 32 << 20
        /// A session is cut when the wall clock has been set by this much or more.
        var wallClockStep = Duration.seconds(5)

        init() {}
    }

    /// Names the next session of the camera; see ``CameraRecorder/Naming``.
    typealias Naming = CameraRecorder.Naming

    /// One of the two tracks before the merge.
    struct Track: Sendable {
        var codecName: String
        var timeline: RecordingTimeline
        var queue = TimedSampleQueue()
        /// What the newest samples are; nil before that is known.
        var description: MP4Track?
        /// When something came last, and when something was first expected.
        var lastQueued: Instant?
        var since: Instant
        /// Why samples before the next one are missing.
        var missing: RecordingGap.Reason?
        /// Whether none of its key frames has been passed on to a session.
        var isNew = true
        /// The steps between the newest decode times, the last one first. One hole among pictures leaves one long step.
        var steps: (last: Int64, before: Int64) = (0, 0)
        var newest: Int64?

        /// How far apart pictures come, as far as the newest show it: a camera may send one every few seconds.
        var usualStep: Int64 { min(steps.last, steps.before) }

        var clockRate: Int { Int(timeline.clockRate) }
    }

    let configuration: Configuration
    let naming: Naming
    var pictures: Track?
    var sound: Track?
    var reordering: PictureReordering<TimedSample>
    var placement: SoundPlacement
    /// H.264 and H.265: the parameter sets of the session description, for cameras that send them nowhere else.
    var outOfBandParameters: [UInt8] = []
    /// What has been produced and not been taken yet.
    var outputs: [(session: RecordingSession.ID, output: RecordingOutput)] = []
    /// Why something is recorded; nil when nothing is to be recorded.
    var wanted: Wanted?
    var session: Session?
    /// What comes is dropped for now, because it could not be kept.
    var isSuspended = false
    /// What to add to the monotonic clock to get nanoseconds since 1970.
    var wallClockOffset: Int64
    var now: Instant
    /// A key frame would help: nothing can begin, or nothing can be cut, without one.
    var needsKeyFrame = false
    /// Samples that could not be written, and the last reason.
    private(set) var refused: (count: UInt64, reason: String) = (0, "")

    /// What is to be recorded.
    struct Wanted: Sendable {
        /// What caused it. Each of its sessions states it.
        var trigger: RecordingSession.Trigger
        var triggeredAt: Instant
        /// Nothing that was captured before belongs to it.
        var notBefore = Instant.zero
        /// The number of its first session; nil for the next one.
        var number: UInt64?
        /// The newest events of the triggers that came while no session was open. The next session states them, and only
        /// that one: a continuous recording goes on for months.
        var waitingEvents: [String] = []

        /// The camera may be away for long.
        static let mostWaitingEvents = 100

        mutating func keep(_ events: [String]) {
            waitingEvents += events
            waitingEvents.removeFirst(max(waitingEvents.count - Self.mostWaitingEvents, 0))
        }
    }

    /// - Parameter wallClockOffset: what to add to the monotonic clock to get nanoseconds since 1970.
    init(_ configuration: Configuration, wallClockOffset: Int64, at now: Instant, naming: @escaping Naming) {
        self.configuration = configuration
        self.naming = naming
        self.wallClockOffset = wallClockOffset
        self.now = now
        reordering = PictureReordering(mayReorder: false, clockRate: 90_000)
        placement = SoundPlacement(clockRate: 48_000)
    }

    /// Whether what comes is recorded.
    var isWanted: Bool { wanted != nil }

    /// Takes what has been produced.
    mutating func takeOutputs() -> [(session: RecordingSession.ID, output: RecordingOutput)] {
        defer { outputs.removeAll() }
        return outputs
    }

    mutating func produce(_ output: RecordingOutput, of id: RecordingSession.ID) {
        outputs.append((id, output))
    }

    mutating func recordRefusal(_ reason: String) {
        refused = (refused.count + 1, reason)
    }

    // MARK: What is recorded

    /// Pictures in this codec come from now on, beginning with a key frame; nil for a camera without. They may be older
    /// than what came before. A session begins with the first key frame of pictures that are other ones, or that were
    /// written already.
    mutating func setPictures(codecName: String?, clockRate: Int = 90_000, outOfBandParameters: [UInt8] = []) {
        flushReordering()
        drain(force: true)
        self.outOfBandParameters = outOfBandParameters
        guard let codecName else { return pictures = nil }
        // Their times have nothing to do with those of what came before.
        var track = Track(
            codecName: codecName.lowercased(),
            timeline: RecordingTimeline(clockRate: clockRate, correctsInSteps: true), since: now)
        reordering = PictureReordering(
            mayReorder: ["h264", "h265"].contains(codecName.lowercased()), clockRate: clockRate)
        track.missing = pictures?.missing
        if let known = pictures, known.codecName == track.codecName, known.clockRate == clockRate {
            // A camera may send its parameter sets once.
            track.description = known.description
            if let depth = known.description?.reorderedPictures { reordering.recordDepth(depth) }
        }
        pictures = track
    }

    /// Sound with this clock comes from now on; nil for a camera without. What came before is recorded, and its segment is
    /// complete.
    mutating func setSound(clockRate: Int?) {
        if sound != nil {
            drain(force: true)
            finishSound()
        }
        guard let clockRate else { return sound = nil }
        sound = Track(
            codecName: "", timeline: RecordingTimeline(clockRate: clockRate, correctsInSteps: false), since: now)
        placement = SoundPlacement(clockRate: clockRate)
    }

    /// What comes from now on is recorded.
    /// - Parameters:
    ///   - instant: when the trigger came.
    ///   - notBefore: nothing that was captured before this belongs to it.
    ///   - number: the number of the first session; nil for the next one.
    mutating func start(
        _ trigger: RecordingSession.Trigger, triggeredAt instant: Instant, notBefore: Instant = .zero,
        number: UInt64? = nil, at now: Instant
    ) {
        self.now = max(self.now, now)
        guard wanted == nil else { return extend(trigger, at: instant) }
        wanted = Wanted(trigger: trigger, triggeredAt: instant, notBefore: notBefore, number: number)
        pictures?.since = now
        sound?.since = now
        needsKeyFrame = pictures != nil
    }

    /// Another trigger belongs to what is being recorded: to the session that is open, or to the next one.
    mutating func extend(_ trigger: RecordingSession.Trigger, at instant: Instant) {
        guard wanted != nil else { return }
        guard let id = session?.id else {
            wanted?.keep(trigger.events)
            return
        }
        session?.record(trigger, at: instant)
        produce(.trigger(trigger), of: id)
    }

    /// Nothing more is recorded. What was captured before `instant` and has come is.
    mutating func stop(_ reason: RecordingEnd.Reason, at instant: Instant) {
        now = max(now, instant)
        flushReordering()
        drain(force: true, until: instant)
        close(reason)
        wanted = nil
        needsKeyFrame = false
    }

    /// What was produced could not be kept: the session has ended.
    mutating func abandon(_ reason: RecordingEnd.Reason) {
        outputs.removeAll()
        guard let session else { return }
        produce(.ended(RecordingEnd(at: session.wallTimeOfEnd, reason: reason)), of: session.id)
        self.session = nil
    }

    // MARK: What comes

    /// A picture has come.
    mutating func append(_ picture: RecordedPicture, at now: Instant) {
        self.now = max(self.now, now)
        guard var track = pictures else { return }
        let wasMissing = track.missing
        let ticks = track.timeline.ticks(
            of: picture.timestamp, capture: picture.capture, arrival: picture.arrival)
        track.lastQueued = self.now
        if picture.isKeyFrame {
            if let description = describe(picture.data, as: track) { track.description = description }
            if isWanted { needsKeyFrame = false }
        }
        guard let description = track.description else {
            pictures = track
            return recordRefusal("no key frame has described the pictures yet")
        }
        track.missing = nil
        pictures = track
        let sample = MP4Sample(
            picture: picture.data, isKeyFrame: picture.isKeyFrame, track: description, decodeTime: 0,
            keepsParameterSets: false)
        // A picture of nothing but parameter sets shows nothing.
        guard !sample.data.isEmpty else { return }
        let timed = TimedSample(
            data: sample.data, decodeTime: 0, isKeyFrame: picture.isKeyFrame, description: description,
            missing: wasMissing, queued: self.now)
        var ordered: [PictureReordering<TimedSample>.Ordered] = []
        reordering.append(timed, shownAt: ticks) { ordered.append($0) }
        for picture in ordered { pictures?.take(picture) }
        drain()
    }

    /// Sound has come.
    mutating func append(_ piece: RecordedSound, at now: Instant) {
        self.now = max(self.now, now)
        // Taken out, so that its queue is not copied.
        guard piece.duration > 0, !piece.data.isEmpty, var track = sound.take() else { return }
        let ticks = track.timeline.ticks(of: piece.timestamp, capture: piece.capture, arrival: piece.arrival)
        track.lastQueued = self.now
        track.description = piece.description
        if case .place(let time) = placement.place(at: ticks, duration: piece.duration) {
            track.queue.append(
                TimedSample(
                    data: piece.data, decodeTime: time, isKeyFrame: true, duration: piece.duration,
                    description: piece.description, missing: track.missing, queued: self.now))
            track.missing = nil
        }
        sound = track
        drain()
    }

    /// The camera has started again: what follows has other timestamps.
    mutating func recordRestart(ofPictures isPictures: Bool) {
        if isPictures { flushReordering() }
        update(isPictures) { track in
            track.timeline.restart()
            track.missing = .cameraAway
        }
    }

    /// Something is missing before what comes next.
    mutating func recordMissing(_ reason: RecordingGap.Reason, inPictures isPictures: Bool) {
        if isPictures { flushReordering() }
        update(isPictures) { track in track.missing = track.missing ?? reason }
    }

    private mutating func update(_ isPictures: Bool, _ change: (inout Track) -> Void) {
        if isPictures {
            guard var track = pictures else { return }
            change(&track)
            pictures = track
        } else {
            guard var track = sound else { return }
            change(&track)
            sound = track
        }
    }

    mutating func flushReordering() {
        var ordered: [PictureReordering<TimedSample>.Ordered] = []
        reordering.flush { ordered.append($0) }
        for picture in ordered { pictures?.take(picture) }
    }

    /// What a key frame says of the pictures; nil if it says nothing.
    private mutating func describe(_ keyFrame: [UInt8], as track: Track) -> MP4Track? {
        func read(_ bytes: [UInt8]) -> MP4Track? {
            bytes.withUnsafeBytes {
                try? MP4Track(videoCodec: track.codecName, clockRate: track.clockRate, keyFrame: $0)
            }
        }
        let description = read(keyFrame) ?? (outOfBandParameters.isEmpty ? nil : read(outOfBandParameters + keyFrame))
        guard let description, description.isWritable else { return nil }
        if description != track.description, let depth = description.reorderedPictures { reordering.recordDepth(depth) }
        return description
    }
}

extension RecordingAssembler.Track {
    fileprivate mutating func take(_ ordered: PictureReordering<TimedSample>.Ordered) {
        var sample = ordered.picture
        sample.decodeTime = ordered.decodeTime
        if let newest { steps = (max(sample.decodeTime - newest, 0), steps.last) }
        newest = sample.decodeTime
        sample.compositionOffset = ordered.compositionOffset
        queue.append(sample)
    }
}
