import Cameras
import DatagramPort
import HomeTypes
import MediaRelay
import PeerConnection
import SDP
import Stations
import Transport

extension LiveViewService {
    func startLiveView(
        _ request: StartLiveViewRequest
    ) async throws(SignallingError) -> StartLiveViewResponse {
        let offerReceived = MonotonicClock.now
        let station = try registry.station(of: request.deviceID)
        let offer = try SessionDescription(offer: request.offerSdp)
        let placement = registry.relay.place(for: request.deviceID)
        let sessionID = registry.identifier(at: placement, using: &random)
        // From here on the view does not begin, or ends, when the camera is switched off.
        let permit = try SignallingError.translating { () throws(StationError) in
            try station.outputs.permit(for: .liveView, owner: sessionID) { [weak self] revocation in
                await self?.revoke(sessionID, because: revocation.refusal)
            }
        }
        // The place is reserved before the wait for the camera, so many starts at once cannot get past the limits.
        let place = try await takePlace(deviceID: request.deviceID, principal: request.principal)
        defer { ledger.cancel(place) }
        // The pull starts now. The camera connects while the viewer's own connection is made. Data channels alone do not
        // need the camera.
        let hasOnlyData = offer.offersDataChannels && !offer.asksForMedia
        let hold = hasOnlyData ? nil : station.hold(for: .liveView)
        let layout =
            hasOnlyData
            ? .empty : await station.tracks(within: request.timeLeft(at: now, atMost: configuration.cameraTimeout))
        // Nothing waits between this and the session's start, so a permit that is revoked later finds the session.
        try SignallingError.translating { () throws(StationError) in try permit.check() }
        if let deadline = request.deadline, deadline <= now {
            throw .noMediaBeforeDeadline(device: request.deviceID)
        }
        guard hasOnlyData || !layout.tracks.isEmpty else {
            throw .station(.noMedia(camera: request.deviceID, station.snapshot.state))
        }

        var transport = SessionTransport(for: request, at: placement, in: registry, random: &random)
        let agreement = try negotiate(
            offer, of: station, layout, hint: request.qualityHint, local: transport.description)
        let negotiated = agreement.session
        let streams = negotiated.media.compactMap { stream(for: $0, of: agreement, camera: request.deviceID) }

        // The camera may have been removed during the wait.
        guard registry.has(station) else { throw .unknownDevice(request.deviceID) }
        let talkbackCodecs = negotiated.media.first { $0.kind == .audio && $0.direction.receives }?
            .receivePayloadTypes
        let uses = try SignallingError.translating { () throws(StationError) in
            try station.use(streams.map(\.track.id), for: .liveView)
        }
        _ = ledger.start(place, sessionID: sessionID, at: now)
        let peer = transport.connect(negotiated)
        let line = negotiated.dataChannels.map {
            channels.begin(sessionID, station: station, principal: request.principal, $0)
        }
        let observer = station.observe { [trackReports] event in
            if case .tracks = event { trackReports.add(sessionID) }
        }
        let session = Session(
            station: station, status: SessionStatus { [changes = registry.changes] in changes.add(sessionID) },
            choice: Session.Choice(isBounded: request.qualityHint == .sd),
            streams: streams, offerNotes: agreement.generalNotes, transport: transport, permit: permit, hold: hold,
            uses: uses, observer: observer)
        sessions[sessionID] = session
        registry.begin(
            SignallingRegistry.Session(
                id: sessionID, deviceID: request.deviceID, principal: request.principal, station: station,
                talkbackCodecs: talkbackCodecs ?? [:]))
        var viewer = ViewerConfiguration(
            sessionID: sessionID, peer: peer,
            egress: streams.map(\.egress),
            talkbackPayloadTypes: (talkbackCodecs ?? [:]).keys.sorted(), offerReceived: offerReceived,
            answerReady: MonotonicClock.now)
        viewer.principal = request.principal
        viewer.dataSink = line.map(ChannelSink.init)
        let events = viewerEvents
        relay.addViewer(viewer, status: session.status) { event in events.yield((sessionID, event)) }
        // The camera may have reported a stream since the layout was read.
        if station.tracks != layout.tracks { takeWantedStream(sessionID) }
        sessions[sessionID]?.transport.lookUpNames(of: sessionID, in: registry)
        registry.announce(
            .started(mediaSessionId: sessionID, deviceID: request.deviceID, principal: request.principal))
        armExpiry()
        return StartLiveViewResponse(
            mediaSessionId: sessionID, answerSdp: negotiated.answer.encoded(),
            liveSessionDurationSeconds: configuration.limits.durationSeconds, iceGeneration: "\(transport.generation)",
            notes: session.notes)
    }

    private func negotiate(
        _ offer: SessionDescription, of station: CameraStation, _ layout: TrackLayout, hint: QualityHint?,
        local: LocalTransportDescription
    ) throws(SignallingError) -> LiveViewNegotiation.Agreement {
        let negotiation = LiveViewNegotiation(
            camera: station.id, layout: layout, speaks: station.source.speaker != nil,
            transcodesVideo: station.configuration.transcodesVideo != .never)
        do throws(OfferRefusal) {
            return try negotiation.answer(offer, local: local, hint: hint, random: &random)
        } catch {
            throw .refusedOffer(error)
        }
    }

    private func stream(
        for media: NegotiatedMedia, of agreement: LiveViewNegotiation.Agreement, camera: String
    ) -> Session.Stream? {
        guard let track = agreement.track(for: media) else { return nil }
        var retransmission: (ssrc: UInt32, payloadType: UInt8)?
        if let payloadType = media.rtxPayloadType, let ssrc = media.rtxSSRC {
            retransmission = (ssrc, payloadType)
        }
        // Without a retransmission stream, a packet is sent again unchanged, so it must not carry a number of its own.
        let sequenceExtension = media.headerExtensions.transportWideCC.flatMap { (1...14).contains($0) ? $0 : nil }
        let numbered = media.kind == .audio || retransmission != nil
        var egress = EgressConfiguration(
            track: track.id, isVideo: media.kind == .video, ssrc: media.ssrc,
            payloadType: media.payloadType, retransmission: retransmission,
            transportSequenceExtension: numbered ? sequenceExtension : nil, canonicalName: camera)
        egress.playoutDelayExtension = media.headerExtensions.playoutDelay
        return Session.Stream(
            track: track, transcoding: track.transcodingNote(among: agreement.tracks), codec: media.codec,
            egress: egress)
    }
}

extension LiveViewService {
    /// Reserves a place for a session that is being started. If there is none, views that never connected give way.
    func takePlace(deviceID: String, principal: String) async throws(SignallingError) -> SessionLedger.Reservation {
        // Each turn ends a lease, and their number is limited.
        while let obstacle = ledger.obstacle(deviceID: deviceID, principal: principal) {
            guard let abandoned = abandoned(for: principal, at: obstacle, deviceID: deviceID) else {
                throw obstacle.error
            }
            await end(abandoned, because: .gaveWay)
        }
        return try ledger.reserve(deviceID: deviceID, principal: principal)
    }

    /// The view that gives way first: the oldest of the principal with the most views that never connected.
    ///
    /// It must be one that the obstacle counts. A view of the owner gives way only to the owner.
    private func abandoned(
        for principal: String, at obstacle: SessionLedger.Obstacle, deviceID: String
    ) -> String? {
        let now = now
        let candidates = ledger.leases.values.filter { lease in
            if obstacle.scope == .camera, lease.deviceID != deviceID { return false }
            switch obstacle.refusal {
            case .share where lease.principal != principal: return false
            case .full, .reserved, .share:
                if lease.principal == PlaceShares.owner, principal != PlaceShares.owner { return false }
            }
            guard now - lease.start >= configuration.connectingGrace else { return false }
            return sessions[lease.sessionID].map { !$0.status.isConnected } ?? true
        }
        let counts = candidates.reduce(into: [:]) { $0[$1.principal, default: 0] += 1 }
        return candidates.min { left, right in
            let (leftCount, rightCount) = (counts[left.principal] ?? 0, counts[right.principal] ?? 0)
            if leftCount != rightCount { return leftCount > rightCount }
            return (left.start, left.sessionID) < (right.start, right.sessionID)
        }?.sessionID
    }
}

extension SessionDescription {
    /// Reads an offer.
    init(offer text: String) throws(SignallingError) {
        do throws(SDPError) {
            try self.init(parsing: text)
        } catch {
            throw .unreadableOffer(error)
        }
    }
}
