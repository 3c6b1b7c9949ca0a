import Foundation
import FragmentedMP4
import MediaRelay
import SDP
import Stations
import Transport

/// A camera's pictures and sound as CMAF chunks, made once for everybody who watches them in this form. It begins with the
/// first and ends with the last of them.
final class LiveStream: RecordingSink {
    /// The longest time between a key frame and what a new viewer begins with, in bytes.
    private static let largestStart = 16 << 20

    private struct Viewer {
        weak var subscription: LiveSubscription?
    }

    private struct State {
        var description: LiveDescription?
        /// What has come since the newest chunk that a viewer can begin with. A new viewer gets it first.
        var start: [LiveChunk] = []
        var startBytes = 0
        var sessions: UInt64 = 0
        /// A viewer that nobody keeps has gone.
        var subscriptions: [Int: Viewer] = [:]
        var nextNumber = 0
        var recorder: CameraRecorder?
        var hasEnded = false
    }

    private let state = Locked(State())
    private let whenEmpty: @Sendable () -> Void

    /// - Parameter whenEmpty: called when the last viewer has gone. Then nobody can watch it.
    init(
        _ station: CameraStation, relay: MediaRelay, stream: CameraStream, hasSound: Bool, threads: RecordingThreads,
        whenEmpty: @escaping @Sendable () -> Void
    ) {
        self.whenEmpty = whenEmpty
        var configuration = CameraRecorder.Configuration(device: station.id, connection: 0)
        configuration.purpose = .liveView
        configuration.stream = stream
        configuration.usage = .liveView
        if !hasSound { configuration.soundName = nil }
        configuration.segmentDuration = .milliseconds(500)
        configuration.chunkDuration = .milliseconds(1)
        configuration.longestSession = .seconds(10 * 365 * 86_400)
        configuration.longestBacklog = .seconds(3)
        configuration.pauseAfterFault = .zero
        let sequence = Locked<UInt32>(0)
        let recorder = CameraRecorder(
            station: station, relay: relay, configuration: configuration, threads: threads, sink: self,
            naming: { start, _ in
                let number = sequence.withLock { sequence in
                    sequence &+= 1
                    return sequence
                }
                return (.init(device: station.id, start: start, epoch: 0, sequence: number), UInt64(number))
            },
            report: { [weak self] in self?.record($0) })
        state.withLock { $0.recorder = recorder }
        recorder.start(.init(kind: .command, reason: "live stream"))
    }

    /// Adds a viewer.
    /// - Returns: nil if the stream has ended.
    func add(_ subscription: LiveSubscription) -> Int? {
        state.withLock { state in
            guard !state.hasEnded else { return nil }
            state.nextNumber += 1
            state.subscriptions[state.nextNumber] = Viewer(subscription: subscription)
            // Under the lock, so that what comes next goes to it after what was there.
            if let description = state.description {
                subscription.begin(description)
                for chunk in state.start { subscription.add(chunk) }
            }
            return state.nextNumber
        }
    }

    /// Removes a viewer. With the last one the stream ends.
    func remove(_ number: Int) {
        let recorder = state.withLock { state -> CameraRecorder? in
            state.subscriptions[number] = nil
            guard state.subscriptions.isEmpty, !state.hasEnded else { return nil }
            state.hasEnded = true
            return state.recorder.take()
        }
        guard let recorder else { return }
        whenEmpty()
        recorder.stop(.inactive)
    }

    /// The camera is gone, or has another station: its viewers end, and nobody can watch it any more.
    func end() {
        let (viewers, recorder) = state.withLock { state -> ([LiveSubscription], CameraRecorder?) in
            state.hasEnded = true
            return (state.subscriptions.values.compactMap(\.subscription), state.recorder.take())
        }
        for viewer in viewers { viewer.end() }
        guard let recorder else { return }
        whenEmpty()
        recorder.stop(.inactive)
    }

    // MARK: What the recorder makes

    func take(_ output: RecordingOutput, of session: RecordingSession.ID) throws(RecordingFault) {
        switch output {
        case .began(let session): begin(session)
        case .chunk(let chunk): add(chunk)
        case .ended:
            state.withLock { state in
                state.description = nil
                state.start = []
                state.startBytes = 0
            }
        case .segmentEnded, .gap, .trigger: break
        }
    }

    private func begin(_ session: RecordingSession) {
        guard let header = try? CMAFHeaders.joined(session.tracks.map { Array($0.initializationSegment) }) else {
            return
        }
        let (description, viewers) = state.withLock { state in
            state.sessions += 1
            let description = LiveDescription(tracks: session.tracks, header: header, number: state.sessions)
            state.description = description
            state.start = []
            state.startBytes = 0
            return (description, state.subscriptions.values.compactMap(\.subscription))
        }
        for viewer in viewers { viewer.begin(description) }
    }

    private func add(_ recorded: RecordedChunk) {
        let added = state.withLock { state -> (LiveChunk, [LiveSubscription])? in
            guard let description = state.description, description.tracks.indices.contains(recorded.track) else {
                return nil
            }
            let isAlone = !description.tracks.contains(where: \.isVideo)
            let canBegin = isAlone || description.tracks[recorded.track].isVideo && recorded.beginsWithKeyFrame
            let chunk = LiveChunk(
                track: recorded.track, canBegin: canBegin, decodeTime: recorded.decodeTime,
                duration: recorded.duration, bytes: recorded.bytes)
            if canBegin {
                state.start = []
                state.startBytes = 0
            }
            // A viewer that comes before the next key frame waits for that one.
            if state.startBytes + chunk.bytes.count > Self.largestStart { state.start = [] }
            if canBegin || !state.start.isEmpty {
                state.start.append(chunk)
                state.startBytes += chunk.bytes.count
            }
            return (chunk, state.subscriptions.values.compactMap(\.subscription))
        }
        guard let (chunk, viewers) = added else { return }
        for viewer in viewers { viewer.add(chunk) }
    }

    private func record(_ report: CameraRecorder.Report) {
        guard case .refused(let error) = report else { return }
        let viewers = state.withLock { $0.subscriptions.values.compactMap(\.subscription) }
        for viewer in viewers { viewer.end(error) }
    }
}
