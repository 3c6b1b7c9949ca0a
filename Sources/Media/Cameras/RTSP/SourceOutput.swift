import Intake
import RTP
import SDP
import Transport

/// The source's output to its sink, and the tracks' timelines, which outlive one connection.
struct SourceOutput {
    let sink: any CameraSink
    let findings: SourceFindings
    private(set) var tracks: [IncomingTrackBox] = []
    private(set) var descriptions: [TrackDescription] = []
    private var lastState: SourceState?

    init(sink: any CameraSink, findings: SourceFindings) {
        self.sink = sink
        self.findings = findings
    }

    /// Reports a state to the sink, unless the sink already knows it.
    mutating func report(_ state: SourceState) {
        guard state != lastState else { return }
        lastState = state
        sink.handle(.state(state))
    }

    /// Announces the camera's tracks. A track of the same kind as an earlier one continues where that one ended.
    mutating func announce(
        _ described: [CameraDescription.Track], limit: Int, random: inout RandomSource, at now: Instant
    ) {
        descriptions = described.map(\.description)
        // What the tracks still hold of the connection before goes where it went so far.
        for track in tracks { track.track.flush(at: now) }
        let inlets = sink.open(descriptions)
        var boxes: [IncomingTrackBox] = []
        for (index, track) in described.enumerated() {
            let previous = index < tracks.count ? tracks[index] : nil
            if let previous, previous.track.format == track.format,
                previous.clockRate == track.description.codec.clockRate
            {
                previous.track.inlet = inlets[index]
                previous.track.restart(track.incoming, at: now)
                boxes.append(previous)
                continue
            }
            let incoming = IncomingTrack(
                track.incoming, firstSequenceNumber: UInt16.random(in: .min ... .max, using: &random),
                limit: limit, inlet: inlets[index])
            boxes.append(IncomingTrackBox(incoming, clockRate: track.description.codec.clockRate))
        }
        tracks = boxes
    }

    /// Reports the tracks again, of which more is known now.
    private func reopen() {
        for (track, inlet) in zip(tracks, sink.open(descriptions)) { track.track.inlet = inlet }
    }

    /// Records the profile that the stream itself has stated, which the session description left out.
    mutating func learnProfile(_ parameters: [FormatParameters.Parameter], track: Int) {
        guard descriptions.indices.contains(track) else { return }
        descriptions[track].codec.formatParameters.parameters += parameters
        reopen()
    }

    /// Records that the stream's pictures come in an order other than display order.
    mutating func learnReordering(track: Int) {
        guard descriptions.indices.contains(track), !descriptions[track].reordersPictures else { return }
        descriptions[track].reordersPictures = true
        reopen()
    }
}

/// Holds a track, which cannot be copied, in an array. It stays on the source's thread.
final class IncomingTrackBox {
    var track: IncomingTrack
    let clockRate: Int

    init(_ track: consuming IncomingTrack, clockRate: Int) {
        self.track = track
        self.clockRate = clockRate
    }
}
