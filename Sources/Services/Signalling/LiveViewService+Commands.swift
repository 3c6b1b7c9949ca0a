import Cameras
import Codecs
import ICE
import MediaRelay
import SDP
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
        _ = try ledger.lease(mediaSessionId, of: principal)
        end(mediaSessionId, reason: "the viewer stopped the live view")
    }

    public func startTalkback(
        mediaSessionId: String, principal: String, offerSdp: String?
    ) async throws(SignallingError) {
        let lease = try ledger.lease(mediaSessionId, of: principal)
        guard let session = sessions[mediaSessionId] else { throw .unknownSession }
        guard let speaker = session.station.source.speaker else {
            throw .failedPrecondition("\(lease.deviceID) has no speaker")
        }
        guard !session.talkbackCodecs.isEmpty else {
            throw .failedPrecondition(
                "this live view was started without a microphone: offer sendrecv audio when starting it")
        }
        try floor.take(deviceID: lease.deviceID, sessionID: mediaSessionId)
        guard session.talkback == nil else { return }
        do {
            let decoder = try TalkbackDecoder(speaker: speaker, codecs: session.talkbackCodecs)
            sessions[mediaSessionId]?.talkback = decoder
            relay.setTalkbackSink(mediaSessionId, decoder)
        } catch {
            _ = floor.release(sessionID: mediaSessionId)
            throw .internalFault("the talkback decoder could not be made: \(error)")
        }
    }

    public func stopTalkback(mediaSessionId: String, principal: String) async throws(SignallingError) {
        _ = try ledger.lease(mediaSessionId, of: principal)
        releaseFloor(mediaSessionId)
    }

    public func changeLiveViewQuality(
        mediaSessionId: String, principal: String, qualityHint: QualityHint
    ) async throws(SignallingError) -> QualityHint {
        _ = try ledger.lease(mediaSessionId, of: principal)
        // A camera has one stream here, so the nearest to any wish is that one, whatever its size.
        return .unspecified
    }

    public func trickle(
        _ fragment: String, mediaSessionId: String, principal: String
    ) async throws(SignallingError) -> TrickleResult {
        _ = try ledger.lease(mediaSessionId, of: principal)
        guard let session = sessions[mediaSessionId] else { throw .unknownSession }
        let parsed: TrickleFragment
        do {
            parsed = try TrickleFragment(parsing: fragment)
        } catch {
            throw .invalidOffer("the fragment cannot be read: \(error)")
        }
        let candidates = parsed.allCandidates.compactMap(RemoteCandidate.init(_:))
        guard let credentials = parsed.credentials,
            credentials.usernameFragment != session.remoteCredentials.usernameFragment
        else {
            relay.addRemoteCandidates(mediaSessionId, candidates)
            return .added
        }
        return restart(
            mediaSessionId,
            remote: ICECredentials(usernameFragment: credentials.usernameFragment, password: credentials.password),
            candidates: candidates, mid: parsed.sections.first?.mid)
    }

    /// RFC 9725, section 4.4.2: other credentials in a fragment start ICE again.
    private func restart(
        _ sessionID: String, remote: ICECredentials, candidates: [RemoteCandidate], mid: String?
    ) -> TrickleResult {
        let local = ICECredentials(usernameFragment: random.iceCharacters(8), password: random.iceCharacters(24))
        sessions[sessionID]?.localCredentials = local
        sessions[sessionID]?.remoteCredentials = remote
        sessions[sessionID]?.generation += 1
        relay.restartICE(sessionID, local: local, remote: remote)
        relay.addRemoteCandidates(sessionID, candidates)
        let fragment = TrickleFragment(
            usernameFragment: local.usernameFragment, password: local.password,
            sections: [
                TrickleFragment.Section(
                    mid: mid, candidates: self.candidates(sessions[sessionID]?.hosts ?? []), isComplete: true)
            ])
        return .restarted(fragment: fragment.encoded(), iceGeneration: "\(sessions[sessionID]?.generation ?? 1)")
    }

    public func sessions() async -> [LiveViewSnapshot] {
        let statistics = await relay.statistics()
        let now = now
        return sessions.compactMap { sessionID, session in
            guard let lease = ledger.leases[sessionID] else { return nil }
            let isConnected = session.status.isConnected
            return LiveViewSnapshot(
                mediaSessionId: sessionID, deviceID: lease.deviceID, principal: lease.principal,
                state: isConnected ? "connected" : "connecting", expiresInSeconds: (lease.expiry - now).inSeconds,
                isTalking: floor.isTalking(sessionID), codecs: session.codecs,
                steps: session.status.steps.map {
                    LiveViewSnapshot.Step(name: $0.step.rawValue, milliseconds: $0.elapsed.inMilliseconds)
                },
                statistics: LiveViewSnapshot.Statistics(statistics[sessionID] ?? ViewerStatistics()),
                notes: session.notes)
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
