import DatagramPort
import HTTPMedia
import ONVIF
import RTSP
import Transport

/// Connects to a camera once, watches what it sends, and reports what viewers will get.
public enum CameraProbe {
    /// Watches an RTSP camera for `duration` from its first packet on. Blocks the calling thread during that time and
    /// during the connection before it. It gives up when the camera has failed twice, or after the timeouts of
    /// `configuration`.
    public static func run(
        url: RTSPURL, configuration: RTSPSource.Configuration = RTSPSource.Configuration(),
        duration: Duration = .seconds(10)
    ) -> CameraProbeReport {
        let source = RTSPSource(url: url, configuration: configuration)
        // TCP and UDP may both have to be tried, and the question about the back channel may go unanswered.
        let patience =
            configuration.connectTimeout * 2 + configuration.answerTimeout * 2 + configuration.firstPacketTimeout * 2
        return watch(source, address: url.description, patience: patience, duration: duration) { report in
            report.transport = source.transportInUse
            report.profile = source.profile
            report.backChannel = source.backChannel
            report.notes = source.notes
        }
    }

    /// Watches a camera that sends JPEG pictures over HTTP; see ``run(url:configuration:duration:)``.
    public static func run(
        _ source: PictureSource, configuration: PictureSource.Configuration = PictureSource.Configuration(),
        duration: Duration = .seconds(10)
    ) -> CameraProbeReport {
        let patience = configuration.connectTimeout * 2 + configuration.pictureTimeout
        return watch(source, address: source.address.description, patience: patience, duration: duration) { report in
            report.isMadeOfPictures = true
            report.transport.isSecure = source.address.isSecure
            report.profile = source.profile
            report.notes = source.notes
        }
    }

    /// Watches a camera that sends a stream other than RTP; see ``run(url:configuration:duration:)``.
    public static func run(_ source: StreamSource, duration: Duration = .seconds(10)) -> CameraProbeReport {
        let configuration = StreamSource.Configuration()
        let patience = configuration.connectTimeout * 2 + configuration.silenceTimeout
        return watch(source, address: "\(source.address)", patience: patience, duration: duration) { report in
            report.transport.isSecure = source.isSecure
            report.profile = source.profile
            report.notes = source.notes
        }
    }

    /// Watches a camera of this machine; see ``run(url:configuration:duration:)``.
    public static func run(_ source: VideoDeviceSource, duration: Duration = .seconds(10)) -> CameraProbeReport {
        let patience = VideoDeviceSource.Configuration().pictureTimeout * 2
        return watch(source, address: "\(source.address)", patience: patience, duration: duration) { report in
            report.notes = source.notes
        }
    }

    /// Watches a camera that is named by its ONVIF device service; see ``run(url:configuration:duration:)``.
    /// - Parameter address: `onvif://user:password@host:port`.
    public static func run(
        onvif address: String, configuration: RTSPSource.Configuration = RTSPSource.Configuration(),
        duration: Duration = .seconds(10)
    ) throws(ONVIFError) -> CameraProbeReport {
        let device = try HTTPAddress.parse(onvif: address).address
        // The source that pulls the stream, once the camera has said where that is.
        let pulling = Locked<RTSPSource?>(nil)
        let source = try ONVIFSource(address: address, stream: .main) { url in
            let stream = RTSPSource(url: url, configuration: configuration)
            pulling.withLock { $0 = stream }
            return stream
        }
        source.lookForSubstream()
        // The device is asked for its time, its services, its profiles and the address of its stream.
        let patience =
            configuration.answerTimeout * 4 + configuration.connectTimeout * 2 + configuration.firstPacketTimeout * 2
        return watch(source, address: device.description, patience: patience, duration: duration) { report in
            report.hasSubstream = source.hasSubstream
            guard let stream = pulling.withLock({ $0 }) else { return }
            report.transport = stream.transportInUse
            report.profile = stream.profile
            report.backChannel = stream.backChannel
            report.notes = stream.notes
        }
    }

    private static func watch(
        _ source: some CameraSource, address: String, patience: Duration, duration: Duration,
        findings: (inout CameraProbeReport) -> Void
    ) -> CameraProbeReport {
        let began = MonotonicClock.now
        var report = CameraProbeReport(address: address)
        guard let signal = SourceControl() else {
            report.failure = "the process has no file descriptor left"
            report.failureKind = .gateway
            return report
        }
        let sink = ProbeSink(wallClock: { WallClock.now }, wake: { signal.requestKeyFrame(track: 0) })
        source.start(sink: sink)
        var deadline = began + patience
        var isWatching = false
        while MonotonicClock.now < deadline {
            signal.wait(deadline - MonotonicClock.now)
            _ = signal.takeKeyFrameRequests()
            let seen = sink.snapshot
            if !isWatching, let first = seen.firstPacketAt {
                isWatching = true
                deadline = first + duration
            }
            // An attempt without valid credentials fails again, and counts towards a lock.
            if !isWatching, !seen.failures.isEmpty { break }
        }
        let seen = sink.snapshot
        findings(&report)
        let end = MonotonicClock.now
        source.stop()
        report.secondsToPlay = seen.playingAt.map { ($0 - began).inSeconds }
        report.secondsToFirstPacket = seen.firstPacketAt.map { ($0 - began).inSeconds }
        report.secondsToFirstKeyFrame = seen.firstKeyFrameAt.map { ($0 - began).inSeconds }
        report.secondsWatched = seen.firstPacketAt.map { (end - $0).inSeconds } ?? 0
        report.tracks = seen.tracks.map { $0.report(seconds: report.secondsWatched) }
        if seen.firstPacketAt == nil {
            let failure = seen.failures.last
            report.failure = failure?.words ?? "the camera sent nothing within \(patience.components.seconds) s"
            report.failureKind = failure?.kind ?? .silent
        }
        return report
    }
}
