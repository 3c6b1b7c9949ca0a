import Intake
import SDP
import Synchronization
import Transport

/// A camera whose encoder runs twice: a main stream and a smaller one, each from a separate source, as one camera.
///
/// The main stream's tracks come first. A stream that restarts does not affect the other one, whose tracks keep the
/// number of their connection (``TrackDescription/connection``).
public final class MultiStreamSource: CameraSource {
    /// The source of the main stream. Its state is the camera's, as long as it flows or the other one does not.
    public let main: any CameraSource
    /// The source of the smaller stream.
    public let substream: any CameraSource
    private let combined = Combined()

    /// Makes one camera from two sources.
    public init(main: any CameraSource, substream: any CameraSource) {
        self.main = main
        self.substream = substream
        if let logins = main.logins { substream.share(logins) }
    }

    public var speaker: (any CameraSpeaker)? { main.speaker ?? substream.speaker }

    public var report: CameraReport? {
        var report = main.report ?? CameraReport()
        report.add(substreamState, substream.report)
        return report
    }

    /// The state of the smaller stream, which the camera's state does not include.
    public var substreamState: SourceState { combined.substreamState }

    public var awaitsTracks: Bool { combined.awaitsTracks }

    public func start(sink: any CameraSink) {
        combined.begin(sink)
        main.start(sink: Part(stream: .main, combined: combined))
        substream.start(sink: Part(stream: .sub, combined: combined))
    }

    public func stop() {
        main.stop()
        substream.stop()
        combined.end()
    }

    public func setCoalescing(_ isCoalescing: Bool) {
        main.setCoalescing(isCoalescing)
        substream.setCoalescing(isCoalescing)
    }

    public func requestKeyFrame(track: Int) {
        switch combined.place(of: track) {
        case (.main, let index)?: main.requestKeyFrame(track: index)
        case (.sub, let index)?: substream.requestKeyFrame(track: index)
        case nil: break
        }
    }
}

extension MultiStreamSource {
    /// The sink of one of the two sources.
    private struct Part: CameraSink {
        let stream: CameraStream
        let combined: Combined

        func open(_ tracks: [TrackDescription]) -> [any PacketInlet] { combined.open(tracks, of: stream) }
        func handle(_ event: CameraEvent) { combined.handle(event, of: stream) }
    }

    /// What both sources have reported.
    private final class Combined: Sendable {
        private struct Tracks {
            var main: [TrackDescription] = []
            var sub: [TrackDescription] = []
        }

        private struct Progress {
            var states: (main: SourceState, sub: SourceState) = (.idle, .idle)
            var hasReconnected = (main: false, sub: false)
            var connections = (main: 0, sub: 0)
            /// Whether the stream has reported its tracks, or has failed before it could.
            var hasAnswered = (main: false, sub: false)
        }

        /// Connections are numbered across the process, so a source that replaces another one has other numbers.
        private static let connections = Atomic(0)

        private let sink = Locked<(any CameraSink)?>(nil)
        /// The meaning of the indices. It is locked only briefly, so that the sink can ask for a key frame.
        private let tracks = Locked(Tracks())
        /// Locked while the sink receives tracks and events, so that an index means the same on both sides. A
        /// substream's index counts from the number of the main stream's tracks. Packets go to their track's inlet,
        /// which stays the same while the other stream reports its tracks.
        private let order = Locked(Progress())

        func begin(_ sink: any CameraSink) { self.sink.withLock { $0 = sink } }

        func end() { sink.withLock { $0 = nil } }

        var substreamState: SourceState { order.withLock { $0.states.sub } }

        var awaitsTracks: Bool {
            sink.withLock { $0 != nil } && order.withLock { !$0.hasAnswered.main || !$0.hasAnswered.sub }
        }

        /// The source of a track and its index there.
        func place(of track: Int) -> (CameraStream, Int)? {
            tracks.withLock { tracks in
                if tracks.main.indices.contains(track) { return (.main, track) }
                let index = track - tracks.main.count
                return tracks.sub.indices.contains(index) ? (.sub, index) : nil
            }
        }

        private func index(_ track: Int, of stream: CameraStream) -> Int {
            stream == .main ? track : tracks.withLock { $0.main.count } + track
        }

        func open(_ described: [TrackDescription], of stream: CameraStream) -> [any PacketInlet] {
            // A source that is being stopped has nowhere to send to.
            guard let sink = sink.withLock({ $0 }) else { return described.map { _ in ClosedInlet() } }
            return order.withLock { progress in
                let inlets = sink.open(take(described, of: stream, &progress))
                return Array(stream == .main ? inlets.prefix(described.count) : inlets.suffix(described.count))
            }
        }

        func handle(_ event: CameraEvent, of stream: CameraStream) {
            guard let sink = sink.withLock({ $0 }) else { return }
            order.withLock { progress in
                switch event {
                case .state(let state):
                    if let state = take(state, of: stream, &progress) { sink.handle(.state(state)) }
                case .senderReport(let track, let ntp, let timestamp):
                    sink.handle(.senderReport(track: index(track, of: stream), ntp: ntp, rtpTimestamp: timestamp))
                case .tracks, .buttonPressed, .detection:
                    sink.handle(event)
                }
            }
        }

        private func take(
            _ described: [TrackDescription], of stream: CameraStream, _ progress: inout Progress
        ) -> [TrackDescription] {
            // Tracks that only say more about the same packets do not mean a new connection.
            let isMain = stream == .main
            let before = tracks.withLock { isMain ? $0.main : $0.sub }
            let hasReconnected = isMain ? progress.hasReconnected.main : progress.hasReconnected.sub
            let isUpdate =
                !hasReconnected && before.count == described.count
                && !zip(before, described).allSatisfy {
                    $0.codec == $1.codec && $0.reordersPictures == $1.reordersPictures
                }
                && zip(before, described).allSatisfy { $0.codec.isNamed($1.codec.name) }
            if !isUpdate {
                let number = Self.connections.wrappingAdd(1, ordering: .relaxed).newValue
                if isMain { progress.connections.main = number } else { progress.connections.sub = number }
            }
            if isMain { progress.hasReconnected.main = false } else { progress.hasReconnected.sub = false }
            if isMain { progress.hasAnswered.main = true } else { progress.hasAnswered.sub = true }
            let connection = isMain ? progress.connections.main : progress.connections.sub
            let marked = described.map { track in
                var track = track
                track.stream = stream
                track.connection = connection
                return track
            }
            return tracks.withLock { tracks in
                if isMain { tracks.main = marked } else { tracks.sub = marked }
                return tracks.main + tracks.sub
            }
        }

        /// The camera's state after a source has reported its own; nil if it does not change.
        private func take(
            _ state: SourceState, of stream: CameraStream, _ progress: inout Progress
        ) -> SourceState? {
            let before = Self.overall(progress.states)
            let isSettled = state == .playing || state == .flowing
            switch state {
            case .stalled, .backingOff, .givenUp:
                if stream == .main { progress.hasAnswered.main = true } else { progress.hasAnswered.sub = true }
            default: break
            }
            if stream == .main {
                progress.states.main = state
                if !isSettled { progress.hasReconnected.main = true }
            } else {
                progress.states.sub = state
                if !isSettled { progress.hasReconnected.sub = true }
            }
            let after = Self.overall(progress.states)
            return after == before ? nil : after
        }

        /// A camera flows while one of its streams does. Otherwise the main stream's state says more.
        private static func overall(_ states: (main: SourceState, sub: SourceState)) -> SourceState {
            states.main != .flowing && states.sub == .flowing ? .flowing : states.main
        }
    }
}
