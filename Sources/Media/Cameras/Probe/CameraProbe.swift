import DatagramPort
import RTSP
import Transport

/// Connects to a camera once, watches what it sends, and reports what viewers will get.
public enum CameraProbe {
    /// Watches a camera for `duration` from its first packet on. Blocks the calling thread during that time and during
    /// the connection before it. It gives up when the camera has failed twice, or after the timeouts of
    /// `configuration`.
    public static func run(
        url: RTSPURL, configuration: RTSPSource.Configuration = RTSPSource.Configuration(),
        duration: Duration = .seconds(10)
    ) -> CameraProbeReport {
        let began = MonotonicClock.now
        let source = RTSPSource(url: url, configuration: configuration)
        var report = CameraProbeReport(address: url.requestURI)
        guard let signal = SourceControl() else {
            report.failure = "the process has no file descriptor left"
            return report
        }
        let sink = ProbeSink(wallClock: { WallClock.now }, wake: { signal.requestKeyFrame(track: 0) })
        source.start(sink: sink)
        // TCP and UDP may both have to be tried, and the question about the back channel may go unanswered.
        let patience =
            configuration.connectTimeout * 2 + configuration.answerTimeout * 2 + configuration.firstPacketTimeout * 2
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
        report.transport = source.transportInUse
        report.profile = source.profile
        report.backChannel = source.backChannel
        report.notes = source.notes
        let end = MonotonicClock.now
        source.stop()
        report.secondsToPlay = seen.playingAt.map { ($0 - began).inSeconds }
        report.secondsToFirstPacket = seen.firstPacketAt.map { ($0 - began).inSeconds }
        report.secondsToFirstKeyFrame = seen.firstKeyFrameAt.map { ($0 - began).inSeconds }
        report.secondsWatched = seen.firstPacketAt.map { (end - $0).inSeconds } ?? 0
        report.tracks = seen.tracks.map { $0.report(seconds: report.secondsWatched) }
        if seen.firstPacketAt == nil {
            report.failure = seen.failures.last ?? "the camera sent nothing within \(patience.components.seconds) s"
        }
        return report
    }
}
