import Cameras
import Codecs
import MediaRelay
import RTP
import SDP
import Stations
import Transport

/// Which of a camera's tracks are recorded.
struct RecordingSource: Sendable, Equatable {
    /// The pictures; nil for a camera without any that can be recorded.
    var pictures: StationTrack?
    /// The sound; nil for a camera without any that can be recorded.
    var sound: StationTrack?
    /// Of the main stream or the smaller one.
    var stream: CameraStream

    /// Codecs whose pictures are recorded as they are.
    private static let picturesAsTheyAre = ["h264", "h265", "vp8", "vp9", "av1"]

    /// Chooses from the tracks of a station: of the wanted stream, or of the other one where that has none. Pictures in
    /// another codec, for example Motion JPEG, are recorded as the VP8 that viewers get. Of two tracks of sound, one
    /// that is recorded as it is comes first.
    init(choosingFrom tracks: [StationTrack], stream: CameraStream = .main) {
        self.stream = stream
        func best(_ kind: MediaKind, _ rank: (StationTrack) -> Int?) -> StationTrack? {
            tracks.filter { $0.description.kind == kind }
                .compactMap { track in rank(track).map { (track, $0 + (track.description.stream == stream ? 0 : 100)) }
                }
                .min { $0.1 < $1.1 }?.0
        }
        pictures = best(.video) { track in
            let isKnown = Self.picturesAsTheyAre.contains(track.description.codec.name.lowercased())
            return isKnown ? (track.derivedFrom == nil ? 0 : 10) : nil
        }
        sound = best(.audio) { track in
            guard track.derivedFrom == nil else { return nil }
            if SoundReader.passes(track.description.codec) { return 0 }
            return SpeechDecoders.canDecode(track.description.codec) ? 1 : nil
        }
    }

    /// The parameter sets that the session description of H.264 and H.265 states, each after a start code.
    static func outOfBandParameters(of codec: MediaCodec) -> [UInt8] {
        ["sprop-vps", "sprop-sps", "sprop-pps", "sprop-parameter-sets"]
            .compactMap { codec.formatParameters[$0] }
            .flatMap { $0.split(separator: ",") }
            .compactMap { Base64.decode($0) }
            .filter { (1...0xFFFF).contains($0.count) }
            .flatMap { [0, 0, 0, 1] + $0 }
    }
}
