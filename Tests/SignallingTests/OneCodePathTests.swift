import Cameras
import MediaRelay
import SDP
import StationFakes
import Testing
import Transport

@testable import Signalling
@testable import Stations

/// What `gatehouse sdp` prints is what the gateway does: the values that the command asks say the same as the service,
/// for every recorded offer.
@Suite(.ownThread) struct OneCodePathTests {
    private static let local = LocalTransportDescription(
        usernameFragment: "abcdefgh", password: "0123456789abcdefghijklmn",
        fingerprints: [Fingerprint(algorithm: "sha-256", bytes: [UInt8](repeating: 1, count: 32))])

    /// The lines of an answer that do not depend on keys, addresses and random numbers.
    private static func decided(_ answer: SessionDescription) -> [String] {
        let own = ["o=", "c=", "a=candidate", "a=end-of-candidates", "a=ice-", "a=fingerprint", "a=ssrc", "a=msid:"]
        return answer.encoded().split(separator: "\r\n").map(String.init).compactMap { line in
            if line.hasPrefix("m=") {
                var words = line.split(separator: " ").map(String.init)
                // The port is an address; 0 is a decision.
                if words[1] != "0" { words[1] = "9" }
                return words.joined(separator: " ")
            }
            return own.contains(where: line.hasPrefix) ? nil : line
        }
    }

    private static let roles = ["actpass", "active", "passive"]

    /// The recorded offers, as recorded and with each DTLS role.
    private static func offers() throws -> [(name: String, text: String)] {
        try ServiceWorld.samples(in: "offers").flatMap { path in
            let text = try ServiceWorld.text(path)
            let variants = ["active", "passive"].map { role in
                ("\(path) \(role)", text.replacing("a=setup:actpass", with: "a=setup:\(role)"))
            }
            return [(path, text)] + (path.contains("talkback") ? [] : variants)
        }
    }

    @Test func aLiveViewAnswersAsTheCommandSays() async throws {
        var compared = (answers: 0, refusals: 0)
        let offers = try Self.offers()
        for camera in try SampledCamera.all() {
            let world = try await ServiceWorld(codecs: [], speaks: camera.speaks)
            world.camera.open(camera.tracks)
            let negotiation = camera.negotiation(transcodesVideo: world.station.configuration.transcodesVideo != .never)
            for (name, text) in offers {
                var random = RandomSource.seeded(3)
                let offer = try SessionDescription(parsing: text)
                let said = Result { () throws(OfferRefusal) in
                    try negotiation.answer(offer, local: Self.local, random: &random)
                }
                do {
                    let response = try await world.start(text)
                    try await world.service.stopLiveView(SessionReference(response.mediaSessionId, principal: "owner"))
                    let agreement = try said.get()
                    #expect(
                        Self.decided(agreement.session.answer)
                            == Self.decided(try SessionDescription(parsing: response.answerSdp)),
                        "\(camera.name) \(name)")
                    #expect(agreement.notes == response.notes, "\(camera.name) \(name)")
                    compared.answers += 1
                } catch let error as SignallingError {
                    guard case .failure(let refusal) = said else {
                        Issue.record("\(camera.name) \(name): the command answers, the service says \(error)")
                        continue
                    }
                    #expect(error == .refusedOffer(refusal), "\(camera.name) \(name)")
                    compared.refusals += 1
                }
            }
        }
        #expect(compared.answers > 300 && compared.refusals > 50, "\(compared)")
    }

    @Test func aPublisherIsAnsweredAsTheCommandSays() async throws {
        let world = try await ServiceWorld()
        let station = CameraStation(id: "phone", source: PublishedSource(), relay: world.relay)
        await world.signalling.add(station)
        station.start()
        var taken = 0
        for (name, text) in try Self.offers() {
            let offer = try SessionDescription(parsing: text)
            let said = Result { () throws(OfferRefusal) in
                try PublisherNegotiation().answer(offer, local: Self.local)
            }
            let explanation = DescriptionExplainer().explain(offer, as: .publisher)
            // Each takes the camera over from the one before.
            world.clock.advance(by: PublisherStarts.takeoverInterval)
            do {
                let response = try await world.publishing.startPublishing(
                    StartLiveViewRequest(deviceID: "phone", principal: "owner", offerSdp: text))
                #expect(
                    Self.decided(try said.get().answer)
                        == Self.decided(try SessionDescription(parsing: response.answerSdp)), "\(name)")
                #expect(explanation.isUsable, "\(name)")
                taken += 1
            } catch let error as SignallingError {
                guard case .failure(let refusal) = said else {
                    Issue.record("\(name): the command answers, the service says \(error)")
                    continue
                }
                #expect(error == .refusedOffer(refusal) && !explanation.isUsable, "\(name)")
            }
        }
        #expect(taken >= 12)
    }

    /// An offer is usable in words exactly if a camera of some kind is watched by it.
    @Test func anOfferIsUsableExactlyIfSomethingPlays() async throws {
        for (name, text) in try Self.offers() {
            let offer = try SessionDescription(parsing: text)
            var plays = false
            for camera in try SampledCamera.all() {
                var random = RandomSource.seeded(3)
                let agreement = try? camera.negotiation(transcodesVideo: false).answer(
                    offer, local: Self.local, random: &random)
                plays = plays || agreement != nil
            }
            let explanation = DescriptionExplainer(transcodesVideo: false).explain(offer, as: .viewer)
            #expect(explanation.isUsable == plays, "\(name): \(explanation)")
        }
    }

    /// A viewer that plays a single codec gets it from a camera that sends it, and the words say so: for every codec
    /// that is passed through.
    @Test(arguments: PassThroughCodec.all)
    func `an offer of a single codec is usable in words because a camera of it plays`(known: PassThroughCodec) throws {
        let codec = try #require(ExampleTrack.all.first { $0.codec.isNamed(known.codec.name) }).codec
        let clock = "\(codec.name)/\(codec.clockRate)" + (codec.channels > 1 ? "/\(codec.channels)" : "")
        let parameters = codec.formatParameters.parameters.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
        var lines = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "m=\(known.kind.name) 9 UDP/TLS/RTP/SAVPF 100"]
        lines += ["a=mid:0", "a=recvonly", "a=rtcp-mux", "a=rtpmap:100 \(clock)", "a=setup:actpass"]
        lines += ["a=ice-ufrag:abcd", "a=ice-pwd:0123456789abcdefghijklmn"]
        lines.append("a=fingerprint:sha-256 " + (0..<32).map { _ in "AB" }.joined(separator: ":"))
        if !parameters.isEmpty { lines.append("a=fmtp:100 \(parameters)") }
        let text = lines.joined(separator: "\r\n") + "\r\n"
        let offer = try SessionDescription(parsing: text)
        var random = RandomSource.seeded(3)
        let camera = TrackDescription(kind: known.kind, codec: codec, payloadType: 96)
        let agreement = try LiveViewNegotiation(
            camera: "door", tracks: [camera], speaks: false, transcodesVideo: false
        ).answer(offer, local: Self.local, random: &random)
        let media = try #require(agreement.session.media.first)
        #expect(agreement.track(for: media)?.derivedFrom == nil && media.codec.isNamed(codec.name))

        let explanation = DescriptionExplainer(transcodesVideo: false).explain(offer, as: .viewer)
        #expect(explanation.isUsable, "\(explanation)")
        let start = "A camera with \(known.title)"
        let plays = explanation.lines.contains { $0.hasPrefix(start) && $0.contains(": plays as payload type 100") }
        #expect(plays, "\(explanation)")
    }

    @Test func anOfferThatOnlySendsSoundLearnsWhatItLacks() async throws {
        let world = try await ServiceWorld()
        let text = try ServiceWorld.text("offers/chromium-talkback-sendrecv-audio.offer.sdp")
        for direction in [MediaDirection.sendonly, .inactive] {
            let changed = text.replacing("a=recvonly", with: "a=inactive")
                .replacing("a=sendrecv", with: "a=\(direction.rawValue)")
            let error = await failure { _ = try await world.start(changed) }
            guard case .refusedOffer(let refusal) = error,
                case .asksForNothing("door", let media) = refusal.reason
            else {
                Issue.record("\(String(describing: error))")
                continue
            }
            let isNamed = media.contains { reason in
                switch (direction, reason) {
                case (.sendonly, .onlySends), (.inactive, .inactive): true
                default: false
                }
            }
            #expect(isNamed, "\(media)")
        }
    }
}
