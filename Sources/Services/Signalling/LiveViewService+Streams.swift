import Cameras
import Codecs
import HomeTypes
import MediaRelay
import SDP
import Stations

/// Which of the camera's streams a session gets: the hint sets the upper bound, and the viewer's path chooses below it.
extension LiveViewService {
    func changeLiveViewQuality(
        _ reference: SessionReference, qualityHint: QualityHint
    ) async throws(SignallingError) -> QualityHint {
        let mediaSessionId = try registry.session(reference).id
        guard let session = sessions[mediaSessionId] else { throw .unknownSession }
        guard let index = session.videoIndex else { return .unspecified }
        let videos = session.station.tracks.filter { $0.description.kind == .video }
        guard Set(videos.map(\.description.stream)).count > 1 else {
            // A camera with one stream has only that one to offer, whatever its size.
            return .unspecified
        }
        let before = session.choice
        sessions[mediaSessionId]?.choice.isBounded = qualityHint == .sd
        // What the path does not carry, no hint brings.
        if qualityHint == .sd || before.reason != .path {
            sessions[mediaSessionId]?.choice.reason = .hint
            do throws(SignallingError) {
                _ = try move(mediaSessionId, to: qualityHint == .sd ? .sub : .main, hint: qualityHint, as: .chosen)
            } catch {
                sessions[mediaSessionId]?.choice = before
                throw error
            }
        }
        let used = sessions[mediaSessionId]?.streams[index].track.description.stream ?? .main
        if used == .sub { return .sd }
        return [.unspecified, .sd, .unrecognized_].contains(qualityHint) ? .hd : qualityHint
    }

    /// The path of a session's viewer is too slow for its stream, or carries a larger one.
    func pickStream(_ mediaSessionId: String, _ wish: StreamWish) {
        guard let session = sessions[mediaSessionId], let index = session.videoIndex else { return }
        switch wish {
        case .smaller where session.streams[index].track.description.stream == .main:
            // If the other stream cannot be had, the viewer gets as much of this one as its path carries.
            guard (try? move(mediaSessionId, to: .sub, hint: .sd, as: .smaller)) == true else { return }
            sessions[mediaSessionId]?.choice.reason = .path
        case .larger where !session.choice.isBounded && session.choice.reason == .path:
            // The relay says so again if the larger stream cannot be had now.
            guard (try? move(mediaSessionId, to: .main, hint: nil, as: .larger)) == true else { return }
            sessions[mediaSessionId]?.choice.reason = .hint
        case .smaller, .larger: return
        }
        registry.changes.add(mediaSessionId)
    }

    /// Switches a session to the best track of a stream. False if it has that one, or if the stream has none with the codec that
    /// offer and answer agreed on.
    private func move(
        _ mediaSessionId: String, to wanted: CameraStream, hint: QualityHint?, as kind: TrackSwitch
    ) throws(SignallingError) -> Bool {
        guard let session = sessions[mediaSessionId], let index = session.videoIndex else { return false }
        let stream = session.streams[index]
        let candidates = session.station.tracks.filter { track in
            track.description.kind == .video && track.description.codec.suits(stream.codec)
        }
        let best = LiveViewNegotiation.ranked(candidates, hint: hint).first { $0.description.stream == wanted }
        guard let best else { return false }
        guard best.id != stream.track.id else {
            // The relay has to know that it is a choice now, so that it stops probing for a larger stream.
            if kind == .chosen { relay.moveViewer(mediaSessionId, from: best.id, to: best.id, as: kind) }
            return false
        }
        let use = try SignallingError.translating { () throws(StationError) in
            try session.station.use(best.id, for: .liveView)
        }
        let used = session.uses[stream.track.id]
        sessions[mediaSessionId]?.uses[stream.track.id] = nil
        sessions[mediaSessionId]?.uses[best.id] = use
        sessions[mediaSessionId]?.streams[index].track = best
        // The relay sends the old track until the new one has a key frame, so the old one is still needed.
        relay.moveViewer(mediaSessionId, from: stream.track.id, to: best.id, as: kind) { used?.end() }
        registry.changes.add(mediaSessionId)
        return true
    }
}

extension LiveViewService.Session {
    /// Where the picture is among the streams; nil if there is none.
    var videoIndex: Int? { streams.firstIndex { $0.track.description.kind == .video } }
}
