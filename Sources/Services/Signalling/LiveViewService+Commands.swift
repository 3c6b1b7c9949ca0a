import Cameras
import Codecs
import MediaRelay
import SDP
import Stations
import Transport

extension LiveViewService {
    public func extendLiveView(
        mediaSessionId: String, principal: String, extendedDurationSeconds: UInt16?
    ) async throws(SignallingError) -> UInt16 {
        let granted = try ledger.extend(
            mediaSessionId, of: principal, bySeconds: extendedDurationSeconds, at: now)
        armExpiry()
        return granted
    }

    public func stopLiveView(mediaSessionId: String, principal: String) async throws(SignallingError) {
        guard !hasEnded(mediaSessionId, principal: principal) else { return }
        _ = try ledger.lease(mediaSessionId, of: principal)
        end(mediaSessionId, reason: "the viewer stopped the live view")
    }

    public func deviceOfEnded(_ mediaSessionId: String, principal: String) async -> String? {
        guard let entry = ended.entry(mediaSessionId, .liveView, at: now), entry.principal == principal else {
            return nil
        }
        return entry.deviceID
    }

    /// Whether this was a session of the principal's.
    func hasEnded(_ mediaSessionId: String, principal: String) -> Bool {
        ended.entry(mediaSessionId, .liveView, at: now)?.principal == principal
    }

    public func changeLiveViewQuality(
        mediaSessionId: String, principal: String, qualityHint: QualityHint
    ) async throws(SignallingError) -> QualityHint {
        _ = try ledger.lease(mediaSessionId, of: principal)
        guard let session = sessions[mediaSessionId] else { throw .unknownSession }
        guard let index = session.streams.firstIndex(where: { $0.track.description.kind == .video }) else {
            return .unspecified
        }
        let stream = session.streams[index]
        let tracks = session.station.tracks
        // What offer and answer agreed on stays: the other stream must be of the same codec.
        let candidates = tracks.filter { track in
            track.description.kind == .video && track.description.codec.suits(stream.codec)
        }
        guard Set(tracks.filter { $0.description.kind == .video }.map(\.description.stream)).count > 1 else {
            // A camera with one stream: the nearest to any wish is that one, whatever its size.
            return .unspecified
        }
        let wanted: TrackDescription.Stream = qualityHint == .sd ? .sub : .main
        let best = LiveViewNegotiation.ranked(candidates, hint: qualityHint).first { $0.description.stream == wanted }
        if let best, best.id != stream.track.id {
            let use = try SignallingError.translating { () throws(StationError) in try session.station.use(best.id) }
            let used = session.uses[stream.track.id]
            sessions[mediaSessionId]?.uses[stream.track.id] = nil
            sessions[mediaSessionId]?.uses[best.id] = use
            sessions[mediaSessionId]?.streams[index].track = best
            // The relay sends the old one until the new one has a key frame, so that it has to be made meanwhile.
            relay.moveViewer(mediaSessionId, from: stream.track.id, to: best.id) { used?.end() }
        }
        let used = best?.description.stream ?? stream.track.description.stream
        if used == .sub { return .sd }
        return qualityHint == .unspecified || qualityHint == .sd ? .hd : qualityHint
    }

    public func trickle(
        _ fragment: String, mediaSessionId: String, principal: String
    ) async throws(SignallingError) -> TrickleResult {
        _ = try ledger.lease(mediaSessionId, of: principal)
        guard var transport = sessions[mediaSessionId]?.transport else { throw .unknownSession }
        let result = try transport.take(fragment, of: mediaSessionId, relay: relay, random: &random)
        sessions[mediaSessionId]?.transport = transport
        return result
    }

    public func sessions() async -> [LiveViewSnapshot] {
        let statistics = await relay.statistics()
        let now = now
        return sessions.compactMap { sessionID, session in
            guard let lease = ledger.leases[sessionID] else { return nil }
            let isConnected = session.status.isConnected
            let camera = session.station.snapshot
            let failures = session.streams.compactMap { session.station.failure(of: $0.track.id) }
            let costs = session.streams.compactMap { session.station.cost(of: $0.track.id)?.words }
            return LiveViewSnapshot(
                mediaSessionId: sessionID, deviceID: lease.deviceID, principal: lease.principal,
                state: isConnected ? "connected" : "connecting", expiresInSeconds: (lease.expiry - now).inSeconds,
                isTalking: session.talk?.isOpen ?? false, codecs: session.streams.map(\.codec.name),
                steps: session.status.steps.map {
                    LiveViewSnapshot.Step(name: $0.step.rawValue, milliseconds: $0.elapsed.inMilliseconds)
                },
                statistics: LiveViewSnapshot.Statistics(statistics[sessionID] ?? ViewerStatistics()),
                notes: session.notes + failures + costs, cameraState: camera.state.name,
                cameraReason: camera.state == .flowing ? camera.reason : camera.reason ?? camera.state.words,
                talkback: talkback(of: session))
        }.sorted { $0.mediaSessionId < $1.mediaSessionId }
    }
}

extension LiveViewSnapshot.Statistics {
    init(_ statistics: ViewerStatistics) {
        self.init()
        packetsSent = statistics.packetsSent
        bytesSent = statistics.bytesSent
        packetsRetransmitted = statistics.packetsRetransmitted
        framesDropped = statistics.framesDropped
        keyFrameRequests = statistics.keyFrameRequests
        fractionLost = statistics.fractionLost
        roundTripMilliseconds = statistics.roundTrip?.inMilliseconds ?? 0
        talkbackPackets = statistics.talkbackPackets
        refusedDatagrams = statistics.refusedDatagrams
    }
}
