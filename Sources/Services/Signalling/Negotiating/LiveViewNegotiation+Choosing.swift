import Cameras
import HomeTypes
import MediaRelay
import SDP
import Stations
import Transport

/// A track that a viewer is offered, and how it is named to the viewer.
struct OfferedTrack {
    var track: StationTrack
    var local: LocalTrack
}

extension LiveViewNegotiation {
    /// What a viewer can be given from a camera, the best of each kind first: tracks that are passed through before
    /// those that the gateway has to make, and the main stream before the smaller one, unless the viewer prefers a
    /// small picture.
    static func ranked(_ tracks: [StationTrack], hint: QualityHint?) -> [StationTrack] {
        let prefersSub = hint == .sd
        // Browsers stutter on B-frames, so they cannot play such a stream.
        let playable = tracks.filter { $0.derivedFrom != nil || !$0.description.reordersPictures }
        func rank(_ position: Int) -> (Int, Int, Int, Int) {
            let track = playable[position]
            let isDerived = track.derivedFrom == nil ? 0 : 1
            let isOtherStream = (track.description.stream == .sub) == prefersSub ? 0 : 1
            // Among sound that can be passed through, Opus is the best; otherwise the camera's own first choice.
            let codec = track.description.kind == .audio && !track.description.codec.isNamed("opus") ? 1 : 0
            return (isDerived, codec, isOtherStream, position)
        }
        return playable.indices.sorted { rank($0) < rank($1) }.map { playable[$0] }
    }

    /// The tracks in the form that the answerer expects.
    func offeredTracks(_ hint: QualityHint?, _ random: inout RandomSource) -> [OfferedTrack] {
        Self.ranked(layout.tracks, hint: hint).map { track in
            let kind = track.description.kind
            let talks = kind == .audio && speaks
            return OfferedTrack(
                track: track,
                local: LocalTrack(
                    kind: kind, codecs: [track.description.codec], receives: talks,
                    receiveCodecs: talks ? Self.talkbackCodecs : [],
                    ssrc: UInt32(truncatingIfNeeded: random.next()) | 1,
                    rtxSSRC: kind == .audio ? nil : UInt32(truncatingIfNeeded: random.next()) & ~1,
                    cname: camera, streamID: "\(camera)-\(kind.name)",
                    trackID: track.id.description, choice: kind.name))
        }
    }

    /// What the gateway can decode of a viewer's microphone, the best codec first.
    private static let talkbackCodecs: [MediaCodec] = [.opus, .pcmu, .pcma]

    /// Why a viewer can play no picture from a camera, and what would help.
    func mismatch(_ offer: SessionDescription) -> OfferRefusal {
        let own = layout.tracks.filter { $0.derivedFrom == nil && $0.description.kind == .video }
        var played: [MediaCodec] = []
        for payload in offer.media.filter({ $0.kind == .video }).flatMap(\.payloads) where !payload.codec.isAuxiliary {
            if !played.contains(where: { $0.summary == payload.codec.summary }) { played.append(payload.codec) }
        }
        var remedies: [VideoMismatch.Remedy] = []
        if !transcodesVideo {
            remedies.append(.allowTranscoding)
        } else if !played.contains(where: { $0.summary.lowercased() == "vp8" }) {
            remedies.append(.useViewerWithVP8)
        }
        if !own.contains(where: { $0.description.stream == .sub }) { remedies.append(.addSubstream) }
        remedies.append(.changeCodec)
        let mismatch = VideoMismatch(
            camera: camera, sent: own.map(\.description), played: played, remedies: remedies, notes: layout.notes)
        return OfferRefusal(.noPlayableVideo(mismatch), line: offer.lineOfMedia { $0.kind == .video })
    }
}
