import Foundation
import HomeTypes
import ICE
import MediaRelay
import PeerConnection
import SDP
import StationFakes
import Testing
import Transport

@testable import Signalling
@testable import Stations

@Suite(.ownThread) struct LeaseTests {
    @Test func aLeaseThatIsNotExtendedEnds() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start()
        world.clock.advance(by: .seconds(299))
        await world.service.expire()
        #expect(await world.service.sessions().first?.expiresInSeconds == 1)
        world.clock.advance(by: .seconds(1))
        await world.service.expire()
        #expect(await world.service.sessions().isEmpty)
        #expect(await world.viewerCount() == 0)
        #expect(world.announcements.ends == [.leaseExpired])
        let error = await failure {
            _ = try await world.service.extendLiveView(
                SessionReference(session.mediaSessionId, principal: "owner"), extendedDurationSeconds: nil)
        }
        #expect(error == .unknownSession)
    }

    @Test func extensionsKeepALeaseForHalfAnHour() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start()
        for _ in 0..<30 {
            world.clock.advance(by: .seconds(60))
            await world.service.expire()
            let granted = try await world.service.extendLiveView(
                SessionReference(session.mediaSessionId, principal: "owner"), extendedDurationSeconds: nil)
            #expect(granted == 300)
        }
        #expect(await world.service.sessions().count == 1)
        #expect(await world.viewerCount() == 1)
    }

    /// Apps renew 30 seconds before the end on iOS, and 5 on Android.
    @Test(arguments: [30, 5]) func anAppThatRenewsBeforeTheEndKeepsItsView(seconds: Int) async throws {
        let world = try await ServiceWorld()
        let session = try await world.start()
        var duration = 300
        for _ in 0..<20 {
            world.clock.advance(by: .seconds(duration - seconds))
            await world.service.expire()
            duration = Int(
                try await world.service.extendLiveView(
                    SessionReference(session.mediaSessionId, principal: "owner"), extendedDurationSeconds: nil))
            #expect(duration == 300)
            #expect(await world.service.sessions().first?.expiresInSeconds == 300)
        }
        #expect(await world.viewerCount() == 1)
    }

    @Test func theLimitEndsEvenAnExtendedLease() async throws {
        let world = try await ServiceWorld { $0.maximumDurationSeconds = 400 }
        let session = try await world.start()
        world.clock.advance(by: .seconds(250))
        let granted = try await world.service.extendLiveView(
            SessionReference(session.mediaSessionId, principal: "owner"), extendedDurationSeconds: 3_600)
        #expect(granted == 150)
        world.clock.advance(by: .seconds(150))
        await world.service.expire()
        #expect(await world.service.sessions().isEmpty)
    }

    @Test func onlyItsOwnerHasASession() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start()
        let id = session.mediaSessionId
        let (service, talks) = (world.service, world.talks)
        let attempts: [@Sendable () async throws -> Void] = [
            {
                _ = try await service.extendLiveView(
                    SessionReference(id, principal: "guest"), extendedDurationSeconds: nil)
            },
            {
                try await service.stopLiveView(SessionReference(id, principal: "guest"))
            },
            {
                try await talks.startTalkback(SessionReference(id, principal: "guest"), offerSdp: nil)
            },
            {
                try await talks.stopTalkback(SessionReference(id, principal: "guest"))
            },
            {
                _ = try await service.trickle("a=ice-ufrag:x\r\n", SessionReference(id, principal: "guest"))
            },
            {
                _ = try await service.changeLiveViewQuality(
                    SessionReference(id, principal: "guest"), qualityHint: .hd)
            },
        ]
        for attempt in attempts { #expect(await failure(attempt) == .unknownSession) }
        #expect(await service.sessions().count == 1)
        try await service.stopLiveView(SessionReference(id, principal: "owner"))
        // Ending it again is not an error, but only for its owner; it ends once.
        try await service.stopLiveView(SessionReference(id, principal: "owner"))
        try await talks.stopTalkback(SessionReference(id, principal: "owner"))
        for attempt in attempts { #expect(await failure(attempt) == .unknownSession) }
        #expect(world.announcements.ends.count == 1)
        #expect(await world.viewerCount() == 0)
    }

    @Test func anOrphanIsReleased() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start()
        // What the relay reports when a viewer's consent has expired.
        await world.service.viewerChanged(session.mediaSessionId, .ended(.connectionFailed(.consentExpired)))
        #expect(await world.service.sessions().isEmpty)
        #expect(world.announcements.ends == [.relay(.connectionFailed(.consentExpired))])
        #expect(await world.viewerCount() == 0)
        // Told twice, it happens once.
        await world.service.viewerChanged(session.mediaSessionId, .ended(.viewer(.trackGone)))
        #expect(world.announcements.ends.count == 1)
    }

    @Test func theEndOfACameraOrOfTheServiceEndsTheSessions() async throws {
        let world = try await ServiceWorld()
        _ = try await world.start()
        await world.signalling.remove("door")
        #expect(world.announcements.ends == [.cameraGone(.removed)])
        let error = await failure { _ = try await world.start() }
        #expect(error == .unknownDevice("door"))

        let changed = try await ServiceWorld()
        _ = try await changed.start()
        await changed.signalling.remove("door", because: .restarting)
        #expect(changed.announcements.ends == [.cameraGone(.restarting)])

        let other = try await ServiceWorld()
        _ = try await other.start()
        _ = try await other.start(principal: "guest")
        await other.signalling.endAll()
        #expect(other.announcements.ends == [.shuttingDown, .shuttingDown])
        #expect(await other.viewerCount() == 0)
    }

    @Test func qualityIsTheCamerasOwn() async throws {
        let world = try await ServiceWorld()
        let session = try await world.start()
        for hint in QualityHint.allCases {
            let used = try await world.service.changeLiveViewQuality(
                SessionReference(session.mediaSessionId, principal: "owner"), qualityHint: hint)
            #expect(used == .unspecified)
        }
    }
}

@Suite(.ownThread) struct TalkbackTests {
    @Test func oneSessionTalksAtATime() async throws {
        let world = try await ServiceWorld()
        let first = try await world.start()
        let second = try await world.start(principal: "guest")
        let (service, talks) = (world.service, world.talks)
        try await talks.startTalkback(SessionReference(first.mediaSessionId, principal: "owner"), offerSdp: nil)
        // Asking twice is asking once.
        try await talks.startTalkback(SessionReference(first.mediaSessionId, principal: "owner"), offerSdp: nil)
        #expect(await service.sessions().filter(\.isTalking).map(\.mediaSessionId) == [first.mediaSessionId])
        let busy = await failure {
            try await talks.startTalkback(SessionReference(second.mediaSessionId, principal: "guest"), offerSdp: nil)
        }
        #expect(busy == .floorTaken(device: "door", by: .session))
        try await talks.stopTalkback(SessionReference(first.mediaSessionId, principal: "owner"))
        try await talks.stopTalkback(SessionReference(first.mediaSessionId, principal: "owner"))
        #expect(world.camera.fakeSpeaker?.ends == 1)
        try await talks.startTalkback(SessionReference(second.mediaSessionId, principal: "guest"), offerSdp: nil)
        // The end of a session gives the floor back.
        try await service.stopLiveView(SessionReference(second.mediaSessionId, principal: "guest"))
        #expect(world.camera.fakeSpeaker?.ends == 2)
        try await talks.startTalkback(SessionReference(first.mediaSessionId, principal: "owner"), offerSdp: nil)
    }

    @Test func talkingNeedsASpeakerAndAMicrophone() async throws {
        let mute = try await ServiceWorld(speaks: false)
        let session = try await mute.start()
        let noSpeaker = await failure {
            try await mute.talks.startTalkback(
                SessionReference(session.mediaSessionId, principal: "owner"), offerSdp: nil)
        }
        #expect(noSpeaker == .noSpeaker(device: "door"))

        let world = try await ServiceWorld()
        let listener = try await world.start(try ServiceWorld.text("offers/chromium-recvonly-av.offer.sdp"))
        let noMicrophone = await failure {
            try await world.talks.startTalkback(
                SessionReference(listener.mediaSessionId, principal: "owner"), offerSdp: nil)
        }
        #expect(noMicrophone == .noMicrophone)
    }

    @Test func aMicrophoneThatRestartsIsHeardAtOnce() throws {
        let speaker = FakeSpeaker()
        let decoder = try TalkbackDecoder(speaker: speaker, codecs: [0: .pcmu])
        for number: UInt16 in [50_000, 50_001, 20_000, 20_001] {
            [UInt8](repeating: 0xFF, count: 160).withUnsafeBytes {
                decoder.receive($0, payloadType: 0, sequenceNumber: number, timestamp: 0, at: .zero)
            }
        }
        #expect(speaker.samples == 4 * 960)
    }

    @Test func aTalkerThatHasFinishedIsNoLongerHeard() throws {
        let speaker = FakeSpeaker()
        let decoder = try TalkbackDecoder(speaker: speaker, codecs: [0: .pcmu])
        func speak(_ number: UInt16) {
            [UInt8](repeating: 0xFF, count: 160).withUnsafeBytes {
                decoder.receive(
                    $0, payloadType: 0, sequenceNumber: number, timestamp: UInt32(number) * 160, at: .zero)
            }
        }
        speak(1)
        speak(2)
        // One that comes twice or late is not played again.
        speak(2)
        speak(1)
        #expect(speaker.samples == 2 * 960)
        decoder.finish(silencing: false)
        speak(3)
        #expect(speaker.samples == 2 * 960 && speaker.ends == 1)
    }
}

@Suite(.ownThread) struct TrickleTests {
    @Test func candidatesAreAddedAndOtherCredentialsRestart() async throws {
        let world = try await ServiceWorld()
        let text = try ServiceWorld.text("offers/chromium-talkback-sendrecv-audio.offer.sdp")
        let session = try await world.start(text)
        let id = session.mediaSessionId
        let offer = try SessionDescription(parsing: text)
        let fragment = try #require(offer.media.compactMap(\.iceUsernameFragment).first)
        let password = try #require(offer.media.compactMap(\.icePassword).first)
        let more = TrickleFragment(
            usernameFragment: fragment, password: password,
            sections: [
                .init(
                    mid: "0",
                    candidates: [ICECandidate(foundation: "1", priority: 7, host: "127.0.0.1", port: 50_000)])
            ])
        #expect(
            try await world.service.trickle(more.encoded(), SessionReference(id, principal: "owner")) == .added)
        let other = TrickleFragment(
            usernameFragment: "another", password: "0123456789abcdefghijkl", sections: [.init(mid: "0")])
        for generation in 2...3 {
            var changed = other
            changed.usernameFragment = "another\(generation)"
            let result = try await world.service.trickle(changed.encoded(), SessionReference(id, principal: "owner"))
            guard case .restarted(let answer, let name) = result else {
                Issue.record("\(result)")
                return
            }
            #expect(name == "\(generation)")
            let parsed = try TrickleFragment(parsing: answer)
            let credentials = try #require(parsed.credentials)
            #expect(!session.answerSdp.contains(credentials.usernameFragment))
            #expect(credentials.password.count >= 22)
            #expect(parsed.allCandidates.map(\.host) == ["127.0.0.1"])
            #expect(parsed.endsCandidates)
        }
        // The same credentials again are not a restart.
        var last = other
        last.usernameFragment = "another3"
        #expect(
            try await world.service.trickle(last.encoded(), SessionReference(id, principal: "owner")) == .added)
        #expect(await world.viewerCount() == 1)
    }

    /// The sender of an offer chooses the names in it.
    @Test func namesInCandidatesAreLookedUpAndTheirNumberIsBounded() async throws {
        let world = try await ServiceWorld()
        let text = try ServiceWorld.text("offers/chromium-recvonly-av.offer.sdp")
        let lines = text.components(separatedBy: "\r\n").filter { !$0.hasPrefix("a=candidate") }
        func candidate(_ host: String, _ transport: String = "udp") -> String {
            "a=candidate:1 1 \(transport) 2113937151 \(host) 50000 typ host"
        }
        let offered = [candidate("First.local"), candidate("192.0.2.9"), candidate("example.org")]
        let offer = lines.flatMap { $0.hasPrefix("a=ice-ufrag") ? offered + [$0] : [$0] }.joined(separator: "\r\n")
        let session = try await world.start(offer)
        #expect(Set(world.lookedUp.withLock { $0 }) == ["first.local"])
        let description = try SessionDescription(parsing: text)
        let username = try #require(description.media.compactMap(\.iceUsernameFragment).first)
        let password = try #require(description.media.compactMap(\.icePassword).first)
        let more = TrickleFragment(
            usernameFragment: username, password: password,
            sections: [
                .init(
                    mid: "0",
                    candidates: (0..<100).map {
                        ICECandidate(foundation: "1", priority: 7, host: "name-\($0).local", port: 50_000)
                    })
            ])
        for _ in 0..<3 {
            _ = try await world.service.trickle(
                more.encoded(), SessionReference(session.mediaSessionId, principal: "owner"))
        }
        #expect(Set(world.lookedUp.withLock { $0 }).count == 8)
    }

    /// A lite peer sends no checks, so without candidates that could be checked there is nothing to wait for.
    @Test(arguments: [true, false])
    func `the end of the candidates reaches the agent, which gives up a lite viewer without any`(
        ofSession: Bool
    ) async throws {
        let world = try await ServiceWorld()
        let text = try ServiceWorld.text("offers/chromium-recvonly-av.offer.sdp")
        let lines = text.components(separatedBy: "\r\n").filter { !$0.hasPrefix("a=candidate") }
        let lite = lines.flatMap { $0.hasPrefix("t=") ? [$0, "a=ice-lite"] : [$0] }.joined(separator: "\r\n")
        let session = try await world.start(lite)
        let offer = try SessionDescription(parsing: lite)
        let credentials = (
            try #require(offer.media.compactMap(\.iceUsernameFragment).first),
            try #require(offer.media.compactMap(\.icePassword).first)
        )
        func trickle(end: Bool) async throws -> TrickleResult {
            let fragment = TrickleFragment(
                usernameFragment: credentials.0, password: credentials.1, isComplete: end && ofSession,
                sections: [.init(mid: "0", isComplete: end && !ofSession)])
            return try await world.service.trickle(
                fragment.encoded(), SessionReference(session.mediaSessionId, principal: "owner"))
        }
        #expect(try await trickle(end: false) == .added)
        #expect(await world.viewerCount() == 1 && world.announcements.ends.isEmpty)
        #expect(try await trickle(end: true) == .added)
        #expect(await eventually { !world.announcements.ends.isEmpty })
        #expect(world.announcements.ends == [.relay(.connectionFailed(.noPath(.noCandidates)))])
    }

    /// A phone's tethering, a new lease of the router: the gateway's address has changed during the view.
    @Test func aRestartOffersThePresentAddresses() async throws {
        func address(_ host: String) throws -> TransportAddress { try #require(TransportAddress(host, port: 0)) }
        let world = try await ServiceWorld(interfaceAddresses: [address("192.0.2.44")])
        try world.relay.acceptConnections(at: 0)
        defer { world.relay.stop() }
        let session = try await world.start(ServiceWorld.text("offers/chromium-recvonly-av.offer.sdp"))
        #expect(session.answerSdp.contains("192.0.2.44"))
        let changed = try address("192.0.2.77")
        world.interfaceAddresses.withLock { $0 = [changed] }
        let restart = TrickleFragment(
            usernameFragment: "another", password: "0123456789abcdefghijkl", sections: [.init(mid: "0")])
        let result = try await world.service.trickle(
            restart.encoded(), SessionReference(session.mediaSessionId, principal: "owner"),
            reachedAddresses: ["192.0.2.9"])
        guard case .restarted(let answer, _) = result else {
            Issue.record("\(result)")
            return
        }
        let candidates = try TrickleFragment(parsing: answer).allCandidates
        let expected = ["192.0.2.9", "192.0.2.77", "127.0.0.1"]
        #expect(candidates.filter { $0.transport == .udp }.map(\.host) == expected)
        #expect(candidates.filter { $0.transport == .tcp }.map(\.host) == expected)
        #expect(candidates.allSatisfy { $0.kind == .host })
    }
}
