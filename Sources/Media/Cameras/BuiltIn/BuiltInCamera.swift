import Codecs
import DatagramPort
import Glibc
import Intake
import Synchronization
import Transport

/// A camera without hardware: a moving test picture in VP8, a beep in Opus, a button that can be pressed, and a speaker
/// that measures its sound.
public final class BuiltInCamera: CameraSource, CameraButton {
    /// What the camera shows and sounds like.
    public let configuration: Configuration
    /// The camera's speaker.
    public let builtInSpeaker: BuiltInSpeaker

    private let random: RandomSource
    /// Separate from `current`, so that a sink may ask for a key frame while another thread waits for the end.
    private let controls = Controls()
    /// The current run and its thread.
    private let current = Locked<(run: Run, thread: pthread_t)?>(nil)

    /// Makes a camera; nothing runs until it is started.
    public init(_ configuration: Configuration, random: RandomSource = .system) {
        self.configuration = configuration
        self.random = random
        builtInSpeaker = BuiltInSpeaker { MonotonicClock.now }
    }

    deinit {
        stop()
    }

    public var speaker: (any CameraSpeaker)? { configuration.hasSound ? builtInSpeaker : nil }

    public var button: (any CameraButton)? { self }

    public var speakerMeasurement: SpeakerMeasurement? { builtInSpeaker.measurement }

    /// What every built-in camera sends.
    public static var tracks: [TrackDescription] { BuiltInStream.tracks }

    public func start(sink: any CameraSink) {
        current.withLock { current in
            guard current == nil else { return }
            let run = Run(
                configuration: configuration, random: random, controls: controls, speaker: builtInSpeaker, sink: sink)
            var thread = pthread_t()
            let retained = Unmanaged.passRetained(run)
            let result = pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    nameThisThread("camera")
                    // Balances `passRetained` below, and keeps the run alive as long as its thread.
                    Unmanaged<Run>.fromOpaque(argument).takeRetainedValue().main()
                    return nil
                }, retained.toOpaque())
            guard result == 0 else {
                retained.release()
                sink.handle(
                    .state(.backingOff(seconds: 0, reason: .noBuiltInThread(errorNumber: result))))
                return
            }
            controls.isRunning.store(true, ordering: .releasing)
            current = (run, thread)
        }
    }

    public func stop() {
        // The lock is held during the wait, so a second caller does not return before the first.
        current.withLock { current in
            guard let (run, thread) = current else { return }
            controls.isRunning.store(false, ordering: .releasing)
            run.stopped.set()
            pthread_join(thread, nil)
            current = nil
        }
    }

    public func requestKeyFrame(track: Int) {
        guard track == BuiltInStream.videoTrack else { return }
        controls.isKeyFrameRequested.store(true, ordering: .releasing)
    }

    /// Whether the camera is a doorbell.
    public var hasButton: Bool { configuration.isDoorbell }

    /// Presses the button.
    ///
    /// - Returns: whether the camera has a button and runs.
    @discardableResult
    public func press() -> Bool {
        guard configuration.isDoorbell, controls.isRunning.load(ordering: .acquiring) else { return false }
        controls.presses.wrappingAdd(1, ordering: .acquiringAndReleasing)
        return true
    }
}

extension BuiltInCamera {
    /// Requests from other threads to the one that makes the pictures.
    private final class Controls: Sendable {
        let isRunning = Atomic(false)
        let isKeyFrameRequested = Atomic(false)
        let presses = Atomic(0)
    }

    /// The work of one thread of the camera, from start to stop.
    private final class Run: Sendable {
        let stopped = Latch()
        private let controls: Controls
        private let configuration: Configuration
        private let random: RandomSource
        private let speaker: BuiltInSpeaker
        private let sink: any CameraSink

        init(
            configuration: Configuration, random: RandomSource, controls: Controls, speaker: BuiltInSpeaker,
            sink: any CameraSink
        ) {
            self.controls = controls
            self.configuration = configuration
            self.random = random
            self.speaker = speaker
            self.sink = sink
        }

        func main() {
            var random = self.random
            while !stopped.isSet {
                do throws(CodecError) {
                    try stream(&random)
                } catch {
                    let seconds = 5
                    sink.handle(.state(.backingOff(seconds: Double(seconds), reason: .encoding(error))))
                    stopped.wait(atMost: .seconds(seconds))
                }
            }
            sink.handle(.state(.stopped))
        }

        private func stream(_ random: inout RandomSource) throws(CodecError) {
            // The set-up of the encoders and the picture takes time, which must not be treated as delay.
            var stream = try BuiltInStream(
                configuration: configuration, random: &random, start: MonotonicClock.now + .milliseconds(10))
            let inlets = sink.open(configuration.hasSound ? BuiltInStream.tracks : [BuiltInStream.tracks[0]])
            sink.handle(.state(.playing))
            var isFlowing = false
            while !stopped.isSet {
                // The deadline is never more than one picture away, so the flags need not wake the thread.
                MonotonicClock.sleep(until: stream.nextDeadline)
                let now = MonotonicClock.now
                for _ in 0..<min(controls.presses.exchange(0, ordering: .acquiringAndReleasing), 8) {
                    stream.ring(at: now)
                    sink.handle(.buttonPressed())
                }
                if controls.isKeyFrameRequested.exchange(false, ordering: .acquiringAndReleasing) {
                    stream.requestKeyFrame()
                }
                try stream.advance(
                    to: now, wallClock: UInt64(clamping: WallClock.now / 1000), speakerLevel: speaker.level(at: now),
                    inlets: inlets, sink: sink, clock: { MonotonicClock.now })
                if !isFlowing, stream.hasSentEveryTrack {
                    isFlowing = true
                    sink.handle(.state(.flowing))
                }
            }
        }
    }
}
