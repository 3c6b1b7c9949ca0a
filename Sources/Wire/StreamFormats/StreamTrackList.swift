/// The tracks of a stream: at most one of video and one of audio, and what is left out.
struct StreamTrackList: Sendable {
    private(set) var tracks: [StreamTrack] = []
    private(set) var leftOut: [UnsupportedPart] = []

    private static let maximumLeftOut = 8

    /// The position of the track of this kind.
    func index(isVideo: Bool) -> Int? { tracks.firstIndex { $0.codec.isVideo == isVideo } }

    /// Adds a track, or describes the one of its kind again.
    @discardableResult
    mutating func set(_ codec: StreamTrack.Codec) -> Int {
        if let index = index(isVideo: codec.isVideo) {
            tracks[index].codec = codec
            return index
        }
        tracks.append(StreamTrack(codec))
        return tracks.count - 1
    }

    /// Records a part that is left out, once.
    mutating func leaveOut(_ part: UnsupportedPart) {
        guard leftOut.count < Self.maximumLeftOut, !leftOut.contains(part) else { return }
        leftOut.append(part)
    }
}
