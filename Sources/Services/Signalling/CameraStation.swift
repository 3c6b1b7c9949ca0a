import Cameras
import MediaRelay
import RTP
import SDP
import Transport

/// One camera and its tracks in the relay: it takes in what the source brings, and knows how the camera is doing.
public final class CameraStation: CameraSink {
    /// How the camera is doing.
    public struct Snapshot: Sendable, Equatable {
        /// Where the source stands.
        public var state: SourceState
        /// What it sends; empty before it has told.
        public var tracks: [TrackDescription]
    }

    private struct State {
        var snapshot = Snapshot(state: .idle, tracks: [])
        var inlets: [TrackInlet] = []
        var observers: [@Sendable (CameraEvent) -> Void] = []
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiter = 0
    }

    /// The device's identifier in the config.
    public let id: String
    /// Where the media comes from.
    public let source: any CameraSource
    private let relay: MediaRelay
    private let state = Locked(State())

    /// Binds `source` to `relay`. Call ``start()`` to let it flow.
    public init(id: String, source: any CameraSource, relay: MediaRelay) {
        self.id = id
        self.source = source
        self.relay = relay
    }

    /// Starts the source.
    public func start() {
        source.start(sink: self)
    }

    /// Stops the source and takes its tracks out of the relay.
    public func stop() {
        source.stop()
        relay.removeCamera(id)
    }

    /// How the camera is doing now.
    public var snapshot: Snapshot { state.withLock { $0.snapshot } }

    /// Calls `handler` at each event from now on, on the source's thread: it must not wait.
    public func observe(_ handler: @escaping @Sendable (CameraEvent) -> Void) {
        state.withLock { $0.observers.append(handler) }
    }

    public func receive(_ batch: PacketBatch, track: Int) {
        let inlet = state.withLock { $0.inlets.indices.contains(track) ? $0.inlets[track] : nil }
        inlet?.deliver(batch)
    }

    public func handle(_ event: CameraEvent) {
        switch event {
        case .state(let new):
            state.withLock { $0.snapshot.state = new }
        case .tracks(let tracks):
            setTracks(tracks)
        case .senderReport(let track, let ntp, let timestamp):
            relay.noteSenderReport(TrackID(camera: id, index: track), ntp: ntp, rtpTimestamp: timestamp)
        case .buttonPressed:
            break
        }
        let observers = state.withLock { $0.observers }
        for observer in observers { observer(event) }
    }

    private func setTracks(_ tracks: [TrackDescription]) {
        let source = source
        let inlets = relay.setTracks(
            camera: id,
            tracks.enumerated().map { index, track in
                RelayTrackDescription(
                    isVideo: track.kind == .video, codec: track.codec,
                    requestKeyFrame: { source.requestKeyFrame(track: index) })
            })
        let waiters = state.withLock { state in
            state.snapshot.tracks = tracks
            state.inlets = inlets
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Whether somebody waits for the tracks.
    var hasWaiters: Bool { state.withLock { !$0.waiters.isEmpty } }

    /// The camera's tracks, as soon as it has told them; empty when that takes longer than `timeout`.
    func tracks(within timeout: Duration) async -> [TrackDescription] {
        let known = snapshot.tracks
        if !known.isEmpty { return known }
        let ticket = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        var timer: Task<Void, Never>?
        await withCheckedContinuation { continuation in
            let isKnown = state.withLock { state in
                if !state.snapshot.tracks.isEmpty { return true }
                state.waiters[ticket] = continuation
                return false
            }
            if isKnown { return continuation.resume() }
            // Not before the waiter is there, or a short timeout would find nobody to wake.
            timer = Task {
                // A cancelled sleep means that the tracks have come: then nobody waits under this ticket any more.
                try? await Task.sleep(for: timeout)
                state.withLock { $0.waiters.removeValue(forKey: ticket) }?.resume()
            }
        }
        timer?.cancel()
        return snapshot.tracks
    }
}
