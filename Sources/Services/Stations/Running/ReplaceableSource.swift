import Cameras
import RTP
import Transport

/// A source whose inside can be exchanged while it runs: the camera's settings were changed, and its viewers stay.
///
/// To the sink, the exchange looks like a restart of the camera. The tracks are announced again, and the relay keeps
/// the viewers of those that are the same. A talk to the camera's speaker ends.
public final class ReplaceableSource: CameraSource {
    private struct State {
        var source: any CameraSource
        var sink: (any CameraSink)?
        var isCoalescing = false
        /// Counts the cameras that were put in.
        var number: UInt64 = 0
        /// The talk to the camera's speaker, and what learns that it has ended.
        var talk: (speaker: ObjectIdentifier, report: @Sendable (SpeakerState) -> Void)?
    }

    private let state: Locked<State>
    /// Serialises starts, stops and exchanges; ``state`` is never held while waiting for a source's thread. The number means
    /// nothing: of a value without a size, the thread sanitizer takes the object's own header for its place.
    private let order = Locked(0)

    /// Puts a first source in.
    public init(_ source: any CameraSource) {
        self.state = Locked(State(source: source))
    }

    /// The source inside.
    public var current: any CameraSource { state.withLock { $0.source } }

    public var speaker: (any CameraSpeaker)? {
        let (source, number) = state.withLock { ($0.source, $0.number) }
        return source.speaker.map { ReplaceableSpeaker($0, of: self, number: number) }
    }

    public var publishing: (any PublicationTaker)? { current.publishing }

    public var button: (any CameraButton)? { current.button }

    public var speakerMeasurement: SpeakerMeasurement? { current.speakerMeasurement }

    public var report: CameraReport? { current.report }

    public var awaitsTracks: Bool { current.awaitsTracks }

    public func start(sink: any CameraSink) {
        order.withLock { _ in
            state.withLock { $0.sink = sink }
            current.start(sink: sink)
        }
    }

    public func stop() {
        order.withLock { _ in
            current.stop()
            state.withLock { $0.sink = nil }
        }
    }

    public func requestKeyFrame(track: Int) {
        current.requestKeyFrame(track: track)
    }

    public func setCoalescing(_ isCoalescing: Bool) {
        // Under the lock, so that a source that is put in meanwhile does not miss it.
        state.withLock { state in
            state.isCoalescing = isCoalescing
            state.source.setCoalescing(isCoalescing)
        }
    }

    /// Puts another source in. It runs if the one before did. Returns when the old source has ended, because it waits
    /// for its thread.
    /// - Parameters:
    ///   - endsTalk: whether a talk to the speaker of the one before ends; not where both are the same camera.
    ///   - whenStopped: called when the old source has ended, and before the new one begins.
    public func replace(
        with source: any CameraSource, endsTalk: Bool = true, whenStopped: () -> Void = {}
    ) {
        order.withLock { _ in
            if endsTalk { breakOffTalk() }
            current.stop()
            whenStopped()
            let (sink, late) = state.withLock { state in
                state.source = source
                source.setCoalescing(state.isCoalescing)
                // Waiting for the thread takes time, in which another talk to the one before may have begun.
                if endsTalk { state.number += 1 }
                return (state.sink, endsTalk ? state.talk.take() : nil)
            }
            late?.report(.refused(.sourceStopped))
            if let sink { source.start(sink: sink) }
        }
    }
}

/// The talk to the speaker of the source inside.
extension ReplaceableSource {
    /// A talk begins.
    /// - Parameter number: that of the source whose speaker it is.
    /// - Returns: whether this is still the source inside.
    func beginTalk(
        to speaker: ReplaceableSpeaker, number: UInt64, _ report: @escaping @Sendable (SpeakerState) -> Void
    ) -> Bool {
        state.withLock { state in
            guard state.number == number else { return false }
            state.talk = (ObjectIdentifier(speaker), report)
            return true
        }
    }

    /// A talk has ended.
    func endTalk(to speaker: ReplaceableSpeaker) {
        // What the report holds is released outside of the lock.
        _ = state.withLock { state in
            state.talk?.speaker == ObjectIdentifier(speaker) ? state.talk.take() : nil
        }
    }

    /// Ends the talk.
    private func breakOffTalk() {
        let talk = state.withLock { $0.talk.take() }
        talk?.report(.refused(.sourceStopped))
    }
}
