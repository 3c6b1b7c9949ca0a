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

    private let streams = Locked<[Key: LiveStream]>([:])
    private let relay: MediaRelay
    private let threads: RecordingThreads

    /// - Parameter relay: where the cameras' tracks are.
    public init(relay: MediaRelay) {
        self.relay = relay
        // A viewer waits for each chunk, so a thread hardly waits for more of them.
        threads = RecordingThreads(count: 1, gathering: .milliseconds(5))
    }

    /// How many streams there are now, for the metrics.
    public var count: Int { streams.withLock { $0.count } }

    /// Begins to watch a camera.
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
            let live = self.stream(of: key, station)
            // It may have ended since: its last viewer has gone.
            guard let number = live.add(subscription) else { continue }
            leaving.withLock { $0 = { live.remove(number) } }
            // The right to watch may have been revoked since.
            if subscription.hasEnded { leaving.withLock { $0.take() }?() }
            return subscription
        }
    }

    private func stream(of key: Key, _ station: CameraStation) -> LiveStream {
        streams.withLock { streams in
            if let known = streams[key] { return known }
            let made = LiveStream(
                station, relay: relay, stream: key.stream, hasSound: key.hasSound, threads: threads,
                whenEmpty: { [weak self] in self?.streams.withLock { _ = $0.removeValue(forKey: key) } })
            streams[key] = made
            return made
        }
    }
}
