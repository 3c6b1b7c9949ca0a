import DatagramPort
import Intake
import RTP
import SDP
import Transport

/// Reading late while nobody watches, so that the packets of several frames cost one wake-up of the source, of the relay
/// and of the recorder. Waking up is most of what a camera costs.
extension RTSPSession {
    /// This many bytes are read at once, however short they have waited: a large frame must not fill the connection, or a
    /// camera with a small buffer would leave something out.
    private static let coalescedBytes: Int32 = 64 * 1024

    /// Begins to coalesce reads, or ends it.
    mutating func coalesce(_ output: SourceOutput) {
        let mayCoalesce = control.isCoalescing && mayCoalesce(output)
        guard mayCoalesce != (coalescingEnds != nil) else { return }
        driver.setLowWaterMark(mayCoalesce ? Self.coalescedBytes : 1)
        coalescingEnds = mayCoalesce ? nextCoalescedRead(after: MonotonicClock.now) : nil
    }

    /// When to read next: at a multiple of the time. The sources of all cameras wake together then, and the relay and the
    /// recorders wake once for what all of them bring.
    func nextCoalescedRead(after now: Instant) -> Instant {
        let period = max(configuration.coalescingTime.wholeNanoseconds, 1)
        return now + .nanoseconds(period - now.nanoseconds % period)
    }

    /// Only what flows over TCP waits. A talk needs its answers. Datagrams need their times of arrival, and so does a camera
    /// whose clock cannot be trusted, since its pictures are timed by them.
    private func mayCoalesce(_ output: SourceOutput) -> Bool {
        guard let playing, playing.flowingSince != nil, playing.pairs.isEmpty, talk == nil else { return false }
        return output.tracks.allSatisfy { $0.track.timeline.leaps == 0 && !$0.track.timeline.hasWrongPace }
    }

    /// Hands on the sender reports of a coalesced read. Whoever takes a report takes the present for its arrival, but it has
    /// waited, up to the coalescing time. The newest packet has waited least, so each report is moved to that packet.
    func handOnReports(_ playing: PlayingTracks, _ output: SourceOutput) {
        for index in playing.tracks.indices {
            guard let held = playing.tracks[index].heldReport else { continue }
            playing.tracks[index].heldReport = nil
            guard output.tracks.indices.contains(index), output.descriptions.indices.contains(index) else { continue }
            let report = held.moved(
                to: output.tracks[index].track.timeline.newestTimestamp,
                clockRate: output.descriptions[index].codec.clockRate, atMost: configuration.coalescingTime)
            output.sink.handle(
                .senderReport(track: index, ntp: report.ntp.rawValue, rtpTimestamp: report.timestamp))
        }
    }
}
