import Cameras
import DatagramPort
import MediaRelay
import SDP
import StationFakes
import Testing
import Transport

@testable import Signalling
@testable import Stations

/// A service with one camera that is published to, and one that is pulled.
private struct PublishingWorld {
    let world: ServiceWorld
    let source = PublishedSource()
    let station: CameraStation

    init() async throws {
        world = try await ServiceWorld()
        station = CameraStation(id: "phone", source: source, relay: world.relay)
        await world.signalling.add(station)
        station.start()
    }

    func publish(
        _ offer: String = "chromium-sendonly-publish-av", device: String = "phone", principal: String = "owner"
    ) async throws -> StartLiveViewResponse {
        let text = try ServiceWorld.text("offers/\(offer).offer.sdp")
        return try await world.publishing.startPublishing(
            StartLiveViewRequest(deviceID: device, principal: principal, offerSdp: text))
    }

    func stop(_ session: String, device: String = "phone", principal: String = "owner") async throws {
        try await world.publishing.stopPublishing(SessionReference(session, of: device, principal: principal))
    }

    /// How many publishers the relay has, after all that was asked of it has been done.
    func publisherCount() async -> Int { await world.relay.counters().publishers }

    static let waiting = SourceState.backingOff(seconds: 0, reason: .noPublisher(after: nil))
    static let stopped = SourceState.backingOff(
        seconds: 0, reason: .noPublisher(after: .stopped))
}

@Suite(.ownThread) struct PublishingTests {
    @Test func aPublisherBecomesTheCameraAndEnds() async throws {
        let publishing = try await PublishingWorld()
        #expect(publishing.station.snapshot.state == PublishingWorld.waiting)
        let session = try await publishing.publish()
        #expect(publishing.station.snapshot.state == .connecting)
        // The picture comes first, whatever the order of the offer.
        #expect(publishing.station.snapshot.tracks.map(\.codec.name) == ["VP8", "opus"])
        let answer = try SessionDescription(parsing: session.answerSdp)
        #expect(answer.media.allSatisfy { answer.direction(of: $0) == .recvonly })
        #expect(await publishing.publisherCount() == 1)
        try await publishing.world.publishing.requirePublisher(
            SessionReference(session.mediaSessionId, of: "phone", principal: "owner"))
        try await publishing.stop(session.mediaSessionId)
        #expect(publishing.station.snapshot.state == PublishingWorld.stopped)
        #expect(await publishing.publisherCount() == 0)
        // Ending it again is not an error for the publisher; for everybody else it is as unknown as ever.
        try await publishing.stop(session.mediaSessionId)
        let id = session.mediaSessionId
        #expect(await failure { try await publishing.stop(id, principal: "guest") } == .unknownSession)
        #expect(await failure { try await publishing.stop(id, device: "door") } == .unknownSession)
        #expect(await failure { try await publishing.stop("no-such") } == .unknownSession)
        #expect(await publishing.world.service.sessions().isEmpty)
    }

    @Test func theNewerPublisherTakesOver() async throws {
        let publishing = try await PublishingWorld()
        let first = try await publishing.publish()
        let second = try await publishing.publish("firefox-sendonly-publish-av")
        #expect(await publishing.publisherCount() == 1)
        #expect(publishing.station.snapshot.state == .connecting)
        // A replaced publisher may say goodbye, which ends nobody else.
        try await publishing.stop(first.mediaSessionId)
        #expect(await publishing.publisherCount() == 1)
        try await publishing.stop(second.mediaSessionId)
        #expect(publishing.station.snapshot.state == PublishingWorld.stopped)
    }

    @Test func onlyThePublisherItselfReachesItsSession() async throws {
        let publishing = try await PublishingWorld()
        let session = try await publishing.publish().mediaSessionId
        #expect(await failure { try await publishing.stop(session, principal: "guest") } == .unknownSession)
        #expect(await failure { try await publishing.stop(session, device: "door") } == .unknownSession)
        let fragment = "a=ice-ufrag:other\r\na=ice-pwd:0123456789abcdefghijklmn\r\n"
        #expect(
            await failure {
                _ = try await publishing.world.publishing.tricklePublisher(
                    fragment, SessionReference(session, of: "phone", principal: "guest"))
            } == .unknownSession)
        #expect(await publishing.publisherCount() == 1)
    }

    @Test func candidatesAreAddedAndICEIsRestarted() async throws {
        let publishing = try await PublishingWorld()
        let session = try await publishing.publish().mediaSessionId
        func trickle(_ fragment: String) async throws -> TrickleResult {
            try await publishing.world.publishing.tricklePublisher(
                fragment, SessionReference(session, of: "phone", principal: "owner"))
        }
        let candidate = "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\na=candidate:1 1 udp 1 192.0.2.9 5000 typ host\r\n"
        guard case .added = try await trickle(candidate) else {
            Issue.record("a candidate is not a restart")
            return
        }
        guard
            case .restarted(let answer, let generation) = try await trickle(
                "a=ice-ufrag:other\r\na=ice-pwd:0123456789abcdefghijklmn\r\n")
        else {
            Issue.record("other credentials are a restart")
            return
        }
        #expect(generation == "2")
        #expect(try TrickleFragment(parsing: answer).credentials != nil)
        #expect(
            await failure { _ = try await trickle("no fragment") }
                == .unreadableFragment(.notADescription(line: 1, text: "no fragment")))
    }

    @Test func whatCannotBePublishedIsRefused() async throws {
        let publishing = try await PublishingWorld()
        #expect(
            await failure { _ = try await publishing.publish(device: "door") } == .takesNoPublisher(device: "door"))
        #expect(
            await failure { _ = try await publishing.publish(device: "attic") } == .unknownDevice("attic"))
        #expect(
            await failure { _ = try await publishing.publish("chromium-recvonly-av") }?.kind == .codecMismatch,
            "a peer that sends nothing is not a publisher")
        // What is refused disturbs nobody.
        let session = try await publishing.publish()
        #expect(await failure { _ = try await publishing.publish("chromium-recvonly-av") } != nil)
        try await publishing.stop(session.mediaSessionId)
    }

    @Test func aCameraThatGoesEndsItsPublisher() async throws {
        let publishing = try await PublishingWorld()
        let session = try await publishing.publish()
        await publishing.world.signalling.remove("phone")
        #expect(await publishing.publisherCount() == 0)
        try await publishing.stop(session.mediaSessionId)
        let other = try await PublishingWorld()
        _ = try await other.publish()
        await other.world.signalling.endAll()
        #expect(await other.publisherCount() == 0)
        other.station.stop()
        #expect(await failure { _ = try await other.publish() } == .stopped(device: "phone"))
    }
}
