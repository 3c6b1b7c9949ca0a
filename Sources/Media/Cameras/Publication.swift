import Intake
import RTP
import SDP
import Transport

/// What one publisher sends to a ``PublishedSource``.
public final class Publication: @unchecked Sendable {
    // Proof for @unchecked: only `open`, `takeInlets`, `receive`, `receiveNothing` and `receiveSenderReport` touch
    // `tracks`, `descriptions`, `inlets`, `isFlowing` and `isStalled`. Only the one thread that receives the publisher's
    // packets calls them. The first `open` is the exception, and returns before that thread has the publication.
    // `isClosed` is behind a lock, and the rest never changes.

    private final class Track {
        var incoming: IncomingTrack
        init(_ incoming: consuming IncomingTrack) { self.incoming = incoming }
    }

    /// How long the track whose silence counts may be silent.
    public static let patience = Duration.seconds(10)

    private let tracks: [Track?]
    private var descriptions: [TrackDescription]
    /// Where the packets go, until somebody else takes it.
    private var inlets: [any PacketInlet] = []
    /// The track whose silence counts: the picture, or the sound where the publisher sends no picture.
    private let watched: Int
    private var isFlowing = false
    private var isStalled = false
    private let isClosed = Locked(false)
    let sink: any CameraSink
    let requestKeyFrame: @Sendable (Int) -> Void
    /// Called once at most: when the source ends the publisher, and not when the publisher ends itself.
    let ended: @Sendable (PublicationEnd) -> Void

    init(
        _ descriptions: [TrackDescription], sink: any CameraSink, requestKeyFrame: @escaping @Sendable (Int) -> Void,
        ended: @escaping @Sendable (PublicationEnd) -> Void
    ) {
        self.sink = sink
        self.requestKeyFrame = requestKeyFrame
        self.ended = ended
        self.descriptions = descriptions
        watched = descriptions.firstIndex { $0.kind == .video } ?? 0
        tracks = descriptions.map { description in
            guard let format = IncomingTrack.Format(description.codec) else { return nil }
            return Track(
                IncomingTrack(
                    IncomingTrack.Description(
                        format: format, clockRate: description.codec.clockRate, payloadType: description.payloadType,
                        parameterSets: Array(description.codec.describedParameterSets.prefix(8))),
                    firstSequenceNumber: 0, inlet: ClosedInlet()))
        }
    }

    /// Reports the tracks, and takes the inlets for them.
    func open() {
        inlets = sink.open(descriptions)
        for (track, inlet) in zip(tracks, inlets) { track?.incoming.inlet = inlet }
    }

    /// The inlets for tracks that have just been reported, for whoever makes the packets itself. A second report would
    /// restart the tracks. Nil for other tracks, and the second time.
    func takeInlets(for tracks: [TrackDescription]) -> [any PacketInlet]? {
        guard tracks == descriptions, !inlets.isEmpty else { return nil }
        defer { inlets = [] }
        return inlets
    }

    func close() { isClosed.withLock { $0 = true } }

    /// Whether the publisher is not the camera any more.
    var isOver: Bool { isClosed.withLock { $0 } }

    /// Receives one plain RTP packet, in order.
    public func receive(_ packet: UnsafeRawBufferPointer, track: Int, at now: Instant) {
        guard tracks.indices.contains(track), !isClosed.withLock({ $0 }) else { return }
        tracks[track]?.incoming.receive(packet, at: now)
        if tracks[track]?.incoming.reordering.isReordering == true, !descriptions[track].reordersPictures {
            descriptions[track].reordersPictures = true
            open()
        }
        if isStalled ? track == watched : !isFlowing {
            isFlowing = true
            isStalled = false
            sink.handle(.state(.flowing))
        }
    }

    /// A track has been silent since `last`: its last packet, or the publisher's beginning.
    public func receiveNothing(track: Int, since last: Instant, at now: Instant) {
        guard track == watched, !isStalled, now - last >= Self.patience, !isClosed.withLock({ $0 }) else {
            return
        }
        isStalled = true
        sink.handle(.state(.stalled(track: track)))
    }

    /// Receives a report of the publisher's clock.
    public func receiveSenderReport(track: Int, ntp: UInt64, rtpTimestamp: UInt32, at now: Instant) {
        guard tracks.indices.contains(track), let found = tracks[track], !isClosed.withLock({ $0 }) else { return }
        sink.handle(
            .senderReport(track: track, ntp: ntp, rtpTimestamp: found.incoming.timeline.outgoing(rtpTimestamp)))
    }
}
