import Cameras
import DTLS
import DatagramPort
import ICE
import MediaRelay
import PeerConnection
import SDP
import Transport

/// One publisher. It lasts until it ends itself, another takes its place, or its consent is lost (RFC 7675).
struct PublishingSession {
    let deviceID: String
    let principal: String
    let source: WHIPSource
    let publication: Publication
    var remoteFragment: String
    let hosts: [TransportAddress]
    var generation = 1
}

/// Hands what the relay receives to the camera's source.
private final class PublicationSink: PublisherSink {
    let publication: Publication

    init(_ publication: Publication) { self.publication = publication }

    func receive(_ packet: UnsafeRawBufferPointer, track: Int, at now: Instant) {
        publication.receive(packet, track: track, at: now)
    }

    func receiveNothing(track: Int, since last: Instant, at now: Instant) {
        publication.receiveNothing(track: track, since: last, at: now)
    }

    func receiveSenderReport(track: Int, ntp: UInt64, rtpTimestamp: UInt32, at now: Instant) {
        publication.receiveSenderReport(track: track, ntp: ntp, rtpTimestamp: rtpTimestamp, at: now)
    }
}

extension LiveViewService {
    public func requirePublishing(deviceID: String) async throws(SignallingError) {
        _ = try publishedSource(of: deviceID)
    }

    private func publishedSource(
        of deviceID: String
    ) throws(SignallingError) -> (CameraStation, WHIPSource) {
        guard let station = stations[deviceID] else { throw .unknownDevice(deviceID) }
        guard let source = station.source.publishing else {
            throw .failedPrecondition(
                "\(deviceID) has a source of its own; only a camera with source: whip can be published to")
        }
        return (station, source)
    }

    public func startPublishing(
        _ request: StartLiveViewRequest
    ) async throws(SignallingError) -> StartLiveViewResponse {
        let (station, source) = try publishedSource(of: request.deviceID)
        let local = ICECredentials(usernameFragment: random.iceCharacters(8), password: random.iceCharacters(24))
        let hosts = hostCandidates(reached: request.reachedAddresses)
        let isWatched = ledger.leases.values.contains { $0.deviceID == request.deviceID }
        let fingerprint = configuration.identity.fingerprint
        let transport = LocalTransportDescription(
            usernameFragment: local.usernameFragment, password: local.password,
            fingerprints: [Fingerprint(algorithm: fingerprint.algorithm.rawValue, bytes: fingerprint.bytes)],
            candidates: candidates(hosts))
        // Who watches stays when the publisher comes back with the same codecs.
        let negotiation = PublisherNegotiation(preferred: isWatched ? station.snapshot.tracks.map(\.codec) : [])
        let offer = try parse(request.offerSdp)
        let negotiated: NegotiatedSession
        do throws(OfferRefusal) {
            negotiated = try negotiation.answer(offer, local: transport)
        } catch {
            throw error.error
        }
        let media = negotiated.media.filter { $0.direction.receives }
            .sorted { $0.kind == .video && $1.kind != .video }
        for (sessionID, session) in publishers.sorted(by: { $0.key < $1.key })
        where session.deviceID == request.deviceID {
            endPublisher(sessionID, reason: "another publisher has taken the camera over")
        }
        let sessionID = random.sessionIdentifier()
        let relay = relay
        let started = source.begin(
            media.map { TrackDescription(kind: $0.kind, codec: $0.codec, payloadType: $0.payloadType) }
        ) {
            relay.requestKeyFrame(ofPublisher: sessionID, track: $0)
        } stopped: { [weak self] in
            Task { await self?.endPublisher(sessionID, reason: "the camera has been stopped or changed") }
        }
        guard let publication = started else { throw .cameraUnavailable("\(request.deviceID) has been stopped") }
        let remote = ICECredentials(
            usernameFragment: negotiated.remote.usernameFragment, password: negotiated.remote.password)
        publishers[sessionID] = PublishingSession(
            deviceID: request.deviceID, principal: request.principal, source: source, publication: publication,
            remoteFragment: remote.usernameFragment, hosts: hosts)
        let events = viewerEvents
        var peer = PeerConnectionConfiguration(
            iceRole: negotiated.remote.isLite ? .controlling : .controlled, localCredentials: local,
            remoteCredentials: remote, remoteIsLite: negotiated.remote.isLite, hostAddresses: hosts,
            remoteCandidates: negotiated.remote.candidates.compactMap(RemoteCandidate.init(_:)),
            dtlsRole: negotiated.localSetup == .active ? .client : .server, identity: configuration.identity,
            remoteFingerprints: negotiated.remote.fingerprints.compactMap(DTLSFingerprint.init(_:)))
        peer.remoteCandidatesAreComplete = negotiated.remote.hasAllCandidates
        peer.reach = Self.reach(of: request)
        var publisher = PublisherConfiguration(
            sessionID: sessionID, peer: peer, tracks: media.map(Self.publishedTrack),
            reducedSizeRTCP: media.allSatisfy(\.reducedSizeRTCP))
        publisher.principal = request.principal
        relay.addPublisher(
            publisher,
            status: ViewerStatus(), sink: PublicationSink(publication)
        ) { event in events.yield((sessionID, event)) }
        announce(
            .publisherStarted(sessionID: sessionID, deviceID: request.deviceID, principal: request.principal))
        return StartLiveViewResponse(
            mediaSessionId: sessionID, answerSdp: negotiated.answer.encoded(), liveSessionDurationSeconds: 0,
            iceGeneration: "1", notes: negotiated.notes)
    }

    private static func publishedTrack(_ media: NegotiatedMedia) -> PublishedTrack {
        PublishedTrack(
            isVideo: media.kind == .video, payloadType: media.payloadType,
            retransmissionPayloadType: media.receiveRetransmissionPayloadTypes.filter { $0.value == media.payloadType }
                .keys.min(), ssrc: media.remoteSSRCs.first, clockRate: media.codec.clockRate,
            takesNack: media.kind == .video && media.feedback.contains(.nack),
            takesPictureLossIndication: media.feedback.contains(.pli),
            transportSequenceExtension: media.feedback.contains(.transportCC)
                ? media.headerExtensions.transportWideCC : nil,
            wantsEstimate: media.feedback.contains(.remb) && !media.feedback.contains(.transportCC))
    }

    public func stopPublishing(
        sessionID: String, deviceID: String, principal: String
    ) async throws(SignallingError) {
        // A publisher that has ended by itself, or whose place another has taken, has what it wants.
        if let entry = ended.entry(sessionID, .publisher, at: now), entry.deviceID == deviceID,
            entry.principal == principal
        {
            return
        }
        _ = try publisher(sessionID, deviceID, principal)
        endPublisher(sessionID, reason: "the publisher has stopped")
    }

    public func requirePublisher(
        sessionID: String, deviceID: String, principal: String
    ) async throws(SignallingError) {
        _ = try publisher(sessionID, deviceID, principal)
    }

    public func tricklePublisher(
        _ fragment: String, sessionID: String, deviceID: String, principal: String
    ) async throws(SignallingError) -> TrickleResult {
        let session = try publisher(sessionID, deviceID, principal)
        let parsed: TrickleFragment
        do {
            parsed = try TrickleFragment(parsing: fragment)
        } catch {
            throw .invalidOffer("the fragment cannot be read: \(error)")
        }
        if let fault = parsed.credentialFault { throw .invalidOffer(fault) }
        let candidates = parsed.allCandidates.compactMap(RemoteCandidate.init(_:))
        guard let credentials = parsed.credentials, credentials.usernameFragment != session.remoteFragment else {
            relay.addRemoteCandidates(sessionID, candidates, areComplete: parsed.endsCandidates)
            return .added
        }
        let local = ICECredentials(usernameFragment: random.iceCharacters(8), password: random.iceCharacters(24))
        publishers[sessionID]?.remoteFragment = credentials.usernameFragment
        publishers[sessionID]?.generation += 1
        relay.restartICE(
            sessionID, local: local,
            remote: ICECredentials(usernameFragment: credentials.usernameFragment, password: credentials.password))
        relay.addRemoteCandidates(sessionID, candidates, areComplete: parsed.endsCandidates)
        let answer = TrickleFragment(
            usernameFragment: local.usernameFragment, password: local.password,
            sections: [
                TrickleFragment.Section(
                    mid: parsed.sections.first?.mid, candidates: self.candidates(session.hosts), isComplete: true)
            ])
        return .restarted(fragment: answer.encoded(), iceGeneration: "\(session.generation + 1)")
    }

    private func publisher(
        _ sessionID: String, _ deviceID: String, _ principal: String
    ) throws(SignallingError) -> PublishingSession {
        guard let session = publishers[sessionID], session.deviceID == deviceID, session.principal == principal
        else { throw .unknownSession }
        return session
    }

    /// Ends a publisher, whoever wants it; nothing happens when it has ended already.
    func endPublisher(_ sessionID: String, reason: String) {
        guard let session = publishers.removeValue(forKey: sessionID) else { return }
        ended.note(sessionID, .publisher, deviceID: session.deviceID, principal: session.principal, at: now)
        relay.removeViewer(sessionID, reason: reason)
        session.source.end(session.publication, reason: reason)
        announce(.publisherEnded(sessionID: sessionID, deviceID: session.deviceID, reason: reason))
    }
}
