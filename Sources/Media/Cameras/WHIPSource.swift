import Intake
import RTP
import SDP
import Transport

/// A camera whose media a publisher sends (RFC 9725). It waits, and accepts one publisher at a time. A new publisher
/// replaces the one before, because an encoder that lost its network comes back before the gateway can notice.
public final class WHIPSource: CameraSource, PublicationTaker {
    private struct State {
        var sink: (any CameraSink)?
        var current: Publication?
    }

    private let state = Locked(State())

    /// A camera without a publisher.
    public init() {}

    /// Nothing is sent to a publisher.
    public var speaker: (any CameraSpeaker)? { nil }

    public var publishing: (any PublicationTaker)? { self }

    public func start(sink: any CameraSink) {
        state.withLock { $0.sink = sink }
        sink.handle(.state(.backingOff(seconds: 0, reason: .noPublisher(after: nil))))
    }

    public func stop() {
        let (sink, publication) = state.withLock { state in
            state.current?.close()
            defer { (state.sink, state.current) = (nil, nil) }
            return (state.sink, state.current)
        }
        sink?.handle(.state(.stopped))
        publication?.stopped()
    }

    public func requestKeyFrame(track: Int) {
        state.withLock { $0.current }?.requestKeyFrame(track)
    }

    public func begin(
        _ tracks: [TrackDescription], requestKeyFrame: @escaping @Sendable (Int) -> Void,
        stopped: @escaping @Sendable () -> Void
    ) -> Publication? {
        let started = state.withLock { state -> (any CameraSink, Publication)? in
            guard let sink = state.sink else { return nil }
            state.current?.close()
            let publication = Publication(
                tracks, sink: sink, requestKeyFrame: requestKeyFrame, stopped: stopped)
            state.current = publication
            return (sink, publication)
        }
        guard let (sink, publication) = started else { return nil }
        sink.handle(.state(.connecting))
        publication.open()
        return publication
    }

    public func end(_ publication: Publication, because end: PublicationEnd) {
        publication.close()
        let sink = state.withLock { state -> (any CameraSink)? in
            guard state.current === publication else { return nil }
            state.current = nil
            return state.sink
        }
        sink?.handle(.state(.backingOff(seconds: 0, reason: .noPublisher(after: end))))
    }
}

/// What one publisher sends to a ``WHIPSource``.
public final class Publication: @unchecked Sendable {
    // Proof for @unchecked: only `open`, `receive`, `receiveNothing` and `receiveSenderReport` touch `tracks`,
    // `descriptions`, `isFlowing` and `isStalled`. Only the one thread that receives the publisher's packets calls them.
    // The first `open` is the exception, and returns before that thread has the publication. `isClosed` is behind a lock,
    // and the rest never changes.

    private final class Track {
        var incoming: IncomingTrack
        init(_ incoming: consuming IncomingTrack) { self.incoming = incoming }
    }

    /// How long the watched track may be silent.
    static let patience = Duration.seconds(10)

    private let tracks: [Track?]
    private var descriptions: [TrackDescription]
    /// The track whose silence counts: the picture, or the sound where the publisher sends no picture.
    private let watched: Int
    private var isFlowing = false
    private var isStalled = false
    private let isClosed = Locked(false)
    private let sink: any CameraSink
    let requestKeyFrame: @Sendable (Int) -> Void
    let stopped: @Sendable () -> Void

    init(
        _ descriptions: [TrackDescription], sink: any CameraSink, requestKeyFrame: @escaping @Sendable (Int) -> Void,
        stopped: @escaping @Sendable () -> Void
    ) {
        self.sink = sink
        self.requestKeyFrame = requestKeyFrame
        self.stopped = stopped
        self.descriptions = descriptions
        watched = descriptions.firstIndex { $0.kind == .video } ?? 0
        tracks = descriptions.map { description in
            guard let format = IncomingTrack.Format(description.codec) else { return nil }
            return Track(
                IncomingTrack(
                    IncomingTrack.Description(
                        format: format, clockRate: description.codec.clockRate, payloadType: description.payloadType),
                    firstSequenceNumber: 0, inlet: ClosedInlet()))
        }
    }

    /// Reports the tracks, and takes the inlets for them.
    func open() {
        for (track, inlet) in zip(tracks, sink.open(descriptions)) { track?.incoming.inlet = inlet }
    }

    func close() { isClosed.withLock { $0 = true } }

    /// Receives one plain RTP packet, in order.
    public func receive(_ packet: UnsafeRawBufferPointer, track: Int, at now: Instant) {
        guard tracks.indices.contains(track), !isClosed.withLock({ $0 }) else { return }
        tracks[track]?.incoming.receive(packet, at: now)
        if tracks[track]?.incoming.reordering.isReordering == true, !descriptions[track].reordersPictures {
            descriptions[track].reordersPictures = true
            open()
        }
        if !isFlowing || isStalled && track == watched {
            isFlowing = true
            isStalled = false
            sink.handle(.state(.flowing))
        }
    }

    /// A track that had begun has been silent since `last`.
    public func receiveNothing(track: Int, since last: Instant, at now: Instant) {
        guard track == watched, isFlowing, !isStalled, now - last >= Self.patience, !isClosed.withLock({ $0 }) else {
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
