import Cameras
import HomeTypes
import ICE
import MediaRelay
import SDP
import Stations
import Transport

/// Descriptions of the sessions.
extension LiveViewService {
    nonisolated var changedSessions: ChangedSessions { registry.changes }

    func sessions() async -> [LiveViewSnapshot] {
        let statistics = await relay.statistics()
        let talkbacks = await talks.talkbacks()
        return sessions.keys.sorted().compactMap { id in
            snapshot(of: id, statistics[id] ?? ViewerStatistics(), talkbacks[id])
        }
    }

    func session(_ mediaSessionId: String) async -> LiveViewSnapshot? {
        // A guess costs the relay nothing.
        guard sessions[mediaSessionId] != nil else { return nil }
        let statistics = await relay.statistics(of: mediaSessionId) ?? ViewerStatistics()
        return snapshot(of: mediaSessionId, statistics, await talks.talkback(of: mediaSessionId))
    }

    func end(of mediaSessionId: String) async -> SessionEnd? { registry.end(of: mediaSessionId) }

    func leases() async -> [SessionLease] {
        let now = now
        return ledger.leases.values.map { lease in
            SessionLease(
                mediaSessionId: lease.sessionID, deviceID: lease.deviceID, principal: lease.principal,
                isConnected: sessions[lease.sessionID]?.status.isConnected ?? false,
                expiresInSeconds: (lease.expiry - now).inSeconds)
        }.sorted { $0.mediaSessionId < $1.mediaSessionId }
    }

    private func snapshot(
        of id: String, _ statistics: ViewerStatistics, _ talkback: TalkbackSnapshot?
    ) -> LiveViewSnapshot? {
        guard let lease = ledger.leases[id], let session = sessions[id] else { return nil }
        let camera = session.station.snapshot
        let costs = session.streams.compactMap { session.station.cost(of: $0.track.id)?.words }
        return LiveViewSnapshot(
            mediaSessionId: id, deviceID: lease.deviceID, principal: lease.principal,
            state: session.status.isConnected ? .connected : .connecting,
            expiresInSeconds: (lease.expiry - now).inSeconds, isTalking: talkback?.state == .talking,
            codecs: session.streams.map(\.codec.name),
            steps: session.status.steps.map {
                LiveViewSnapshot.Step(name: $0.step.rawValue, milliseconds: $0.elapsed.inMilliseconds)
            },
            statistics: LiveViewSnapshot.Statistics(statistics),
            notes: session.notesWithFailures.map(\.description) + costs,
            cameraState: CameraSourceState(camera.state), cameraReason: camera.explanation,
            path: session.status.path.map(LiveViewSnapshot.Path.init),
            wantsICERestart: session.status.wantsRestart ? true : nil, stream: stream(of: session), talkback: talkback)
    }
}

extension LiveViewService {
    private func stream(of session: Session) -> LiveViewSnapshot.Stream? {
        guard let index = session.videoIndex else { return nil }
        let used = session.streams[index]
        let hasOther = session.station.tracks.contains { track in
            track.description.kind == .video && track.description.codec.suits(used.codec)
                && track.description.stream != used.track.description.stream
        }
        let reason: LiveViewSnapshot.Stream.Reason =
            !hasOther
            ? .only
            : used.track.description.stream == .main
                ? .largest : session.choice.reason == .path ? .path : .hint
        return LiveViewSnapshot.Stream(
            name: used.track.description.stream == .main ? .main : .sub, reason: reason)
    }
}

extension LiveViewSnapshot.Path {
    init(_ kind: ICEPathKind) {
        switch kind {
        case .direct: self = .direct
        case .reflexive: self = .reflexive
        case .relayed: self = .relayed
        case .tcp: self = .tcp
        }
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
        estimatedBitrate = statistics.estimatedBitrate
        isLimited = statistics.isLimited
        talkbackPackets = statistics.talkbackPackets
        refusedDatagrams = statistics.refusedDatagrams
    }
}
