import Cameras
import MediaRelay
import PeerConnection
import SDP
import Stations
import Transport

/// Live views as leases: who watches which camera until when.
///
/// This is control only; no media passes through it. A session consists of an entry in the ``SessionLedger`` and a
/// viewer in the relay, which end together.
actor LiveViewService: LiveViewServing {
    struct Session {
        /// One of the tracks that the session is sent.
        struct Stream {
            var track: StationTrack
            /// What the track is transcoded from; nil for the camera's own.
            var transcoding: SessionNote?
            /// The codec as the viewer named it.
            var codec: MediaCodec
            var egress: EgressConfiguration
        }

        /// Which of the camera's streams the viewer gets.
        struct Choice {
            /// Why it gets that one.
            enum Reason {
                /// By what it asked for: the largest unless it asked for a small one.
                case hint
                /// Its path is too slow for the main stream.
                case path
            }

            /// Whether the viewer wants no more than the smaller stream.
            var isBounded = false
            var reason = Reason.hint
        }

        let station: CameraStation
        let status: SessionStatus
        var choice: Choice
        var streams: [Stream]
        /// What has been said of the offer.
        let offerNotes: [SessionNote]
        var transport: SessionTransport
        /// The session ends when it is revoked.
        let permit: OutputPermit
        /// The camera is pulled as long as the session lives; nil for a session with data channels alone.
        let hold: CameraHold?
        /// The tracks that are made for the session, as long as it lives.
        var uses: [TrackID: CameraHold]
        /// The argument that ends the reports of the camera's tracks.
        let observer: Int
    }

    let registry: SignallingRegistry
    /// A talk ends with its session.
    let talks: TalkFloor
    /// The data channels of the sessions.
    let channels: SessionChannels
    var configuration: SignallingConfiguration { registry.configuration }
    var relay: MediaRelay { registry.relay }
    var now: Instant { registry.now }
    var ledger: SessionLedger
    var sessions: [String: Session] = [:]
    var random = RandomSource.system
    /// The waits for sessions to connect.
    var connectionWaits = ConnectionWaits()
    private var expiry: Task<Void, Never>?
    private var armedFor: Instant?
    /// What the relay reports of viewers, in its order: a viewer connects before it ends.
    let viewerEvents: AsyncStream<(sessionID: String, event: SessionEvent)>.Continuation
    /// The sessions whose camera has reported its tracks.
    let trackReports = ChangedSessions()

    init(_ registry: SignallingRegistry, talks: TalkFloor, channels: SessionChannels) {
        self.registry = registry
        self.talks = talks
        self.channels = channels
        ledger = SessionLedger(limits: registry.configuration.limits)
        let (events, continuation) = AsyncStream.makeStream(of: (sessionID: String, event: SessionEvent).self)
        viewerEvents = continuation
        let trackReports = trackReports
        Task { [weak self] in
            for await (sessionID, event) in events { await self?.viewerChanged(sessionID, event) }
        }
        Task { [weak self] in
            while let changed = await trackReports.next() {
                for sessionID in changed { await self?.takeWantedStream(sessionID) }
            }
        }
    }

    deinit {
        viewerEvents.finish()
        trackReports.finish()
    }

    /// Ends the sessions of a device, or all of them.
    func end(of deviceID: String? = nil, because reason: SessionEnd) async {
        for lease in ledger.leases.values.sorted(by: { $0.sessionID < $1.sessionID })
        where deviceID == nil || lease.deviceID == deviceID {
            await end(lease.sessionID, because: reason)
        }
    }

    /// Ends a session on anybody's request. Has no effect if it has ended already.
    func end(_ sessionID: String, because reason: SessionEnd) async {
        guard let lease = ledger.end(sessionID) else { return }
        await close(lease, because: reason)
    }

    /// The camera was switched off, or a privacy mode was switched on. Returns when nothing more leaves by the session, or when
    /// it is sure that it does not begin.
    func revoke(_ sessionID: String, because refusal: OutputRefusal) async {
        await end(sessionID, because: .revoked(refusal))
        await withCheckedContinuation { continuation in
            relay.removeSession(sessionID) { continuation.resume() }
        }
    }

    private func close(_ lease: SessionLedger.Lease, because reason: SessionEnd) async {
        // From here on no command finds the session, so nothing begins for it that would not end.
        registry.end(lease.sessionID, because: reason)
        connectionWaits.resume(for: lease.sessionID)
        armExpiry()
        let session = sessions.removeValue(forKey: lease.sessionID)
        await talks.forget(lease.sessionID, because: reason)
        if let session {
            session.status.record(.removed)
            session.station.stopObserving(session.observer)
            session.hold?.end()
            for use in session.uses.values { use.end() }
            // The reason of the end goes out before the connection ends.
            await channels.end(lease.sessionID, because: reason)
            relay.removeSession(lease.sessionID, saying: reason.words)
        }
        registry.announce(.ended(mediaSessionId: lease.sessionID, deviceID: lease.deviceID, end: reason))
    }

    /// The relay reports that a viewer has changed.
    func viewerChanged(_ sessionID: String, _ event: SessionEvent) async {
        guard let lease = ledger.leases[sessionID] else { return }
        switch event {
        case .connected:
            connectionWaits.resume(for: sessionID)
            registry.announce(.connected(mediaSessionId: sessionID, deviceID: lease.deviceID))
        case .ended(.viewer(.revoked)):
            let refusal = sessions[sessionID]?.permit.revocation?.refusal
            await end(sessionID, because: refusal.map { .revoked($0) } ?? .relay(.viewer(.revoked)))
        case .ended(let end): await self.end(sessionID, because: .relay(end))
        case .streamWanted(let wish): pickStream(sessionID, wish)
        }
    }

    /// Sets a timer for the end of the next lease or wait.
    func armExpiry() {
        let next = [ledger.nextExpiry, connectionWaits.nextDeadline].compactMap { $0 }.min()
        guard next != armedFor else { return }
        armedFor = next
        expiry?.cancel()
        guard let next else { return }
        expiry = Task { [weak self] in
            guard let now = await self?.now else { return }
            if next > now { try? await Task.sleep(for: next - now) }
            guard !Task.isCancelled else { return }
            await self?.expire()
        }
    }

    /// Ends the sessions whose lease is over, and the waits that have lasted long enough.
    func expire() async {
        armedFor = nil
        connectionWaits.expire(at: now)
        for lease in ledger.expire(at: now) { await close(lease, because: .leaseExpired) }
        armExpiry()
    }
}
