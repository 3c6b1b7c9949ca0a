import Cameras
import Codecs
import MediaRelay
import SDP

/// One track that a viewer can be given: one of the camera's, or one that the gateway makes of it.
public struct StationTrack: Sendable, Equatable {
    /// Its name in the relay.
    public var id: TrackID
    /// What it is.
    public var description: TrackDescription
    /// The camera's track of which the gateway makes this one; nil for the camera's own.
    public var derivedFrom: TrackID?
    /// The position among the tracks that the source told, of this one or of the one that it is made of.
    public var position: Int
}

/// The tracks of a station, worked out from what its camera sends.
struct TrackLayout: Sendable, Equatable {
    /// The camera's own tracks first, in their order, then the derived ones.
    var tracks: [StationTrack] = []
    /// In words, why a track cannot be made into one that browsers play.
    var notes: [String] = []

    /// Tracks of the smaller stream are numbered from here, so that a change of the main one does not move them.
    private static let firstOfSubstream = 100
    /// What is made of a track has its number and this.
    private static let derivation = 1_000

    static let empty = TrackLayout()

    /// - Parameter transcodesVideo: whether VP8 is made of what a viewer cannot play.
    init(camera: String, tracks described: [TrackDescription], transcodesVideo: TranscodingMode) {
        var count = (main: 0, sub: 0)
        for (position, description) in described.enumerated() {
            let index: Int
            if description.stream == .main {
                index = count.main
                count.main += 1
            } else {
                index = Self.firstOfSubstream + count.sub
                count.sub += 1
            }
            tracks.append(
                StationTrack(
                    id: TrackID(camera: camera, index: index), description: description, derivedFrom: nil,
                    position: position))
        }
        for track in tracks {
            var derived = track
            derived.id.index += Self.derivation
            derived.derivedFrom = track.id
            derived.description.reordersPictures = false
            do throws(CodecError) {
                switch track.description.kind {
                case .audio where !track.description.codec.isNamed("opus"):
                    _ = try SpeechDecoders.make(for: track.description.codec)
                    derived.description.codec = .opus
                    derived.description.payloadType = DerivedTrack.opusPayloadType
                case .video where transcodesVideo != .never && !track.description.codec.isNamed("VP8"):
                    // Nearly every viewer plays plain H.264: libavcodec is not loaded for the few that do not.
                    let isPlain = track.description.codec.isNamed("H264") && !track.description.reordersPictures
                    if !isPlain { _ = try PictureReader(codec: track.description.codec) }
                    derived.description.codec = .vp8
                    derived.description.payloadType = DerivedTrack.vp8PayloadType
                default: continue
                }
                tracks.append(derived)
            } catch {
                notes.append("\(track.description.codec.name) cannot be transcoded: \(error.reason)")
            }
        }
    }

    private init() {}
}
