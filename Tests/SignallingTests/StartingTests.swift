import Cameras
import DatagramPort
import MediaRelay
import SDP
import STUN
import StationFakes
import Testing
import Transport

@testable import Signalling
@testable import Stations

@Suite(.ownThread) struct StartingTests {
    static let offers = ["chromium", "firefox", "aiortc", "gstreamer"].flatMap { peer in
        ["recvonly-av", "talkback-sendrecv-audio"].map { "offers/\(peer)-\($0).offer.sdp" }
    }

    @Test(arguments: offers)
    func everyPeersOfferIsAnswered(path: String) async throws {
        let world = try await ServiceWorld()
        let text = try ServiceWorld.text(path)
        let response = try await world.start(text)
        #expect(response.mediaSessionId.count == SessionIdentifier.length)
        #expect(response.liveSessionDurationSeconds == 300)
        let offer = try SessionDescription(parsing: text)
        let answer = try SessionDescription(parsing: response.answerSdp)
        #expect(answer.problems.isEmpty)
        #expect(answer.media.map(\.mid) == offer.media.map(\.mid))
        #expect(answer.media.map(\.kind) == offer.media.map(\.kind))
        let used = answer.media.filter { !$0.isRejected }
        #expect(!used.isEmpty)
        let talks = path.contains("talkback")
        for section in used {
            let direction = answer.direction(of: section)
            #expect(direction == (section.kind == .audio && talks ? .sendrecv : .sendonly))
            #expect(section.setup == .passive)
        }
        let port = world.relay.port.localPort
        let candidates = answer.media.flatMap(\.candidates)
        #expect(candidates.map(\.host) == ["127.0.0.1"] && candidates.map(\.port) == [port])
        let sessions = await world.service.sessions()
        #expect(sessions.map(\.mediaSessionId) == [response.mediaSessionId])
        #expect(sessions.first?.codecs.count == used.count)
        #expect(await world.viewerCount() == 1)
        #expect(
            world.announcements.all == [
                .started(mediaSessionId: response.mediaSessionId, deviceID: "door", principal: "owner")
            ])
    }

    @Test func theReachedAddressComesFirstThenTheConfiguredOnesThenThoseOfTheInterfaces() async throws {
        let hosts = try await candidates(
            reached: ["192.0.2.9", "not one"], configured: ["203.0.113.7"], interfaces: ["192.0.2.44", "192.0.2.9"]
        ).map(\.host)
        #expect(hosts == ["192.0.2.9", "203.0.113.7", "192.0.2.44"])
    }

    /// Chromium's own candidates have local preferences of 30 (IPv4), 40 and 50 (IPv6). The lower priority of a pair counts.
    @Test func aBrowserChecksTheReachedAddressBeforeAllOthers() async throws {
        let offered = try await candidates(
            reached: ["192.0.2.9"], interfaces: ["192.0.2.44", "192.0.2.9", "2001:db8::1"])
        #expect(offered.map(\.host) == ["192.0.2.9", "192.0.2.44", "2001:db8::1"])
        #expect(offered.map(Self.localPreference) == [65_535, 1, 0])
    }

    @Test(arguments: [[], ["fe80::1"]] as [[String]])
    func withoutAReachedAddressTheBrowserDecides(reached: [String]) async throws {
        let offered = try await candidates(reached: reached, interfaces: ["192.0.2.44", "2001:db8::1"])
        #expect(offered.map(\.host) == reached + ["192.0.2.44", "2001:db8::1"])
        let expected: [UInt32] = [65_535, 65_534, 65_533]
        #expect(offered.map(Self.localPreference) == Array(expected.prefix(offered.count)))
    }

    /// A proxy on this host that does not say so, or a program that asks for a viewer elsewhere.
    @Test func aLoopbackAddressIsTheLastOneEvenIfItWasReached() async throws {
        let offered = try await candidates(reached: ["127.0.0.9"], interfaces: ["192.0.2.44"])
        #expect(offered.map(\.host) == ["192.0.2.44", "127.0.0.9"])
        #expect(offered.map(Self.localPreference) == [65_535, 65_534])
    }

    /// The candidates of an answer, the best first.
    private func candidates(
        reached: [String], configured: [String] = [], interfaces: [String]
    ) async throws -> [ICECandidate] {
        func addresses(_ hosts: [String]) -> [TransportAddress] { hosts.compactMap { TransportAddress($0, port: 0) } }
        let world = try await ServiceWorld(
            interfaceAddresses: addresses(interfaces), configuredAddresses: addresses(configured))
        let response = try await world.service.startLiveView(
            StartLiveViewRequest(
                deviceID: "door", principal: "owner",
                offerSdp: try ServiceWorld.text("offers/chromium-recvonly-av.offer.sdp"), reachedAddresses: reached))
        let answer = try SessionDescription(parsing: response.answerSdp)
        return answer.media.flatMap(\.candidates).sorted { $0.priority > $1.priority }
    }

    private static func localPreference(_ candidate: ICECandidate) -> UInt32 { candidate.priority >> 8 & 0xFFFF }

    @Test func theAddressThatASTUNServerSeesIsTheLastCandidate() async throws {
        let interface = try #require(TransportAddress("192.0.2.44", port: 0))
        let world = try await ServiceWorld(interfaceAddresses: [interface])
        let outside = try #require(TransportAddress("203.0.113.9", port: 41_000))
        let server = try STUNServer(claiming: outside)
        defer { server.close() }
        await withCheckedContinuation { continuation in
            let waiting = Locked<CheckedContinuation<Void, Never>?>(continuation)
            world.relay.setSTUNServers([server.address]) { observations in
                guard observations.contains(where: { $0.address != nil }) else { return }
                waiting.withLock { $0.take() }?.resume()
            }
        }
        let text = try ServiceWorld.text("offers/chromium-recvonly-av.offer.sdp")
        let answer = try SessionDescription(parsing: try await world.start(text).answerSdp)
        let candidates = answer.media.flatMap(\.candidates).sorted { $0.priority > $1.priority }
        #expect(candidates.map(\.kind) == [.host, .host, .serverReflexive])
        let reflexive = try #require(candidates.last)
        #expect(reflexive.address == outside)
        #expect(reflexive.relatedAddress == .init(host: "192.0.2.44", port: world.relay.port.localPort))
        #expect(Set(candidates.map(\.foundation)).count == 3)
    }

    @Test func aCodecThatTheViewerLacksIsNamedOnBothSides() async throws {
        let world = try await ServiceWorld(codecs: [MediaCodec(name: "H265", clockRate: 90_000), .opus])
        let error = await failure {
            _ = try await world.start(try ServiceWorld.text("offers/chromium-recvonly-av.offer.sdp"))
        }
        guard case .refusedOffer(let refusal) = error, case .noPlayableVideo(let mismatch) = refusal.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(mismatch.sent.map(\.codec.name) == ["H265"])
        #expect(Set(mismatch.played.map(\.name)).isSuperset(of: ["VP8", "H264"]))
        #expect(await world.service.sessions().isEmpty)
        #expect(await world.viewerCount() == 0)
    }

    @Test func aViewerWithoutTheCamerasVideoCodecLearnsSo() async throws {
        let world = try await ServiceWorld(codecs: [.h264(profileLevelID: "640028"), .opus])
        // Debian's Firefox without its H.264 module offers VP8 and VP9 only.
        let text = try ServiceWorld.text("offers/firefox-recvonly-av.offer.sdp")
            .split(separator: "\r\n", omittingEmptySubsequences: false)
            .filter { !$0.contains("H264") }.joined(separator: "\r\n")
        let error = await failure { _ = try await world.start(text) }
        guard case .refusedOffer(let refusal) = error, case .noPlayableVideo(let mismatch) = refusal.reason else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(mismatch.sent.map(\.codec.name) == ["H264"] && mismatch.played.contains { $0.name == "VP8" })
    }

    @Test func whatCannotBeUsedIsRefusedWithTheReason() async throws {
        let world = try await ServiceWorld()
        #expect(await failure { _ = try await world.start(device: "attic") } == .unknownDevice("attic"))
        let offers = [
            "", "hello", "v=0\r\n", "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n",
            try ServiceWorld.text("offers/chromium-datachannel-only.offer.sdp").replacing(":5000", with: ":0"),
            try ServiceWorld.text("offers/chromium-recvonly-av.offer.sdp").replacing("a=fingerprint", with: "a=print"),
            try ServiceWorld.text("offers/chromium-recvonly-av.offer.sdp").replacing("a=ice-pwd", with: "a=ice-word"),
        ]
        for offer in offers {
            let error = await failure { _ = try await world.start(offer) }
            #expect(error?.kind == .invalid, "\(String(describing: error)) for \(offer.prefix(80))")
            #expect((error?.words.count ?? 0) > 10)
        }
        #expect(await world.service.sessions().isEmpty)
    }

    @Test func aCameraThatIsNotThereIsNamedWithItsState() async throws {
        let world = try await ServiceWorld(codecs: [])
        let state = SourceState.backingOff(seconds: 2, reason: .unreachable(CameraUnreachable("connection refused")))
        world.camera.report(.state(state))
        let error = await failure { _ = try await world.start() }
        #expect(error == .station(.noMedia(camera: "door", state)))
    }

    @Test func aStartWaitsForACameraThatIsJustConnecting() async throws {
        let world = try await ServiceWorld(codecs: [], cameraTimeout: .seconds(3_600))
        async let starting = world.start()
        #expect(await eventually { await world.isWaiting })
        world.camera.reportTracks([.vp8, .opus])
        let response = try await starting
        #expect(!response.answerSdp.isEmpty)
    }

    /// The smaller stream is often there first, without sound: a viewer would do without it for as long as it watches.
    @Test func aStartWaitsForACamerasOtherStream() async throws {
        let world = try await ServiceWorld(
            codecs: [], cameraTimeout: .seconds(3_600), station: { $0.otherStreamTimeout = .seconds(3_600) })
        world.camera.awaitsTracks = true
        world.camera.reportTracks([.vp8]) { $0[0].stream = .sub }
        async let starting = world.start()
        #expect(await eventually { await world.isWaiting })
        world.camera.awaitsTracks = false
        world.camera.reportTracks([.vp8, .opus, .vp8]) { $0[2].stream = .sub }
        let answer = try SessionDescription(parsing: try await starting.answerSdp)
        #expect(answer.media.map(\.isRejected) == [false, false])
    }

    @Test func aStartDoesNotWaitLongForAStreamThatDoesNotCome() async throws {
        let world = try await ServiceWorld(codecs: [.vp8], station: { $0.otherStreamTimeout = .milliseconds(1) })
        world.camera.awaitsTracks = true
        #expect(try await !world.start().answerSdp.isEmpty)
    }

    @Test func limitsHold() async throws {
        let world = try await ServiceWorld { $0.perCamera = 2 }
        let first = try await world.start()
        _ = try await world.start(principal: "guest")
        let error = await failure { _ = try await world.start() }
        #expect(error == .limitReached(.camera("door", views: 2, .full(2))))
        try await world.service.stopLiveView(SessionReference(first.mediaSessionId, principal: "owner"))
        _ = try await world.start()
        #expect(await world.viewerCount() == 2)
    }

    @Test func mutatedOffersNeverStartMoreThanTheyMay() async throws {
        let world = try await ServiceWorld()
        var random = RandomSource.seeded(21)
        for path in Self.offers {
            let original = Array(try ServiceWorld.text(path).utf8)
            for _ in 0..<15 {
                var bytes = original
                for _ in 0...(random.next() % 12) {
                    let position = Int(random.next() % UInt64(bytes.count))
                    switch random.next() % 3 {
                    case 0: bytes[position] = UInt8(truncatingIfNeeded: random.next())
                    case 1: bytes.remove(at: position)
                    default: bytes.insert(contentsOf: bytes[position...].prefix(20), at: position)
                    }
                }
                let text = String(decoding: bytes, as: UTF8.self)
                let error = await failure {
                    let response = try await world.start(text)
                    let id = response.mediaSessionId
                    try await world.service.stopLiveView(SessionReference(id, principal: "owner"))
                }
                switch error?.kind {
                case nil, .invalid, .codecMismatch: break
                default: Issue.record("\(String(describing: error))")
                }
            }
        }
        #expect(await world.service.sessions().isEmpty)
        #expect(await world.viewerCount() == 0)
    }
}

extension ServiceWorld {
    /// Whether a start waits for the camera to announce its tracks.
    var isWaiting: Bool {
        get async { await (try? service.registry.station(of: "door"))?.hasWaiters ?? false }
    }
}
