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
        try ledger.admit(deviceID: request.deviceID, principal: request.principal)
        let offer = try parse(request.offerSdp)
        let tracks = await station.tracks(within: configuration.cameraTimeout)
        guard !tracks.isEmpty else {
            throw .cameraUnavailable(
                "\(request.deviceID) is not delivering: \(describe(station.snapshot.state))")
        }

        let local = ICECredentials(
            usernameFragment: random.iceCharacters(8), password: random.iceCharacters(24))
        let hosts = hostCandidates(reached: request.reachedAddresses)
        let offered = localTracks(tracks, camera: request.deviceID, speaks: station.source.speaker != nil)
        let negotiated = try negotiate(offer, tracks: offered.map(\.track), local: local, hosts: hosts)
        let sending = negotiated.media.filter { $0.direction.sends }
        guard !sending.isEmpty else {
            throw .codecMismatch(
                "nothing of \(request.deviceID) can be played by this viewer: "
                    + negotiated.notes.joined(separator: "; "))
        }

        // The camera may have taken its time, and others may have started meanwhile, or it was removed.
        guard stations[request.deviceID] === station else { throw .unknownDevice(request.deviceID) }
        try ledger.admit(deviceID: request.deviceID, principal: request.principal)
        let sessionID = random.sessionIdentifier()
        let remote = ICECredentials(
            usernameFragment: negotiated.remote.usernameFragment, password: negotiated.remote.password)
        let talkbackCodecs = negotiated.media.first { $0.kind == .audio && $0.direction.receives }?
            .receivePayloadTypes
        _ = ledger.start(
            sessionID: sessionID, deviceID: request.deviceID, principal: request.principal, at: now)
        let session = Session(
            station: station, status: ViewerStatus(), codecs: sending.map(\.codec.name), notes: negotiated.notes,
            talkbackCodecs: talkbackCodecs ?? [:], localCredentials: local, remoteCredentials: remote,
            hosts: hosts)
        sessions[sessionID] = session
        let viewer = ViewerConfiguration(
            sessionID: sessionID,
            peer: PeerConnectionConfiguration(
                iceRole: negotiated.remote.isLite ? .controlling : .controlled, localCredentials: local,
                remoteCredentials: remote, remoteIsLite: negotiated.remote.isLite, hostAddresses: hosts,
                remoteCandidates: negotiated.remote.candidates.compactMap(RemoteCandidate.init(_:)),
                dtlsRole: negotiated.localSetup == .active ? .client : .server, identity: configuration.identity,
                remoteFingerprints: negotiated.remote.fingerprints.compactMap(DTLSFingerprint.init(_:))),
            egress: sending.compactMap { egress(for: $0, among: offered, camera: request.deviceID) },
            talkbackPayloadTypes: (talkbackCodecs ?? [:]).keys.sorted(), offerReceived: offerReceived,
            answerReady: MonotonicClock.now)
        let events = viewerEvents
        relay.addViewer(viewer, status: session.status) { event in events.yield((sessionID, event)) }
        announce(.started(mediaSessionId: sessionID, deviceID: request.deviceID))
        armExpiry()
        return StartLiveViewResponse(
            mediaSessionId: sessionID, answerSdp: negotiated.answer.encoded(),
            liveSessionDurationSeconds: configuration.limits.durationSeconds, iceGeneration: "1",
            notes: negotiated.notes)
    }

    private func parse(_ text: String) throws(SignallingError) -> SessionDescription {
        do {
            return try SessionDescription(parsing: text)
        } catch {
            throw .invalidOffer("the offer is not a session description: \(error)")
        }
    }

    private func negotiate(
        _ offer: SessionDescription, tracks: [LocalTrack], local: ICECredentials, hosts: [TransportAddress]
    ) throws(SignallingError) -> NegotiatedSession {
        let transport = LocalTransportDescription(
            usernameFragment: local.usernameFragment, password: local.password,
            fingerprints: [
                Fingerprint(
                    algorithm: configuration.identity.fingerprint.algorithm.rawValue,
                    bytes: configuration.identity.fingerprint.bytes)
            ],
            candidates: candidates(hosts))
        do {
            return try LiveViewAnswerer(local: transport, tracks: tracks).answer(offer)
        } catch {
            switch error {
            case .codecMismatch(let reason): throw .codecMismatch(reason)
            case .invalidDescription, .noUsableMedia: throw .invalidOffer("\(error)")
            }
        }
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

    private func localTracks(
        _ tracks: [TrackDescription], camera: String, speaks: Bool
    ) -> [(index: Int, track: LocalTrack)] {
        tracks.enumerated().map { index, track in
            let isAudio = track.kind == .audio
            return (
                index,
                LocalTrack(
                    kind: track.kind, codecs: [track.codec], receives: isAudio && speaks,
                    receiveCodecs: isAudio && speaks ? Self.talkbackCodecs : [],
                    ssrc: UInt32(truncatingIfNeeded: random.next()) | 1,
                    rtxSSRC: isAudio ? nil : UInt32(truncatingIfNeeded: random.next()) & ~1,
                    cname: camera, streamID: "\(camera)-\(track.kind.name)",
                    trackID: "\(camera)-\(track.kind.name)-\(index)")
            )
        }
    }

    /// What the gateway can decode of a viewer's microphone, the best first.
    private static let talkbackCodecs: [MediaCodec] = [.opus, .pcmu, .pcma]

    private func egress(
        for media: NegotiatedMedia, among offered: [(index: Int, track: LocalTrack)], camera: String
    ) -> EgressConfiguration? {
        guard let entry = offered.first(where: { $0.track.ssrc == media.ssrc }) else { return nil }
        var retransmission: (ssrc: UInt32, payloadType: UInt8)?
        if let payloadType = media.rtxPayloadType, let ssrc = media.rtxSSRC {
            retransmission = (ssrc, payloadType)
        }
        // Without a retransmission stream a packet is sent again as it was, so it may hold nothing that changes.
        let sequenceExtension = media.headerExtensions.transportWideCC.flatMap { (1...14).contains($0) ? $0 : nil }
        let numbered = media.kind == .audio || retransmission != nil
        return EgressConfiguration(
            track: TrackID(camera: camera, index: entry.index), isVideo: media.kind == .video, ssrc: media.ssrc,
            payloadType: media.payloadType, retransmission: retransmission,
            transportSequenceExtension: numbered ? sequenceExtension : nil, canonicalName: camera)
    }

    private func describe(_ state: SourceState) -> String {
        switch state {
        case .idle: "it has not been started"
        case .resolving: "its host name is being looked up"
        case .connecting: "it is being connected to"
        case .authenticating: "it asks for credentials"
        case .describing: "it is being asked what it sends"
        case .settingUp: "its tracks are being set up"
        case .playing: "it has agreed to play but has sent nothing yet"
        case .flowing: "it is flowing"
        case .stalled(let track): "track \(track) has stalled"
        case .backingOff(let seconds, let reason): "\(reason); the next try is in \(Int(seconds.rounded(.up))) s"
        case .stopped: "it has been stopped"
        }
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
