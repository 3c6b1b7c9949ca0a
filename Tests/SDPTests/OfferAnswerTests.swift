import SDP
import Testing

/// The offerer and the answerer with each other, through text.
@Suite struct OfferAnswerTests {
    private func offerer(talks: Bool) -> LiveViewOfferer {
        LiveViewOfferer(viewing: Gateway.transport, talks: talks, sessionID: 7, ssrc: 700, cname: "viewer")
    }

    private func both(
        talks: Bool, _ tracks: [LocalTrack]
    ) throws -> (client: NegotiatedSession, gateway: NegotiatedSession) {
        let offer = try SessionDescription(parsing: offerer(talks: talks).offer().encoded())
        #expect(offer.problems == [])
        let gateway = try Gateway.answerer(tracks).answer(offer)
        let answer = try SessionDescription(parsing: gateway.answer.encoded())
        return (try offerer(talks: talks).accept(answer: answer), gateway)
    }

    @Test(arguments: [true, false])
    func bothSidesAgree(talks: Bool) throws {
        let (client, gateway) = try both(talks: talks, [Gateway.video(.vp8), Gateway.audio(.opus)])
        #expect(client.media.map(\.kind) == [.audio, .video])
        #expect(client.media.map(\.direction) == gateway.media.map(\.direction.reversed))
        #expect(client.media.map(\.payloadType) == gateway.media.map(\.payloadType))
        #expect(client.media.map(\.headerExtensions) == gateway.media.map(\.headerExtensions))
        #expect(client.media.map(\.feedback) == gateway.media.map(\.feedback))
        #expect(client.localSetup == .active)
        #expect(gateway.localSetup == .passive)
        #expect(client.remote.usernameFragment == "gate")
        #expect(client.remote.candidates == Gateway.transport.candidates)
        #expect(client.remote.isComplete)
        #expect(client.media[0].direction == (talks ? .sendrecv : .recvonly))

        let video = client.media[1]
        #expect(video.remoteSSRCs == [1111])
        #expect(video.remoteRetransmissionSSRCs == [1112: 1111])
        let rtx = try #require(gateway.media[1].rtxPayloadType)
        #expect(video.receiveRetransmissionPayloadTypes == [rtx: video.payloadType])
        #expect(video.remoteStream?.streamID == "camera-video")
    }

    @Test func payloadTypesAreUniqueInTheBundle() {
        let offer = offerer(talks: true).offer()
        let all = offer.media.flatMap(\.payloadTypes)
        #expect(Set(all).count == all.count)
        #expect(offer.media.map(\.kind) == [.audio, .video])
    }

    /// The client holds no picture back, so the packets can do without it.
    @Test func theClientDoesNotAskForAPlayoutDelay() throws {
        #expect(!offerer(talks: true).offer().encoded().contains("playout-delay"))
        let (client, _) = try both(talks: false, [Gateway.video(.vp8), Gateway.audio(.opus)])
        #expect(client.media[1].headerExtensions.playoutDelay == nil)
        #expect(client.media[1].headerExtensions.transportWideCC == 3)
    }

    @Test(arguments: ["42e01f", "4d0028", "640033"])
    func everyH264CameraPlays(profile: String) throws {
        let (client, gateway) = try both(talks: false, [Gateway.video(.h264(profileLevelID: profile))])
        #expect(client.media.filter(\.direction.receives).map(\.codec.name) == ["H264"])
        let chosen = try #require(H264Profile(gateway.media[0].codec.formatParameters))
        #expect(chosen.profile == H264Profile(profileLevelID: profile)?.profile)
        #expect(client.notes.contains { $0.reason == .nothingFlows })
    }

    @Test func answerOfAnotherShapeIsRefused() throws {
        let offer = offerer(talks: false).offer()
        var answer = try Gateway.answerer().answer(offer).answer
        answer.media.swapAt(0, 1)
        let first = NegotiationNote.Media(index: 0, label: answer.label(ofMediaAt: 0))
        #expect(throws: NegotiationError.invalidDescription(.answersKind(first, offer.media[0].kind))) {
            try offerer(talks: false).accept(answer: answer)
        }
        answer.media.removeLast()
        let counts = DescriptionFault.mediaCount(answer: answer.media.count, offer: offer.media.count)
        #expect(throws: NegotiationError.invalidDescription(counts)) {
            try offerer(talks: false).accept(answer: answer)
        }
    }

    @Test func answerOutsideTheBundleIsRefused() throws {
        var answer = try Gateway.answerer().answer(offerer(talks: false).offer()).answer
        answer.lines.removeAll { $0.text.hasPrefix("a=group") }
        #expect(throws: NegotiationError.invalidDescription(.outsideBundle(index: 0))) {
            try offerer(talks: false).accept(answer: answer)
        }
    }

    @Test func answerMayLeaveOutTags() throws {
        let offerer = LiveViewOfferer(
            viewing: Gateway.transport, talks: false, audioCodecs: [], sessionID: 1, ssrc: 1, cname: "c")
        var answer = try Gateway.answerer().answer(offerer.offer()).answer
        answer.lines.removeAll { $0.text.hasPrefix("a=group") }
        answer.media[0].lines.removeAll { $0.text.hasPrefix("a=mid") }
        #expect(try offerer.accept(answer: answer).media.map(\.mid) == ["0"])
    }
}
