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
        let before = session.choice
        // This counts for a stream that is not known yet, too.
        sessions[mediaSessionId]?.choice.isBounded = qualityHint == .sd
        let videos = session.station.tracks.filter { $0.description.kind == .video }
        guard Set(videos.map(\.description.stream)).count > 1 else {
            // A camera with one stream has only that one to offer, whatever its size.
            return .unspecified
        }
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

    /// The camera has reported its tracks. A viewer that began while one of its streams was unknown gets the stream
    /// that it asked for. Offer and answer stay as they are, so that stream needs the codec that they agreed on.
    func takeWantedStream(_ mediaSessionId: String) {
        // A viewer whose path has chosen for it gets another stream when its path carries that.
        guard let session = sessions[mediaSessionId], let index = session.videoIndex, session.choice.reason == .hint
        else { return }
        let hint: QualityHint? = session.choice.isBounded ? .sd : nil
        let wanted: CameraStream = session.choice.isBounded ? .sub : .main
        // Nobody has asked for a track that the gateway makes if the camera sends another one that fits.
        guard session.streams[index].track.description.stream != wanted,
            candidates(for: session, index, hint: hint).first?.description.stream == wanted
        else { return }
        // Without processor time for the other stream, the viewer keeps its own.
        _ = try? move(mediaSessionId, to: wanted, hint: hint, as: .chosen)
    }

    /// The pictures that a session can be switched to, the best first.
    private func candidates(for session: Session, _ index: Int, hint: QualityHint?) -> [StationTrack] {
        let codec = session.streams[index].codec
        let suitable = session.station.tracks.filter { track in
            track.description.kind == .video && track.description.codec.suits(codec)
        }
        return LiveViewNegotiation.ranked(suitable, hint: hint)
    }

    /// Switches a session to the best track of a stream. False if it has that one, or if the stream has none with the codec that
    /// offer and answer agreed on.
    private func move(
        _ mediaSessionId: String, to wanted: CameraStream, hint: QualityHint?, as kind: TrackSwitch
    ) throws(SignallingError) -> Bool {
        guard let session = sessions[mediaSessionId], let index = session.videoIndex else { return false }
        let stream = session.streams[index]
        let best = candidates(for: session, index, hint: hint).first { $0.description.stream == wanted }
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
        sessions[mediaSessionId]?.streams[index].transcoding = best.transcodingNote(among: session.station.tracks)
        // The relay sends the old track until the new one has a key frame, so the old one is still needed.
        relay.moveViewer(mediaSessionId, from: stream.track.id, to: best.id, as: kind) { used?.end() }
        registry.changes.add(mediaSessionId)
        return true
    }
}

extension LiveViewService.Session {
    /// Which parts of the offer are not used, and which of the camera's tracks the gateway transcodes.
    var notes: [SessionNote] { offerNotes + streams.compactMap(\.transcoding) }

    /// The notes, and why tracks that are made for the session bring nothing.
    var notesWithFailures: [SessionNote] {
        notes + streams.compactMap { station.failure(of: $0.track.id).map { SessionNote.camera(.failed($0)) } }
    }

    /// Where the picture is among the streams; nil if there is none.
    var videoIndex: Int? { streams.firstIndex { $0.track.description.kind == .video } }
}
