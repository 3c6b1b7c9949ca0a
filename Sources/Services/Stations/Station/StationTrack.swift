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
    /// The position of this track, or of the one that it is made from, among the tracks that the source announced.
    public var position: Int

    /// The camera's track that the gateway makes this one from; nil for the camera's own.
    public var derivedFrom: TrackID? { id.derivedFrom }
}

/// The tracks of a station, worked out from what its camera sends.
public struct TrackLayout: Sendable, Equatable {
    /// The camera's own tracks first, in their order, then the derived ones.
    public internal(set) var tracks: [StationTrack] = []
    /// Why tracks cannot be transcoded to ones that browsers play.
    public internal(set) var faults: [TrackFault] = []

    /// The layout of a camera that sends nothing.
    public static let empty = TrackLayout()

    /// Works out the tracks.
    /// - Parameters:
    ///   - camera: the camera's identifier.
    ///   - described: what the camera sends.
    ///   - transcodesVideo: whether video that a viewer cannot play is transcoded to VP8.
    public init(camera: String, tracks described: [TrackDescription], transcodesVideo: TranscodingMode) {
        var counts: [CameraStream: Int] = [:]
        for (position, description) in described.enumerated() {
            let id = TrackID(
                camera: camera, stream: description.stream, kind: description.kind,
                index: counts[description.stream, default: 0])
            counts[description.stream, default: 0] += 1
            tracks.append(StationTrack(id: id, description: description, position: position))
        }
        for track in tracks {
            var derived = track
            derived.id = track.id.derived
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
                faults.append(.untranscodable(codec: track.description.codec.name, error))
            }
        }
    }

    private init() {}
}
