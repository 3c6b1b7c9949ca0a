import DatagramPort
import Glibc
import Transport

/// A camera of this machine, on USB or on a ribbon cable (CSI), through Video4Linux. It has no sound.
///
/// It runs on its own thread from ``start(sink:)`` to ``stop()``, and opens the device again with growing pauses. H.264 is
/// passed on as the device encodes it; JPEG is encoded as H.264.
public final class VideoDeviceSource: CameraSource {
    /// The source's options.
    public struct Configuration: Sendable {
        /// How long the next picture may take.
        public var pictureTimeout: Duration = .seconds(10)
        /// How many JPEG pictures are taken per second at most, 0.1 to 30.
        public var framesPerSecond: Double = 15

        /// The usual settings.
        public init() {}
    }

    /// The device's address.
    public let address: VideoDeviceAddress
    private let configuration: Configuration
    private let findings = SourceFindings(profile: CameraProfile(), profileChanged: nil)
    private let thread = SourceThread()

    /// A source for a device.
    public init(address: VideoDeviceAddress, configuration: Configuration = Configuration()) {
        self.address = address
        self.configuration = configuration
    }

    public var speaker: (any CameraSpeaker)? { nil }

    public var report: CameraReport? {
        var report = CameraReport()
        report.notes = notes
        return report
    }

    /// Which device it is, and what it sends.
    public var notes: [CameraNote] { findings.notes }

    public func start(sink: any CameraSink) {
        let (address, configuration, findings) = (address, configuration, findings)
        thread.start(sink: sink) { control in
            var supervisor = VideoDeviceSupervisor(
                address, configuration, findings: findings, control: control, sink: sink)
            supervisor.loop()
            control.markEnded()
        }
    }

    public func stop() { thread.stop() }

    public func requestKeyFrame(track: Int) { thread.requestKeyFrame(track: track) }
}

/// Keeps the pictures of one device flowing, on the source's thread.
struct VideoDeviceSupervisor: AttemptingSource, ~Copyable {
    let control: SourceControl
    let findings: SourceFindings
    var random = RandomSource.system
    private let address: VideoDeviceAddress
    private let configuration: VideoDeviceSource.Configuration
    private let sink: any CameraSink
    private var lastState: SourceState?
    private var flowingSince: Instant?

    init(
        _ address: VideoDeviceAddress, _ configuration: VideoDeviceSource.Configuration, findings: SourceFindings,
        control: SourceControl, sink: any CameraSink
    ) {
        self.address = address
        self.configuration = configuration
        self.findings = findings
        self.control = control
        self.sink = sink
    }

    mutating func report(_ state: SourceState) {
        guard state != lastState else { return }
        lastState = state
        sink.handle(.state(state))
    }

    func age(at now: Instant) -> Duration { flowingSince.map { now - $0 } ?? .zero }

    func circuitFailure(of reason: CameraFailure) -> CircuitBreaker.Failure {
        guard case .stream(let failure) = reason else { return .unreachable }
        return failure.asCircuitFailure
    }

    mutating func attempt() -> AttemptEnding {
        flowingSince = nil
        report(.connecting)
        do throws(CameraFailure) {
            let device: VideoDevice
            do throws(VideoDeviceFailure) {
                device = try VideoDevice(address)
            } catch {
                throw .stream(.device(error))
            }
            findings.record([device.note])
            report(.playing)
            try play(device)
        } catch {
            return control.isStopping ? .stopped : .failed(error)
        }
        return .stopped
    }

    /// Takes frames until the owner stops the source.
    mutating func play(_ device: some FrameDevice) throws(CameraFailure) {
        let rate = min(max(configuration.framesPerSecond, 0.1), 30)
        var frames = DeviceFrames(
            device.format, framesPerSecond: rate, sink: sink, findings: findings, random: random)
        var silence = MonotonicClock.now + configuration.pictureTimeout
        while !control.isStopping {
            var failure: CameraFailure?
            let isFrame: Bool
            do throws(VideoDeviceFailure) {
                isFrame = try device.receive { bytes, time in
                    let now = MonotonicClock.now
                    do throws(CameraFailure) {
                        try frames.take(bytes, time: time, at: now, wallClock: WallClock.now)
                    } catch {
                        failure = error
                    }
                }
            } catch {
                throw .stream(.device(error))
            }
            if let failure { throw failure }
            let now = MonotonicClock.now
            if isFrame {
                silence = now + configuration.pictureTimeout
                if let since = frames.flowingSince {
                    flowingSince = since
                    report(.flowing)
                }
                continue
            }
            guard now < silence else {
                throw .stream(.silent(seconds: Int(configuration.pictureTimeout.components.seconds)))
            }
            var waiting = [
                pollfd(fd: device.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: control.wakeUp, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&waiting, 2, pollTimeout(silence - now))
            guard waiting[1].revents != 0, control.takeKeyFrameRequests() != 0 else { continue }
            device.requestKeyFrame()
            frames.requestKeyFrame()
        }
    }
}
