import MediaRelay
import SDP
import Stations
import Transport

/// The live streams of all cameras as fragmented MP4, for players that do not speak WebRTC.
public final class LiveStreams: Sendable {
    private struct Key: Hashable {
        var station: ObjectIdentifier
        var stream: CameraStream
        var hasSound: Bool
    }

    private struct State {
        /// The cameras that can be watched.
        var stations: [String: CameraStation] = [:]
        var streams: [Key: LiveStream] = [:]
    }

    private let state = Locked(State())
    private let relay: MediaRelay
    private let threads: RecordingThreads

    /// - Parameter relay: where the cameras' tracks are.
    public init(relay: MediaRelay) {
        self.relay = relay
        // A viewer waits for each chunk, so a thread hardly waits for more of them.
        threads = RecordingThreads(count: 1, gathering: .milliseconds(5))
    }

    /// How many streams there are now.
    var count: Int { state.withLock { $0.streams.count } }

    /// Begins to watch a camera. What is returned has ended if the station is not there any more.
    /// - Parameters:
    ///   - stream: which of the camera's streams, where it has two.
    ///   - hasSound: whether sound is wanted.
    ///   - owner: who watches, for the log.
    /// - Throws: `refused` while the camera is off or private.
    public func watch(
        _ station: CameraStation, stream: CameraStream = .main, hasSound: Bool = true, owner: String
    ) throws(StationError) -> LiveSubscription {
        let key = Key(station: ObjectIdentifier(station), stream: stream, hasSound: hasSound)
        let leaving = Locked<(@Sendable () -> Void)?>(nil)
        let subscription = LiveSubscription { leaving.withLock { $0.take() }?() }
        let permit = try station.permit(for: .liveView, owner: owner) { [weak subscription, id = station.id] in
            await subscription?.revoke($0, camera: id)
        }
        subscription.keep(permit)
        while true {
            guard let live = self.stream(of: key, station) else {
                subscription.end()
                return subscription
            }
            // It may have ended since: its last viewer has gone.
            guard let number = live.add(subscription) else { continue }
            leaving.withLock { $0 = { live.remove(number) } }
            // The right to watch may have been revoked since.
            if subscription.hasEnded { leaving.withLock { $0.take() }?() }
            return subscription
        }
    }

    /// The stream; nil if the station is not there any more.
    private func stream(of key: Key, _ station: CameraStation) -> LiveStream? {
        state.withLock { state in
            guard state.stations[station.id] === station else { return nil }
            if let known = state.streams[key] { return known }
            let made = LiveStream(
                station, relay: relay, stream: key.stream, hasSound: key.hasSound, threads: threads,
                whenEmpty: { [weak self] in self?.state.withLock { _ = $0.streams.removeValue(forKey: key) } })
            state.streams[key] = made
            return made
        }
    }
}

extension LiveStreams: StationUser {
    /// A camera can be watched. Viewers of another station with its identifier end.
    public func add(_ station: CameraStation) async {
        let old = state.withLock { $0.stations.updateValue(station, forKey: station.id) }
        if old !== station { end(old) }
    }

    /// A camera goes away. Its viewers end: nothing would ever come again.
    public func remove(_ deviceID: String, because end: StationEnd) async {
        let gone = state.withLock { $0.stations.removeValue(forKey: deviceID) }
        self.end(gone)
    }

    private func end(_ station: CameraStation?) {
        guard let station else { return }
        let key = ObjectIdentifier(station)
        let ending = state.withLock { $0.streams.filter { $0.key.station == key }.values }
        for live in ending { live.end() }
    }
}
