import Cameras
import DatagramPort
import Dispatch
import MediaRelay
import RTP
import SDP
import Transport

/// One camera and its tracks in the relay: it takes in what the source brings, makes of it what viewers need besides,
/// has the camera pulled while somebody wants it, and knows how the camera is doing.
public final class CameraStation: CameraSink {
    /// What the config says of a camera.
    public struct Configuration: Sendable {
        /// When the camera is pulled.
        public var pull = PullMode.always
        /// How long a camera that is pulled on demand goes on after the last lease has ended.
        public var idleTime = Duration.seconds(10)
        /// How long a press of the button pulls such a camera though nobody watches yet.
        public var attentionTime = Duration.seconds(30)
        /// Whether VP8 is made of video that a viewer cannot play.
        public var transcodesVideo = TranscodingMode.automatic
        /// What limits transcoding, for all cameras together; nil for no limit.
        public var transcodingBudget: TranscodingBudget?
        /// How long a viewer waits for the second of a camera's streams, when that takes longer to connect than the first.
        public var otherStreamTimeout = Duration.seconds(2)
        /// The clock by which leases end.
        public var now: @Sendable () -> Instant = { MonotonicClock.now }

        /// The defaults.
        public init() {}
    }

    /// How the camera is doing.
    public struct Snapshot: Sendable, Equatable {
        /// Where the source stands.
        public var state: SourceState
        /// What it sends; empty before it has told.
        public var tracks: [TrackDescription]
        /// In words, what the state does not say: that the camera is pulled on demand, or what is wrong with its sound.
        public var reason: String? = nil
        /// Who wants the camera pulled, in words.
        public var pulledFor: [String] = []
    }

    struct State {
        var snapshot = Snapshot(state: .idle, tracks: [])
        var layout = TrackLayout.empty
        /// Where the batches of each of the source's tracks go, by its position.
        var inlets: [TrackInlet] = []
        var inletsByTrack: [TrackID: TrackInlet] = [:]
        var derived: [TrackID: DerivedTrack] = [:]
        /// Those that sessions use though the camera does not send their source any more: it may come back.
        var suspended: [TrackID: DerivedTrack] = [:]
        var observers: [(id: Int, handler: @Sendable (CameraEvent) -> Void)] = []
        var nextObserver = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
        var schedule: PullSchedule
        var isPulled = false
        /// The deadline of the schedule for which a timer runs.
        var armedDeadline: Instant?
        var snapshots: SnapshotMaker?
        /// Whether the source has connected again since it told its tracks.
        var hasReconnected = false

        /// Keeps what is made no more for the sessions that use it.
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
    let configuration: Configuration
    let relay: MediaRelay
    let state: Locked<State>
    /// The source is started and stopped here, one after the other: stopping waits for the source's thread.
    let pulling: DispatchQueue

    /// Binds `source` to `relay`. Call ``start()`` to let it flow.
    public init(
        id: String, source: any CameraSource, relay: MediaRelay, configuration: Configuration = Configuration()
    ) {
        self.id = id
        self.source = source
        self.relay = relay
        self.configuration = configuration
        state = Locked(
            State(schedule: PullSchedule(mode: configuration.pull, idleTime: configuration.idleTime)))
        pulling = DispatchQueue(label: "camera \(id)")
    }

    /// When the camera is pulled.
    public var pull: PullMode { configuration.pull }

    /// How the camera is doing now.
    public var snapshot: Snapshot {
        let (snapshot, failures) = state.withLock { state in
            var snapshot = state.snapshot
            snapshot.pulledFor = state.schedule.leases.sorted { $0.key < $1.key }.map(\.value)
            return (snapshot, state.derived.values.compactMap { $0.status.failure } + state.layout.notes)
        }
        var result = snapshot
        if configuration.pull == .onDemand, result.state == .idle {
            result.reason = "on demand: it is pulled while somebody wants it"
        } else if result.state == .flowing, !failures.isEmpty {
            result.reason = failures.sorted().joined(separator: "; ")
        }
        return result
    }

    /// The tracks that viewers can be given.
    public var tracks: [StationTrack] { state.withLock { $0.layout.tracks } }

    /// The camera's own tracks by their names in the relay, for consumers that tap them.
    public var sourceTracks: [StationTrack] { tracks.filter { $0.derivedFrom == nil } }

    /// Calls `handler` at each event from now on, on the source's thread: it must not wait.
    /// - Returns: what ``stopObserving(_:)`` takes.
    @discardableResult
    public func observe(_ handler: @escaping @Sendable (CameraEvent) -> Void) -> Int {
        state.withLock { state in
            state.nextObserver += 1
            state.observers.append((state.nextObserver, handler))
            return state.nextObserver
        }
    }

    /// Calls a handler no more, but for an event that is just being told.
    public func stopObserving(_ observer: Int) {
        // The handler, and what it holds, is let go of outside of the lock.
        _ = state.withLock { state in
            state.observers.firstIndex { $0.id == observer }.map { state.observers.remove(at: $0) }
        }
    }

    public func receive(_ batch: PacketBatch, track: Int) {
        let inlet = state.withLock { $0.inlets.indices.contains(track) ? $0.inlets[track] : nil }
        inlet?.deliver(batch)
    }

    public func handle(_ event: CameraEvent) {
        switch event {
        case .state(let new):
            state.withLock { state in
                // A source that is stopped because nobody wants it has not failed.
                let isResting = new == .stopped && configuration.pull == .onDemand && !state.isPulled
                state.snapshot.state = isResting ? .idle : new
                switch new {
                case .playing, .flowing: break
                default: state.hasReconnected = true
                }
            }
        case .tracks(let tracks):
            setTracks(tracks)
        case .senderReport(let track, let ntp, let timestamp):
            let id = state.withLock { state in
                state.layout.tracks.indices.contains(track) ? state.layout.tracks[track].id : nil
            }
            if let id { relay.noteSenderReport(id, ntp: ntp, rtpTimestamp: timestamp) }
        case .buttonPressed:
            noteAttention()
        case .detection:
            break
        }
        let observers = state.withLock { $0.observers }
        for observer in observers { observer.handler(event) }
    }
}
