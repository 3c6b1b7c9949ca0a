import Cameras
import DTLS
import DatagramPort
import ICE
import MediaRelay
import PeerConnection
import SDP
import Stations
import Transport

/// One publisher. It lasts until it ends itself, another takes its place, or its consent is lost (RFC 7675).
private struct PublishingSession {
    let deviceID: String
    let principal: String
    let source: any PublicationTaker
    let publication: Publication
    var transport: SessionTransport
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

/// Publishers: programs whose media is a camera (RFC 9725).
actor Publishing {
    private let registry: SignallingRegistry
    private var publishers: [String: PublishingSession] = [:]
    /// What has ended lately: ending it again is no error.
    private var ended = EndedSessions()
    private var random = RandomSource.system
    /// What the relay reports of publishers, in its order.
    private let events: AsyncStream<(sessionID: String, event: ViewerEvent)>.Continuation

    init(_ registry: SignallingRegistry) {
        self.registry = registry
        let (stream, continuation) = AsyncStream.makeStream(of: (sessionID: String, event: ViewerEvent).self)
        events = continuation
        Task { [weak self] in
            for await case (let sessionID, .ended(let reason)) in stream { await self?.end(sessionID, reason: reason) }
        }
    }

    deinit { events.finish() }

    /// Fails unless the device's media is published, and not pulled.
    func require(deviceID: String) throws(SignallingError) {
        _ = try publishedSource(of: deviceID)
    }

    private func publishedSource(
        of deviceID: String
    ) throws(SignallingError) -> (CameraStation, any PublicationTaker) {
        let station = try registry.station(of: deviceID)
        guard let source = station.source.publishing else {
            throw .failedPrecondition(
                "you cannot publish to \(deviceID); only cameras with source: whip accept a publisher")
        }
        return (station, source)
    }

    /// Answers a publisher's offer.
    /// - Parameter isWatched: whether somebody watches the camera. Whoever watches stays when the publisher comes back
    ///   with the same codecs.
    func start(
        _ request: StartLiveViewRequest, isWatched: Bool
    ) throws(SignallingError) -> StartLiveViewResponse {
        let (station, source) = try publishedSource(of: request.deviceID)
        var transport = SessionTransport(for: request, in: registry, random: &random)
        let negotiation = PublisherNegotiation(preferred: isWatched ? station.snapshot.tracks.map(\.codec) : [])
        let offer = try SessionDescription(offer: request.offerSdp)
        let negotiated: NegotiatedSession
        do throws(OfferRefusal) {
            negotiated = try negotiation.answer(offer, local: transport.description)
        } catch {
            throw error.error
        }
        let media = negotiated.media.filter { $0.direction.receives }
            .sorted { $0.kind == .video && $1.kind != .video }
        end(of: request.deviceID, reason: "another publisher has taken over the camera")
        let sessionID = random.sessionIdentifier()
        let relay = registry.relay
        let started = source.begin(
            media.map { TrackDescription(kind: $0.kind, codec: $0.codec, payloadType: $0.payloadType) }
        ) {
            relay.requestKeyFrame(ofPublisher: sessionID, track: $0)
        } stopped: { [weak self] in
            Task { await self?.end(sessionID, reason: "the camera has been stopped or changed") }
        }
        guard let publication = started else { throw .cameraUnavailable("\(request.deviceID) has been stopped") }
        let peer = transport.connect(negotiated)
        publishers[sessionID] = PublishingSession(
            deviceID: request.deviceID, principal: request.principal, source: source, publication: publication,
            transport: transport)
        let events = events
        var publisher = PublisherConfiguration(
            sessionID: sessionID, peer: peer, tracks: media.map(Self.publishedTrack),
            reducedSizeRTCP: media.allSatisfy(\.reducedSizeRTCP))
        publisher.principal = request.principal
        relay.addPublisher(
            publisher,
            status: ViewerStatus(), sink: PublicationSink(publication)
        ) { event in events.yield((sessionID, event)) }
        registry.announce(
            .publisherStarted(sessionID: sessionID, deviceID: request.deviceID, principal: request.principal))
        return StartLiveViewResponse(
            mediaSessionId: sessionID, answerSdp: negotiated.answer.encoded(), liveSessionDurationSeconds: 0,
            iceGeneration: "\(transport.generation)", notes: negotiated.notes)
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

    /// Ends a publisher of the principal's.
    func stop(
        sessionID: String, deviceID: String, principal: String
    ) throws(SignallingError) {
        // A publisher that has ended by itself, or whose place another has taken, has what it wants.
        if let entry = ended.entry(sessionID, .publisher, at: registry.now), entry.deviceID == deviceID,
            entry.principal == principal
        {
            return
        }
        _ = try publisher(sessionID, deviceID, principal)
        end(sessionID, reason: "the publisher has stopped")
    }

    /// Fails unless the publisher is there, the principal's, and of this device.
    func require(
        sessionID: String, deviceID: String, principal: String
    ) throws(SignallingError) {
        _ = try publisher(sessionID, deviceID, principal)
    }

    /// Takes a trickled fragment of a publisher.
    func trickle(
        _ fragment: String, sessionID: String, deviceID: String, principal: String
    ) throws(SignallingError) -> TrickleResult {
        var transport = try publisher(sessionID, deviceID, principal).transport
        let result = try transport.take(fragment, of: sessionID, relay: registry.relay, random: &random)
        publishers[sessionID]?.transport = transport
        return result
    }

    private func publisher(
        _ sessionID: String, _ deviceID: String, _ principal: String
    ) throws(SignallingError) -> PublishingSession {
        guard let session = publishers[sessionID], session.deviceID == deviceID, session.principal == principal
        else { throw .unknownSession }
        return session
    }

    /// Ends the publishers of a device, or all of them.
    func end(of deviceID: String? = nil, reason: String) {
        for (sessionID, session) in publishers.sorted(by: { $0.key < $1.key })
        where deviceID == nil || session.deviceID == deviceID {
            end(sessionID, reason: reason)
        }
    }

    /// Ends a publisher, whoever wants it; nothing happens when it has ended already.
    func end(_ sessionID: String, reason: String) {
        guard let session = publishers.removeValue(forKey: sessionID) else { return }
        ended.note(sessionID, .publisher, deviceID: session.deviceID, principal: session.principal, at: registry.now)
        registry.relay.removeViewer(sessionID, reason: reason)
        session.source.end(session.publication, reason: reason)
        registry.announce(.publisherEnded(sessionID: sessionID, deviceID: session.deviceID, reason: reason))
    }
}
