import Cameras
import DatagramPort
import Dispatch
import Intake
import MediaRelay
import SDP
import Transport

/// One camera and its tracks in the relay. It receives what the source brings, makes the other tracks that viewers
/// need, pulls the camera while somebody needs it, and knows the camera's state.
public final class CameraStation: CameraSink {
    /// What the config says about a camera.
    public struct Configuration: Sendable {
        /// When the camera is pulled.
        public var pull = PullMode.always
        /// How long a camera that is pulled on demand continues after the last hold has ended.
        public var idleTime = Duration.seconds(10)
        /// How long a press of the button pulls such a camera even if nobody watches yet.
        public var attentionTime = Duration.seconds(30)
        /// Whether video that a viewer cannot play is transcoded to VP8.
        public var transcodesVideo = TranscodingMode.automatic
        /// The limit of transcoding, for all cameras together; nil for no limit.
        public var transcodingBudget: TranscodingBudget?
        /// How long a viewer waits for the second of a camera's streams if it takes longer to connect than the first.
        public var otherStreamTimeout = Duration.seconds(2)
        /// Whether the source continues while the camera is off or private, so that it is there at once afterwards. What it
        /// sends meanwhile goes nowhere.
        public var pullsWhileOff = false
        /// How old the last good picture may be that is returned while the camera's video is damaged.
        public var longestPictureAge = Duration.seconds(30)
        /// The clock of the holds.
        public var now: @Sendable () -> Instant = { MonotonicClock.now }

        /// The defaults.
        public init() {}
    }

    /// The state of the camera.
    public struct Snapshot: Sendable, Equatable {
        /// The state of the source.
        public var state: SourceState
        /// What it sends; empty before it has announced it.
        public var tracks: [TrackDescription]
        /// What the state does not say; nil where it says everything.
        public var reason: Reason? = nil
        /// The holders of the camera, in the order in which they came.
        public var heldFor: [CameraHold.Owner] = []
    }

    struct State {
        var snapshot = Snapshot(state: .idle, tracks: [])
        var layout = TrackLayout.empty
        var inletsByTrack: [TrackID: TrackInlet] = [:]
        var derived: [TrackID: DerivedTrack] = [:]
        /// Tracks in use whose source the camera no longer sends: it may return.
        var suspended: [TrackID: DerivedTrack] = [:]
        var observers: [(id: Int, handler: @Sendable (CameraEvent) -> Void)] = []
        var nextObserver = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
        var schedule: PullSchedule
        var isPulled = false
        /// Whether nothing is allowed that needs what the camera sends.
        var isClosed = false
        /// Whether no sound of the camera may leave.
        var isMuted = false
        /// Whether its sound may be recorded.
        var recordsSound = true
        /// The deadline of the schedule that a timer runs for.
        var armedDeadline: Instant?
        var snapshots: SnapshotMaker?
        /// Whether the source has connected again since it announced its tracks.
        var hasReconnected = false

        /// Whether what comes of a track may enter.
        func takes(_ track: StationTrack) -> Bool { !isClosed && !(isMuted && track.description.kind == .audio) }

        /// Keeps derived tracks that are no longer made, for the sessions that use them.
        mutating func suspend(allBut kept: [TrackID: DerivedTrack]) {
            for (id, track) in derived where kept[id] !== track {
                track.suspend()
                suspended[id] = track
            }
            suspended = suspended.filter { kept[$0.key] !== $0.value && $0.value.status.users > 0 }
        }
    }

    /// The device's identifier in the config.
    public let id: String
    /// Where the media comes from.
    public let source: any CameraSource
    /// What the config says about the camera.
    public let configuration: Configuration
    /// Which outputs of the camera are allowed, and their permits.
    public let outputs: OutputPermits
    let relay: MediaRelay
    let state: Locked<State>
    /// Starts and stops of the source run here, one after the other, because stopping waits for the source's thread.
    let pulling: DispatchQueue

    /// Binds `source` to `relay`. Call ``start()`` to let it flow.
    /// - Parameter outputs: the device's permits; nil for new ones that allow everything.
    public init(
        id: String, source: any CameraSource, relay: MediaRelay, configuration: Configuration = Configuration(),
        outputs: OutputPermits? = nil
    ) {
        self.id = id
        self.outputs = outputs ?? OutputPermits(camera: id)
        self.source = source
        self.relay = relay
        self.configuration = configuration
        state = Locked(
            State(schedule: PullSchedule(mode: configuration.pull, idleTime: configuration.idleTime)))
        pulling = DispatchQueue(label: "camera \(id)")
        self.outputs.attach(self)
    }

    /// When the camera is pulled.
    public var pull: PullMode { configuration.pull }

    /// The state of the camera now.
    public var snapshot: Snapshot {
        let now = configuration.now()
        let (snapshot, faults, isClosed) = state.withLock { state in
            var snapshot = state.snapshot
            snapshot.heldFor = state.schedule.owners(at: now)
            let failures = state.derived.values.compactMap(\.status.failure)
            return (snapshot, failures.map(TrackFault.failed) + state.layout.faults, state.isClosed)
        }
        var result = snapshot
        if isClosed, let refusal = outputs.refusal(of: .liveView) {
            result.reason = .refused(refusal)
        } else if configuration.pull == .onDemand, result.state == .idle {
            result.reason = .onDemand
        } else if result.state == .flowing, !faults.isEmpty {
            result.reason = .faults(faults.sorted { $0.words < $1.words })
        }
        return result
    }

    /// The tracks that viewers can be given.
    public var tracks: [StationTrack] { state.withLock { $0.layout.tracks } }

    /// The camera's own tracks by their names in the relay, for consumers that tap them.
    public var sourceTracks: [StationTrack] { tracks.filter { $0.derivedFrom == nil } }

    /// Calls `handler` for each event from now on, on the source's thread. It must not wait.
    /// - Returns: the argument for ``stopObserving(_:)``.
    @discardableResult
    public func observe(_ handler: @escaping @Sendable (CameraEvent) -> Void) -> Int {
        state.withLock { state in
            state.nextObserver += 1
            state.observers.append((state.nextObserver, handler))
            return state.nextObserver
        }
    }

    /// Removes a handler. An event that is being delivered may still reach it.
    public func stopObserving(_ observer: Int) {
        // The handler, and what it holds, is released outside of the lock.
        _ = state.withLock { state in
            state.observers.firstIndex { $0.id == observer }.map { state.observers.remove(at: $0) }
        }
    }

    public func open(_ tracks: [TrackDescription]) -> [any PacketInlet] {
        let inlets = setTracks(tracks)
        report(.tracks(tracks))
        return inlets
    }

    public func handle(_ event: CameraEvent) {
        switch event {
        case .state(let new):
            state.withLock { state in
                // A source that was stopped because nobody needs it, or because nothing may leave, has not failed.
                let mayRest = configuration.pull == .onDemand || state.isClosed
                let isResting = new == .stopped && mayRest && !state.isPulled
                state.snapshot.state = isResting ? .idle : new
                switch new {
                case .playing, .flowing: break
                default: state.hasReconnected = true
                }
            }
        case .tracks:
            // Sources open their tracks.
            break
        case .senderReport(let track, let ntp, let timestamp):
            let id = state.withLock { state in
                state.layout.tracks.indices.contains(track) ? state.layout.tracks[track].id : nil
            }
            if let id { relay.recordSenderReport(id, ntp: ntp, rtpTimestamp: timestamp) }
        case .buttonPressed:
            recordAttention()
        case .detection:
            break
        }
        report(event)
    }

    /// Notifies those who observe the camera.
    func report(_ event: CameraEvent) {
        let observers = state.withLock { $0.observers }
        for observer in observers { observer.handler(event) }
    }
}
