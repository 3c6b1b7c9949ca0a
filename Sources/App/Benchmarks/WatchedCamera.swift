import MediaRelay
import RTP
import Transport

/// A camera of a relay benchmark, with the viewers that watch it.
final class WatchedCamera {
    /// The camera's track.
    let track: TrackID
    /// The numbers of the camera's viewers.
    let viewers: Range<Int>
    private let inlet: TrackInlet
    private var pool = PacketBatchPool()
    private var frames = 0

    private init(track: TrackID, viewers: Range<Int>, inlet: TrackInlet) {
        self.track = track
        self.viewers = viewers
        self.inlet = inlet
    }

    /// The cameras of `relay`, over which `viewers` viewers are spread evenly.
    static func all(of relay: SteppedBenchmarkRelay, watchedBy viewers: Int) -> [WatchedCamera] {
        let count = relay.inlets.count
        return relay.inlets.enumerated().map { number, inlet in
            WatchedCamera(
                track: SteppedBenchmarkRelay.track(of: number),
                viewers: (number * viewers / count)..<((number + 1) * viewers / count), inlet: inlet)
        }
    }

    /// Hands the camera's next frame in, which arrives at `now`.
    func deliver(_ frame: BenchmarkFrame, at now: Instant) throws(BenchmarkFailure) {
        guard let batch = frame.make(frames, from: &pool, arrival: now) else {
            throw BenchmarkFailure("the frame has no packets")
        }
        frames += 1
        inlet.deliver(batch)
    }
}
