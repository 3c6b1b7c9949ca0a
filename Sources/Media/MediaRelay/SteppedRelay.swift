import DatagramPort
import ICE
import PeerConnection
import RTP
import Transport

/// The shards of a relay whose holders take their turns, on as many threads.
package final class SteppedRelayGroup: Sendable {
    fileprivate let mailboxes: [SteppedMailbox]
    fileprivate let links: ShardLinks
    private let relay: MediaRelay

    /// Prepares a relay with `shards` shards. They are made by ``SteppedRelay/init(_:of:port:limits:at:)``.
    package init(shards: Int) throws {
        mailboxes = (0..<shards).map { _ in SteppedMailbox() }
        links = ShardLinks(mailboxes.map(\.link))
        // The relay asks its port only for its number.
        relay = MediaRelay(shards: [], links: links, port: UDPPortGroup(try UDPPort(.loopback())))
    }

    /// Adds a camera's tracks, and answers where their batches go in.
    package func setTracks(camera: String, _ tracks: [RelayTrackDescription]) -> [TrackInlet] {
        relay.setTracks(camera: camera, tracks)
    }
}

/// A relay's shard without a thread and a clock: its holder runs its turns and gives it the time.
///
/// It is the same code that ``MediaRelay`` runs on its thread. A benchmark can so measure forwarding alone.
package final class SteppedRelay {
    private let shard: RelayShard
    private let mailbox: SteppedMailbox?
    private var sessions: UInt64 = 0

    /// A relay with one shard that sends through `port`.
    package init(port: any DatagramSending, limits: RelayLimits = RelayLimits(), at now: Instant) {
        mailbox = nil
        shard = RelayShard(
            port: port, limits: limits, wallClock: WallClockReading(instant: now, unixNanoseconds: 0),
            random: .system)
    }

    /// Shard `index` of a group.
    package init(
        _ index: Int, of group: SteppedRelayGroup, port: any DatagramSending, limits: RelayLimits = RelayLimits(),
        at now: Instant
    ) {
        mailbox = group.mailboxes[index]
        shard = RelayShard(
            port: port, limits: limits, wallClock: WallClockReading(instant: now, unixNanoseconds: 0),
            random: .system, index: index, links: group.links)
    }

    /// Credentials of a session that is to live on this shard.
    package func credentials(using random: inout RandomSource) -> ICECredentials {
        ShardMark.credentials(for: shard.index, of: shard.links.count, using: &random)
    }

    /// Adds a camera with one track, and answers where its batches go in.
    package func addTrack(_ id: TrackID, _ description: RelayTrackDescription, at now: Instant) -> TrackInlet {
        let inlet = TrackInlet(lists: [shard.ready])
        shard.setTracks([(id, description, inlet)], camera: id.camera, at: now)
        return inlet
    }

    /// Adds a tap, which gets every batch of a track.
    package func addTap(_ tap: any TrackTap, to track: TrackID, at now: Instant) {
        shard.addTap(tap, to: track, at: now)
    }

    /// Adds a viewer; the status says when it is connected.
    package func addViewer(_ configuration: ViewerConfiguration, at now: Instant) -> SessionStatus {
        runMessages(at: now)
        let status = SessionStatus()
        sessions += 1
        shard.add(
            configuration, as: SessionHandle(shard: shard.index, number: sessions), status: status,
            notify: { _ in }, at: now)
        return status
    }

    /// Handles a datagram that a viewer sent. It is decrypted in place.
    package func handle(
        _ datagram: UnsafeMutableRawBufferPointer, from source: TransportAddress, to local: TransportAddress,
        at now: Instant
    ) {
        runMessages(at: now)
        shard.handle(datagram, from: source, to: local, at: now)
        shard.handleEarlyChecks(at: now)
    }

    /// Sends what has been handed in to every viewer.
    package func forward(at now: Instant) {
        runMessages(at: now)
        shard.handleWake(at: now)
    }

    private func runMessages(at now: Instant) {
        guard let mailbox, !mailbox.isIdle else { return }
        mailbox.rest()
        for message in mailbox.takeMessages() { message(shard, now) }
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
