import Transport

/// A camera whose media a publisher sends, by whichever protocol. It waits, and accepts one publisher at a time. A new
/// publisher replaces the one before, because an encoder that lost its network comes back before the gateway can notice.
public final class PublishedSource: CameraSource, PublicationTaker {
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
        publication?.ended(.cameraStopped)
    }

    public func requestKeyFrame(track: Int) {
        state.withLock { $0.current }?.requestKeyFrame(track)
    }

    public func begin(
        _ tracks: [TrackDescription], requestKeyFrame: @escaping @Sendable (Int) -> Void,
        ended: @escaping @Sendable (PublicationEnd) -> Void
    ) -> Publication? {
        let started = state.withLock { state -> (any CameraSink, Publication, replaced: Publication?)? in
            guard let sink = state.sink else { return nil }
            let replaced = state.current
            replaced?.close()
            let publication = Publication(tracks, sink: sink, requestKeyFrame: requestKeyFrame, ended: ended)
            state.current = publication
            return (sink, publication, replaced)
        }
        guard let (sink, publication, replaced) = started else { return nil }
        // Its protocol may be another one, whose connection would go on for nothing.
        replaced?.ended(.replaced)
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
