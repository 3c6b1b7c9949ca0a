import Cameras
import DTLS
import DatagramPort
import ICE
import MediaRelay
import PeerConnection
import SDP
import Stations
import Transport

/// How a publisher's packets come.
private enum PublisherPath {
    /// By WebRTC, through the relay.
    case relay(SessionTransport)
    /// Through a server of its protocol. `ended` is called once when anything else ends the publisher.
    case server(ended: @Sendable (PublisherEnd) -> Void)
}

/// One publisher. It lasts until it ends itself, another takes its place, or its connection is lost (RFC 7675).
private struct PublishingSession {
    let deviceID: String
    let principal: String
    let source: any PublicationTaker
    let publication: Publication
    var path: PublisherPath
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

/// Publishers: programs whose media is a camera, by whichever protocol.
actor Publishing: PublishingServing {
    private let registry: SignallingRegistry
    private var publishers: [String: PublishingSession] = [:]
    /// The publishers that have ended recently. Ending one of them again is not an error.
    private var ended = EndedSessions()
    private var starts = PublisherStarts()
    private var random = RandomSource.system
    /// The ends that the relay reports, in its order.
    private let relayEnds: AsyncStream<(sessionID: String, end: RelayEnd)>.Continuation

    init(_ registry: SignallingRegistry) {
        self.registry = registry
        let (stream, continuation) = AsyncStream.makeStream(of: (sessionID: String, end: RelayEnd).self)
        relayEnds = continuation
        Task { [weak self] in
            for await (sessionID, end) in stream {
                await self?.end(sessionID, because: .relay(end))
            }
        }
    }

    deinit { relayEnds.finish() }

    func requirePublishing(deviceID: String) throws(SignallingError) {
        _ = try publishedSource(of: deviceID)
    }

    private func publishedSource(
        of deviceID: String
    ) throws(SignallingError) -> (CameraStation, any PublicationTaker) {
        let station = try registry.station(of: deviceID)
        guard let source = station.source.publishing else {
            throw .takesNoPublisher(device: deviceID)
        }
        return (station, source)
    }

    /// Ends the publisher before, if there is one. All protocols come here, so they share the limits.
    private func makeWay(to deviceID: String) throws(SignallingError) {
        let takesOver = publishers.values.contains { $0.deviceID == deviceID }
        if let wait = starts.begin(deviceID, takesOver: takesOver, at: registry.now) {
            throw .publishersChangeTooOften(device: deviceID, wait: wait)
        }
        if takesOver { end(of: deviceID, because: .replaced) }
    }

    func startPublishing(_ request: StartLiveViewRequest) throws(SignallingError) -> StartLiveViewResponse {
        let (station, source) = try publishedSource(of: request.deviceID)
        let placement = registry.relay.place(for: request.deviceID)
        var transport = SessionTransport(for: request, at: placement, in: registry, random: &random)
        // Viewers stay when the publisher returns with the same codecs.
        let negotiation = PublisherNegotiation(
            preferred: registry.isWatched(request.deviceID) ? station.snapshot.tracks.map(\.codec) : [])
        let offer = try SessionDescription(offer: request.offerSdp)
        let negotiated: NegotiatedSession
        do throws(OfferRefusal) {
            negotiated = try negotiation.answer(offer, local: transport.description)
        } catch {
            throw .refusedOffer(error)
        }
        let media = negotiated.media.filter { $0.direction.receives }
            .sorted { $0.kind == .video && $1.kind != .video }
        try makeWay(to: request.deviceID)
        let sessionID = registry.identifier(at: placement, using: &random)
        let relay = registry.relay
        let started = source.begin(
            media.map { TrackDescription(kind: $0.kind, codec: $0.codec, payloadType: $0.payloadType) }
        ) {
            relay.requestKeyFrame(ofPublisher: sessionID, track: $0)
        } ended: { [weak self] end in
            Task { await self?.end(sessionID, because: end == .replaced ? .replaced : .sourceStopped) }
        }
        guard let publication = started else { throw .stopped(device: request.deviceID) }
        let peer = transport.connect(negotiated)
        publishers[sessionID] = PublishingSession(
            deviceID: request.deviceID, principal: request.principal, source: source, publication: publication,
            path: .relay(transport))
        let relayEnds = relayEnds
        var publisher = PublisherConfiguration(
            sessionID: sessionID, peer: peer, tracks: media.map(Self.publishedTrack),
            reducedSizeRTCP: media.allSatisfy(\.reducedSizeRTCP))
        publisher.principal = request.principal
        relay.addPublisher(publisher, sink: PublicationSink(publication)) { end in relayEnds.yield((sessionID, end)) }
        transport.lookUpNames(of: sessionID, in: registry)
        publishers[sessionID]?.path = .relay(transport)
        registry.announce(
            .publisherStarted(
                sessionID: sessionID, deviceID: request.deviceID, principal: request.principal, protocolName: "WHIP"))
        return StartLiveViewResponse(
            mediaSessionId: sessionID, answerSdp: negotiated.answer.encoded(), liveSessionDurationSeconds: 0,
            iceGeneration: "\(transport.generation)", notes: negotiated.notes.map(SessionNote.offer))
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

    func startPublishing(
        _ stream: PublishedStream, requestKeyFrame: @escaping @Sendable (Int) -> Void,
        ended: @escaping @Sendable (PublisherEnd) -> Void
    ) throws(SignallingError) -> StartedPublication {
        let (_, source) = try publishedSource(of: stream.deviceID)
        try makeWay(to: stream.deviceID)
        let sessionID = registry.identifier(using: &random)
        let started = source.begin(stream.tracks, requestKeyFrame: requestKeyFrame) { [weak self] end in
            Task { await self?.end(sessionID, because: end == .replaced ? .replaced : .sourceStopped) }
        }
        guard let publication = started else { throw .stopped(device: stream.deviceID) }
        publishers[sessionID] = PublishingSession(
            deviceID: stream.deviceID, principal: stream.principal, source: source, publication: publication,
            path: .server(ended: ended))
        registry.announce(
            .publisherStarted(
                sessionID: sessionID, deviceID: stream.deviceID, principal: stream.principal,
                protocolName: stream.protocolName))
        return StartedPublication(sessionID: sessionID, publication: publication)
    }

    func stopPublishing(_ reference: SessionReference) throws(SignallingError) {
        // A publisher that has ended by itself, or was replaced, has what it wants.
        if let entry = ended.entry(reference.mediaSessionId, .publisher, at: registry.now),
            reference.names(deviceID: entry.deviceID, principal: entry.principal)
        {
            return
        }
        _ = try publisher(reference)
        end(reference.mediaSessionId, because: .stopped)
    }

    func requirePublisher(_ reference: SessionReference) throws(SignallingError) {
        _ = try publisher(reference)
    }

    func tricklePublisher(
        _ fragment: String, _ reference: SessionReference, reachedAddresses: [String]
    ) throws(SignallingError) -> TrickleResult {
        let id = reference.mediaSessionId
        // Only a publisher by WebRTC has candidates.
        guard case .relay(var transport) = try publisher(reference).path else { throw .unknownSession }
        let result = try transport.take(
            fragment, of: id, reached: reachedAddresses, in: registry, random: &random)
        publishers[id]?.path = .relay(transport)
        return result
    }

    private func publisher(_ reference: SessionReference) throws(SignallingError) -> PublishingSession {
        guard let session = publishers[reference.mediaSessionId],
            reference.names(deviceID: session.deviceID, principal: session.principal)
        else { throw .unknownSession }
        return session
    }

    /// Ends the publishers of a device, or all of them.
    func end(of deviceID: String? = nil, because reason: PublisherEnd) {
        for (sessionID, session) in publishers.sorted(by: { $0.key < $1.key })
        where deviceID == nil || session.deviceID == deviceID {
            end(sessionID, because: reason)
        }
    }

    func endPublishers(of principal: String, unless mayPublish: @escaping @Sendable (_ deviceID: String) -> Bool) {
        for (sessionID, session) in publishers.sorted(by: { $0.key < $1.key })
        where session.principal == principal && !mayPublish(session.deviceID) {
            end(sessionID, because: .accessEnded)
        }
    }

    /// Ends a publisher on anybody's request. Has no effect if it has ended already.
    func end(_ sessionID: String, because reason: PublisherEnd) {
        if case .server(let ended) = remove(sessionID, because: reason)?.path { ended(reason) }
    }

    func endPublishing(_ sessionID: String, because end: PublisherEnd) {
        _ = remove(sessionID, because: end)
    }

    private func remove(_ sessionID: String, because reason: PublisherEnd) -> PublishingSession? {
        guard let session = publishers.removeValue(forKey: sessionID) else { return nil }
        ended.record(sessionID, .publisher, deviceID: session.deviceID, principal: session.principal, at: registry.now)
        if case .relay = session.path { registry.relay.removeSession(sessionID) }
        session.source.end(session.publication, because: PublicationEnd(reason))
        registry.announce(.publisherEnded(sessionID: sessionID, deviceID: session.deviceID, end: reason))
        return session
    }
}
