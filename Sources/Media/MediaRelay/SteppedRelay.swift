import DatagramPort
import PeerConnection
import RTP
import Transport

/// A relay's shard without a thread and a clock of its own: whoever holds it takes its turns and tells it the time.
///
/// It is the same code that ``MediaRelay`` runs on its thread. A benchmark can so measure forwarding alone.
package final class SteppedRelay {
    private let shard: RelayShard
    private var sessions: UInt64 = 0

    /// A relay that sends through `port`.
    package init(port: any DatagramSending, limits: RelayLimits = RelayLimits(), at now: Instant) {
        shard = RelayShard(
            port: port, limits: limits, wallClock: WallClockReading(instant: now, unixNanoseconds: 0),
            random: .system)
    }

    /// Adds a camera with one track, and answers where its batches go in.
    package func addTrack(_ id: TrackID, _ description: RelayTrackDescription, at now: Instant) -> TrackInlet {
        let inlet = TrackInlet(lists: [shard.ready])
        shard.setTracks([(id, description, inlet)], camera: id.camera, at: now)
        return inlet
    }

    /// Takes a viewer in; the status says when it is connected.
    package func addViewer(_ configuration: ViewerConfiguration, at now: Instant) -> ViewerStatus {
        let status = ViewerStatus()
        sessions += 1
        shard.add(
            configuration, as: SessionHandle(number: sessions), status: status, notify: { _ in }, at: now)
        return status
    }

    /// Takes a datagram that a viewer sent; it is decrypted where it stands.
    package func handle(
        _ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress, to local: TransportAddress,
        at now: Instant
    ) {
        shard.handle(datagram, from: source, to: local, at: now)
        shard.handleEarlyChecks(at: now)
    }

    /// Sends what has been handed in to every viewer.
    package func forward(at now: Instant) {
        shard.handleInlets(at: now)
    }

    /// Lets everything act whose time has come.
    package func handleDeadline(at now: Instant) {
        shard.handleDeadline(at: now)
    }

    /// How many inlets the wake-ups have looked at.
    package var inletsAsked: UInt64 { shard.readCounters().inletsAsked }

    /// What the relay has done.
    package func readCounters() -> RelayCounters {
        shard.readCounters()
    }
}
