import Intake
import RTP
import StreamFormats
import Transport

/// Hands the units of a publisher to its publication, as the packets of its tracks. Only one thread may use it.
public struct PublishedOutput {
    private let publication: Publication
    private var output: StreamOutput

    /// The output of a publisher that has become the camera.
    /// - Parameter random: makes the numbers with which the packets begin.
    public init(_ publication: Publication, random: RandomSource) {
        self.publication = publication
        output = StreamOutput(
            sink: PublicationSink(publication: publication),
            findings: SourceFindings(profile: CameraProfile(), profileChanged: nil), random: random)
    }

    /// The tracks as the camera describes them, the picture first. One whose codec is described wrongly is left out.
    public static func descriptions(of tracks: [StreamTrack]) -> [TrackDescription] {
        tracks.described.map { $0.track.description }
    }

    /// Takes a unit. Once the publisher is not the camera any more, it is dropped.
    /// - Parameters:
    ///   - tracks: the tracks that have been found so far. More may come than the publisher began with.
    ///   - wallClock: nanoseconds since 1970 at `now`.
    public mutating func take(_ unit: StreamUnit, of tracks: [StreamTrack], at now: Instant, wallClock: Int64) {
        guard !publication.isOver else { return }
        output.take(unit, of: tracks, awaitsTracks: false, at: now, wallClock: wallClock)
    }
}

/// The sink of the publication's source, as long as the publisher is the camera.
private struct PublicationSink: CameraSink {
    let publication: Publication

    func open(_ tracks: [TrackDescription]) -> [any PacketInlet] {
        guard !publication.isOver else { return tracks.map { _ in ClosedInlet() } }
        // The beginning of the publication has reported the first ones.
        return publication.takeInlets(for: tracks) ?? publication.sink.open(tracks)
    }

    func handle(_ event: CameraEvent) {
        if !publication.isOver { publication.sink.handle(event) }
    }
}
