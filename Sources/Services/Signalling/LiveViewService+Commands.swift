import Cameras
import Codecs
import HomeTypes
import MediaRelay
import SDP
import Stations
import Transport

extension LiveViewService {
    func extendLiveView(
        _ reference: SessionReference, extendedDurationSeconds: UInt16?
    ) async throws(SignallingError) -> UInt16 {
        let session = try registry.session(reference)
        let granted = try ledger.extend(
            session.id, of: session.principal, bySeconds: extendedDurationSeconds, at: now)
        armExpiry()
        registry.changes.add(session.id)
        return granted
    }

    func stopLiveView(_ reference: SessionReference) async throws(SignallingError) {
        guard let session = try registry.sessionOrEnded(reference) else { return }
        await end(session.id, because: .stopped)
    }

    func requireSession(_ reference: SessionReference) async throws(SignallingError) {
        _ = try registry.session(reference)
    }

    func changeLiveViewQuality(
        _ reference: SessionReference, qualityHint: QualityHint
    ) async throws(SignallingError) -> QualityHint {
        let mediaSessionId = try registry.session(reference).id
        guard let session = sessions[mediaSessionId] else { throw .unknownSession }
        guard let index = session.streams.firstIndex(where: { $0.track.description.kind == .video }) else {
            return .unspecified
        }
        let stream = session.streams[index]
        let tracks = session.station.tracks
        // The agreement of offer and answer does not change, so the other stream must have the same codec.
        let candidates = tracks.filter { track in
            track.description.kind == .video && track.description.codec.suits(stream.codec)
        }
        guard Set(tracks.filter { $0.description.kind == .video }.map(\.description.stream)).count > 1 else {
            // A camera with one stream has only that one to offer, whatever its size.
            return .unspecified
        }
        let wanted: CameraStream = qualityHint == .sd ? .sub : .main
        let best = LiveViewNegotiation.ranked(candidates, hint: qualityHint).first { $0.description.stream == wanted }
        if let best, best.id != stream.track.id {
            let use = try SignallingError.translating { () throws(StationError) in
                try session.station.use(best.id, for: .liveView)
            }
            let used = session.uses[stream.track.id]
            sessions[mediaSessionId]?.uses[stream.track.id] = nil
            sessions[mediaSessionId]?.uses[best.id] = use
            sessions[mediaSessionId]?.streams[index].track = best
            // The relay sends the old track until the new one has a key frame, so the old one is still needed.
            relay.moveViewer(mediaSessionId, from: stream.track.id, to: best.id) { used?.end() }
            registry.changes.add(mediaSessionId)
        }
        let used = best?.description.stream ?? stream.track.description.stream
        if used == .sub { return .sd }
        return [.unspecified, .sd, .unrecognized_].contains(qualityHint) ? .hd : qualityHint
    }

    func trickle(
        _ fragment: String, _ reference: SessionReference, reachedAddresses: [String]
    ) async throws(SignallingError) -> TrickleResult {
        let id = try registry.session(reference).id
        guard var transport = sessions[id]?.transport else { throw .unknownSession }
        let result = try transport.take(
            fragment, of: id, reached: reachedAddresses, in: registry, random: &random)
        sessions[id]?.transport = transport
        return result
    }
}
