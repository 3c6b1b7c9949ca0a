import Cameras
import DatagramPort
import MediaRelay
import SDP
import Stations
import Transport

/// Records one camera for one connection: it takes what the relay has of the camera's tracks, from the pre-roll on, and
/// hands sessions of CMAF chunks to a ``RecordingSink``.
///
/// It does not decide when: ``start(_:triggeredAt:preRoll:)`` and ``stop(_:at:)`` do. Both return at once. All work is
/// done on a recording thread.
public final class CameraRecorder: RecordingWorker {
    /// What is recorded, and how.
    public struct Configuration: Sendable {
        /// The device's minted id.
        public var device: String
        /// The connection that it is recorded for.
        public var connection: UInt16
        /// What the recordings are for, which decides which privacy switch refuses them.
        public var usage = OutputUsage.recording
        /// Which of the camera's streams, where it has two.
        public var stream = CameraStream.main
        /// The names of the tracks; nil for pictures, or sound, that are not recorded.
        public var pictureName: String? = "video"
        public var soundName: String? = "audio"
        /// The shortest duration of a segment, and the duration of a chunk; zero for one chunk in each segment.
        public var segmentDuration = Duration.seconds(4)
        public var chunkDuration = Duration.seconds(1)
        /// What it is for.
        public var purpose = Purpose.recording
        /// A session that is longer is cut at the next key frame.
        public var longestSession = Duration.seconds(3600)
        /// A session ends when the camera has sent nothing for this long. The next one begins when it sends again.
        public var longestAbsence = Duration.seconds(60)
        /// How much may wait for the disk, in time and in bytes. What comes beyond that is left out, and a gap says so.
        public var longestBacklog = Duration.seconds(15)
        public var largestBacklog = 64 << 20
        /// How long nothing is recorded after the sink has refused something.
        public var pauseAfterFault = Duration.seconds(10)
        /// The clocks.
        public var now: @Sendable () -> Instant = { MonotonicClock.now }
        public var wallClock: @Sendable () -> Int64 = { WallClock.now }

        /// What a recorder is for.
        public enum Purpose: Sendable {
            /// Footage is kept.
            case recording
            /// Somebody watches now. Chunks may be as short as a single picture, and the tracks' chunks make one file.
            case liveView
        }

        /// The defaults.
        public init(device: String, connection: UInt16) {
            self.device = device
            self.connection = connection
        }
    }

    /// What the owner of a recorder learns, on the recording thread. It must not wait.
    public enum Report: Sendable {
        /// A session has begun.
        case began(RecordingSession)
        /// A session has ended. If that was not because of ``CameraRecorder/stop(_:at:)``, another one may follow.
        case ended(RecordingSession.ID, RecordingEnd)
        /// The camera may not be recorded now: it is off, or a privacy switch is set.
        case refused(StationError)
        /// The sink has refused something. Recording continues after a pause.
        case fault(RecordingFault)
        /// The time between the key frames of a stream in milliseconds is another one than was reported before; nil where
        /// it is not steady.
        case keyFrameInterval(CameraStream, UInt16?)
        /// What ``CameraRecorder/stop(_:at:)`` asked for is done: all that was recorded has been handed to the sink.
        case stopped
    }

    /// What has been done.
    public struct Counters: Sendable, Equatable {
        public var sessions: UInt64 = 0
        public var chunks: UInt64 = 0
        /// The bytes of the chunks.
        public var bytes: UInt64 = 0
        public var gaps: UInt64 = 0
        /// What the sink has refused.
        public var faults: UInt64 = 0
        /// Pictures that were lost on the way, samples that could not be written, and packets that were left out
        /// because the disk was too slow.
        public var lostPictures: UInt64 = 0
        public var refusedSamples: UInt64 = 0
        public var droppedPackets: UInt64 = 0
        /// The processor time of the recording thread for this camera, with what the sink takes of it.
        public var processorTime = Duration.zero
    }

    /// Names the next session, which starts at this time in milliseconds since 1970, and numbers it for the paths of
    /// uploads: with `number`, which came with the start of the recording, or with the next one if that is nil. Called on
    /// the recording thread.
    public typealias Naming =
        @Sendable (_ start: Int64, _ number: UInt64?) -> (id: RecordingSession.ID, number: UInt64)

    enum Command: Sendable {
        case start(
            RecordingSession.Trigger, at: Instant, preRoll: Duration, notBefore: Instant, number: UInt64?)
        case extend(RecordingSession.Trigger, at: Instant)
        case stop(RecordingEnd.Reason, at: Instant)
        /// The camera has announced its tracks.
        case chooseTracks
    }

    private struct State: Sendable {
        var commands: [Command] = []
        /// The tasks that wait until recording has stopped.
        var waiters: [CheckedContinuation<Void, Never>] = []
        /// Whether commands that were taken are being carried out.
        var isWorking = false
        var observer: Int?
        var status = Status()

        var isBusy: Bool { status.session != nil || isWorking || !commands.isEmpty }
    }

    struct Status: Sendable {
        var session: RecordingSession.ID?
        var isWanted = false
        /// How often tracks of the camera have been tapped.
        var taps = 0
        var counters = Counters()
    }

    let station: CameraStation
    let relay: MediaRelay
    let configuration: Configuration
    let sink: any RecordingSink
    let report: @Sendable (Report) -> Void
    /// Keeps muted sound out; nil for live views, whose sound the relay does not have while they are muted.
    let gate: SoundGate?
    /// The threads end with the last who uses them.
    private let threads: RecordingThreads
    private let thread: RecordingThread
    private let ticket: Locked<Int>
    private let state = Awaitable(State())
    private let worker: Locked<RecorderWork>

    /// - Parameters:
    ///   - station: the camera.
    ///   - relay: where its tracks are.
    ///   - threads: where the work is done.
    ///   - sink: takes the sessions.
    ///   - naming: names them.
    ///   - report: see ``Report``.
    public convenience init(
        station: CameraStation, relay: MediaRelay, configuration: Configuration, threads: RecordingThreads,
        sink: any RecordingSink, naming: @escaping Naming, report: @escaping @Sendable (Report) -> Void = { _ in }
    ) {
        self.init(
            station: station, relay: relay, configuration: configuration, threads: threads, sink: sink, gate: nil,
            naming: naming, report: report)
    }

    /// - Parameter gate: knows when the camera's microphone was muted for recordings; nil to begin with now.
    init(
        station: CameraStation, relay: MediaRelay, configuration: Configuration, threads: RecordingThreads,
        sink: any RecordingSink, gate: SoundGate?, naming: @escaping Naming,
        report: @escaping @Sendable (Report) -> Void
    ) {
        self.station = station
        self.relay = relay
        self.configuration = configuration
        self.sink = sink
        self.report = report
        // It learns of a change before the recorder does.
        self.gate = configuration.purpose == .recording ? gate ?? SoundGate(station, now: configuration.now) : nil
        self.threads = threads
        thread = threads.assign()
        ticket = Locked(0)
        worker = Locked(RecorderWork(configuration, naming: naming))
        let ticket = thread.add(self)
        self.ticket.withLock { $0 = ticket }
        let observer = station.observe { [weak self] event in
            if case .tracks = event { self?.post(.chooseTracks) }
        }
        state.withLock { $0.observer = observer }
    }

    deinit {
        if let observer = state.withLock({ $0.observer }) { station.stopObserving(observer) }
        thread.remove(ticket.withLock { $0 })
        worker.withLock { $0.release(relay) }
        for waiter in state.withLock({ $0.waiters }) { waiter.resume() }
    }

    /// How often tracks of the camera have been tapped, for tests.
    var taps: Int { state.withLock { $0.status.taps } }
    /// Whether something is to be recorded now.
    public var isRecording: Bool { state.withLock { $0.status.isWanted } }
    /// The session that is being recorded.
    public var session: RecordingSession.ID? { state.withLock { $0.status.session } }
    /// What has been done.
    public var counters: Counters { state.withLock { $0.status.counters } }
    /// Whether a session is open, or a command has not been carried out.
    public var isBusy: Bool { state.withLock { $0.isBusy } }
    /// How many tasks wait until it is not busy, for tests.
    var waitCount: Int { state.waitCount }

    /// Begins to record. If it records already, the trigger is added to the session.
    /// - Parameters:
    ///   - instant: when the trigger came; nil for now.
    ///   - preRoll: how long before that the recording begins. It begins with the last key frame until then, or with
    ///     the oldest one that the relay still has.
    ///   - notBefore: nothing that was captured before this belongs to it. It begins with a key frame after it then.
    ///   - number: the number of its first session; nil for the next one.
    public func start(
        _ trigger: RecordingSession.Trigger, triggeredAt instant: Instant? = nil, preRoll: Duration = .zero,
        notBefore: Instant = .zero, number: UInt64? = nil
    ) {
        post(
            .start(
                trigger, at: instant ?? configuration.now(), preRoll: preRoll, notBefore: notBefore, number: number))
    }

    /// Adds a trigger to the session that is being recorded.
    public func extend(_ trigger: RecordingSession.Trigger, at instant: Instant? = nil) {
        post(.extend(trigger, at: instant ?? configuration.now()))
    }

    /// Ends the recording. Nothing that is captured after `instant` (nil for now) is kept. ``Report/stopped`` follows.
    public func stop(_ reason: RecordingEnd.Reason, at instant: Instant? = nil) {
        post(.stop(reason, at: instant ?? configuration.now()))
    }

    func post(_ command: Command) {
        state.withLock { $0.commands.append(command) }
        // Its owner may forget it now. The thread keeps it until the command has been carried out.
        thread.wake(ticket.withLock { $0 }, keeping: self, isUrgent: true)
    }

    func wake() {
        thread.wake(ticket.withLock { $0 })
    }

    /// The right to record was revoked: returns when nothing more is recorded.
    func end(because revocation: OutputRevocation) async {
        await withCheckedContinuation { continuation in
            state.withLock { $0.waiters.append(continuation) }
            post(.stop(revocation.refusal.isPrivacy ? .privacy : .inactive, at: revocation.moment))
        }
    }

    /// Nothing more is recorded.
    func recordStopped() {
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
        report(.stopped)
    }

    /// Waits until it is not busy, at most `patience`, and no longer than until the task is cancelled.
    /// - Returns: whether it was idle.
    func waitUntilIdle(atMost patience: Duration) async -> Bool {
        await state.wait(atMost: patience) { !$0.isBusy }
    }

    func takeCommands() -> [Command] {
        state.withLock { state in
            defer { state.commands = [] }
            state.isWorking = !state.commands.isEmpty
            return state.commands
        }
    }

    func update(_ change: @Sendable (inout Status) -> Void) {
        state.withLock { change(&$0.status) }
    }

    func work() {
        let start = ProcessorClock.thread
        worker.withLock { $0.work(for: self) }
        let time = Duration.nanoseconds(ProcessorClock.thread - start)
        state.withLock { state in
            state.isWorking = false
            state.status.counters.processorTime += time
        }
    }
}
