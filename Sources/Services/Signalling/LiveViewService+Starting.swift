import Cameras
import DTLS
import DatagramPort
import ICE
import MediaRelay
import PeerConnection
import SDP
import Transport

extension LiveViewService: LiveViewServing {
    public func startLiveView(
        _ request: StartLiveViewRequest
    ) async throws(SignallingError) -> StartLiveViewResponse {
        let offerReceived = MonotonicClock.now
        guard let station = stations[request.deviceID] else { throw .unknownDevice(request.deviceID) }
        let offer = try parse(request.offerSdp)
        // The place is held while the camera is waited for, so that no number of starts at once gets past the limits.
        let place = try takePlace(deviceID: request.deviceID, principal: request.principal)
        defer { ledger.cancel(place) }
        // The camera is woken now, and connects while the viewer's own connection is made.
        let pull = station.acquire(reason: "live view")
        let layout = await station.tracks(within: configuration.cameraTimeout)
        guard !layout.tracks.isEmpty else {
            throw .cameraUnavailable(
                "\(request.deviceID) is not delivering: \(station.snapshot.state.words)")
        }

        let local = ICECredentials(
            usernameFragment: random.iceCharacters(8), password: random.iceCharacters(24))
        let hosts = hostCandidates(reached: request.reachedAddresses)
        let agreement = try negotiate(
            offer, of: station, layout, hint: request.qualityHint, local: local, hosts: hosts)
        let negotiated = agreement.session
        let streams = negotiated.media.compactMap { stream(for: $0, of: agreement, camera: request.deviceID) }

        // The camera may have taken its time, and it may have been removed meanwhile.
        guard stations[request.deviceID] === station else { throw .unknownDevice(request.deviceID) }
        let sessionID = random.sessionIdentifier()
        let remote = ICECredentials(
            usernameFragment: negotiated.remote.usernameFragment, password: negotiated.remote.password)
        let talkbackCodecs = negotiated.media.first { $0.kind == .audio && $0.direction.receives }?
            .receivePayloadTypes
        let uses = try station.use(streams.map(\.track.id))
        _ = ledger.start(place, sessionID: sessionID, at: now)
        let session = Session(
            station: station, status: ViewerStatus(), streams: streams,
            notes: agreement.notes,
            talkbackCodecs: talkbackCodecs ?? [:], localCredentials: local, remoteCredentials: remote,
            hosts: hosts, pull: pull, uses: uses)
        sessions[sessionID] = session
        var peer = PeerConnectionConfiguration(
            iceRole: negotiated.remote.isLite ? .controlling : .controlled, localCredentials: local,
            remoteCredentials: remote, remoteIsLite: negotiated.remote.isLite, hostAddresses: hosts,
            remoteCandidates: negotiated.remote.candidates.compactMap(RemoteCandidate.init(_:)),
            dtlsRole: negotiated.localSetup == .active ? .client : .server, identity: configuration.identity,
            remoteFingerprints: negotiated.remote.fingerprints.compactMap(DTLSFingerprint.init(_:)))
        peer.remoteCandidatesAreComplete = negotiated.remote.hasAllCandidates
        peer.timing = configuration.connectivity
        peer.reach = Self.reach(of: request)
        var viewer = ViewerConfiguration(
            sessionID: sessionID, peer: peer,
            egress: streams.map(\.egress),
            talkbackPayloadTypes: (talkbackCodecs ?? [:]).keys.sorted(), offerReceived: offerReceived,
            answerReady: MonotonicClock.now)
        viewer.principal = request.principal
        let events = viewerEvents
        relay.addViewer(viewer, status: session.status) { event in events.yield((sessionID, event)) }
        announce(
            .started(mediaSessionId: sessionID, deviceID: request.deviceID, principal: request.principal))
        armExpiry()
        return StartLiveViewResponse(
            mediaSessionId: sessionID, answerSdp: negotiated.answer.encoded(),
            liveSessionDurationSeconds: configuration.limits.durationSeconds, iceGeneration: "1",
            notes: session.notes)
    }

    func parse(_ text: String) throws(SignallingError) -> SessionDescription {
        do {
            return try SessionDescription(parsing: text)
        } catch {
            throw .invalidOffer("the offer is not a session description: \(error)")
        }
    }

    private func negotiate(
        _ offer: SessionDescription, of station: CameraStation, _ layout: TrackLayout, hint: QualityHint?,
        local: ICECredentials, hosts: [TransportAddress]
    ) throws(SignallingError) -> LiveViewNegotiation.Agreement {
        let fingerprint = configuration.identity.fingerprint
        let transport = LocalTransportDescription(
            usernameFragment: local.usernameFragment, password: local.password,
            fingerprints: [Fingerprint(algorithm: fingerprint.algorithm.rawValue, bytes: fingerprint.bytes)],
            candidates: candidates(hosts))
        let negotiation = LiveViewNegotiation(
            camera: station.id, layout: layout, speaks: station.source.speaker != nil,
            transcodesVideo: station.configuration.transcodesVideo != .never)
        do throws(OfferRefusal) {
            return try negotiation.answer(offer, local: transport, hint: hint, random: &random)
        } catch {
            throw error.error
        }
    }

    /// Where checks for this viewer may go: to link-local addresses only when its own request came from one.
    static func reach(of request: StartLiveViewRequest) -> ICEReach {
        var reach = ICEReach()
        let address = request.viewerAddress.flatMap { TransportAddress($0, port: 1) }
        reach.includesLinkLocal = address?.isLinkLocal ?? false
        return reach
    }

    /// The addresses at which this viewer may reach the media port: first the one that it has just reached the gateway
    /// at, because that one works, then those of the config, then those of the host's interfaces.
    func hostCandidates(reached: [String]) -> [TransportAddress] {
        let port = relay.port.localPort
        var addresses = reached.compactMap { TransportAddress($0, port: port) }
        addresses += configuration.addresses.map { $0.withPort(port) }
        addresses += configuration.interfaceAddresses().map { $0.withPort(port) }
        if addresses.isEmpty { addresses = [TransportAddress(ipv4: 0x7F00_0001, port: port)] }
        var seen = Set<TransportAddress>()
        return addresses.filter { $0.isUsableDestination && seen.insert($0).inserted }
    }

    /// Host candidates for `addresses`, preferred in their order (RFC 8445, section 5.1.2.1).
    func candidates(_ addresses: [TransportAddress]) -> [ICECandidate] {
        addresses.enumerated().map { index, address in
            let localPreference = UInt32(max(0, 65_535 - index))
            return ICECandidate(
                foundation: "\(index + 1)", priority: 126 << 24 | localPreference << 8 | 255, address: address)
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
        // Without a retransmission stream a packet is sent again as it was, so it may hold nothing that changes.
        let sequenceExtension = media.headerExtensions.transportWideCC.flatMap { (1...14).contains($0) ? $0 : nil }
        let numbered = media.kind == .audio || retransmission != nil
        return Session.Stream(
            track: track, codec: media.codec,
            egress: EgressConfiguration(
                track: track.id, isVideo: media.kind == .video, ssrc: media.ssrc,
                payloadType: media.payloadType, retransmission: retransmission,
                transportSequenceExtension: numbered ? sequenceExtension : nil, canonicalName: camera))
    }
}

extension RandomSource {
    /// A name that cannot be guessed: 128 random bits as 32 hexadecimal digits.
    mutating func sessionIdentifier() -> String {
        [next(), next()].map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

extension DTLSFingerprint {
    /// The fingerprint of an SDP line, nil when its hash function is not trusted.
    init?(_ fingerprint: Fingerprint) {
        guard let algorithm = Algorithm(rawValue: fingerprint.algorithm) else { return nil }
        self.init(algorithm: algorithm, bytes: fingerprint.bytes)
    }
}

extension RemoteCandidate {
    /// The candidate of an SDP line, nil when it is no UDP candidate with a literal address. An mDNS name is never
    /// resolved: the peer's own checks show its address sooner than a resolver could.
    init?(_ candidate: ICECandidate) {
        guard candidate.transport == .udp, candidate.component == 1, let address = candidate.address else { return nil }
        self.init(address: address, priority: candidate.priority)
    }
}
