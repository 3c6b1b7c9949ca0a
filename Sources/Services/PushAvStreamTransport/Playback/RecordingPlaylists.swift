import FragmentedMP4
import Transport

/// Playlists of recorded footage for players of HTTP Live Streaming (RFC 8216).
///
/// Addresses in them are relative to the playlist: `recordings/NAME/tracks/TRACK/…`.
public struct RecordingPlaylists: Sendable {
    /// Which of the tracks of each recording a playlist has.
    public enum Kind: String, Sendable, CaseIterable { case video, audio }

    private let footage: RecordedRange
    /// Whether recordings that still run may add segments.
    private let mayGrow: Bool

    /// Makes playlists of footage.
    /// - Parameter mayGrow: whether the range reaches into the future, so that a recording that runs adds segments.
    public init(_ footage: RecordedRange, mayGrow: Bool = false) {
        self.footage = footage
        self.mayGrow = mayGrow && footage.pieces.contains { $0.recording.end == nil }
    }

    /// The playlist that names the others.
    /// - Parameter uri: the address of the playlist of each kind.
    public func multivariant(uri: (Kind) -> String) -> HLSMultivariantPlaylist {
        let video = track(.video)
        let audio = track(.audio)
        let rates = (peak(.video), peak(.audio))
        if let video {
            return HLSMultivariantPlaylist(
                variants: [
                    .init(
                        uri: uri(.video), bandwidth: rates.0 + rates.1,
                        codecs: [video.codec] + (audio.map { [$0.codec] } ?? []),
                        resolution: video.width.flatMap { width in video.height.map { (width, $0) } },
                        audioGroup: audio == nil ? nil : "sound")
                ],
                renditions: audio == nil
                    ? [] : [.init(group: "sound", name: "Sound", uri: uri(.audio), isDefault: true)])
        }
        return HLSMultivariantPlaylist(
            variants: audio.map { [.init(uri: uri(.audio), bandwidth: rates.1, codecs: [$0.codec])] } ?? [])
    }

    /// The playlist of one kind of track; nil when no recording has such a track.
    public func media(_ kind: Kind) -> HLSMediaPlaylist? {
        var segments: [HLSMediaPlaylist.Segment] = []
        var hasTrack = false
        for piece in footage.pieces {
            guard let index = index(kind, in: piece) else { continue }
            hasTrack = true
            let track = piece.recording.session.tracks[index]
            let base = "\(RecordingLayout.name(piece.recording.session.id))/tracks/\(track.name)/"
            var previous: StoredSegment?
            for segment in piece.segments(ofTrack: index) where segment.isComplete {
                let end = segment.end(timescale: track.timescale)
                guard segment.wallTime < piece.range.upperBound, end > piece.range.lowerBound else { continue }
                let isFirst = previous == nil
                // Players go on counting. If something is missing, the playlist states the time again.
                let isGap = previous.map { $0.decodeTime + $0.duration != segment.decodeTime } ?? true
                segments.append(
                    HLSMediaPlaylist.Segment(
                        uri: base + "\(segment.number).m4s",
                        duration: Double(segment.duration) / Double(max(1, track.timescale)),
                        capturedAt: isGap
                            ? WallTime(millisecondsSince1970: segment.wallTime / 1_000) : nil,
                        isDiscontinuous: isFirst && !segments.isEmpty,
                        initialization: isFirst ? .init(uri: base + "init.mp4") : nil))
                previous = segment
            }
        }
        guard hasTrack else { return nil }
        return HLSMediaPlaylist(
            kind: mayGrow ? .event : .complete, isEnded: !mayGrow, targetDuration: 1, segments: segments)
    }

    private func index(_ kind: Kind, in piece: RecordedRange.Piece) -> Int? {
        piece.tracks.first { piece.recording.session.tracks[$0].isVideo == (kind == .video) }
    }

    private func track(_ kind: Kind) -> RecordingSession.Track? {
        for piece in footage.pieces {
            if let index = index(kind, in: piece) { return piece.recording.session.tracks[index] }
        }
        return nil
    }

    /// The highest rate of a segment, in bits per second (RFC 8216, section 4.3.4.2).
    private func peak(_ kind: Kind) -> Int {
        var peak = 0.0
        for piece in footage.pieces {
            guard let index = index(kind, in: piece) else { continue }
            let timescale = Double(max(1, piece.recording.session.tracks[index].timescale))
            for segment in piece.segments(ofTrack: index) where segment.duration > 0 {
                peak = max(peak, Double(segment.byteCount) * 8 * timescale / Double(segment.duration))
            }
        }
        return Int(min(peak.rounded(.up), 1e12))
    }
}
