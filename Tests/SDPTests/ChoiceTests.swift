import Testing

@testable import SDP

@Suite struct ChoiceTests {
    private func track(_ kind: MediaKind, _ codec: MediaCodec, ssrc: UInt32, receives: Bool = false) -> LocalTrack {
        LocalTrack(
            kind: kind, codecs: [codec], receives: receives, receiveCodecs: receives ? [.opus] : [], ssrc: ssrc,
            cname: "door", streamID: "door", trackID: "\(ssrc)", choice: kind.name)
    }

    private func answer(_ tracks: [LocalTrack], to offer: String) throws -> NegotiatedSession {
        try LiveViewAnswerer(local: Gateway.transport, tracks: tracks).answer(SessionDescription(parsing: offer))
    }

    private static let aac = MediaCodec(name: "mpeg4-generic", clockRate: 16_000)
    private static let h265 = MediaCodec(name: "H265", clockRate: 90_000)

    @Test func theFirstThatCanBePlayedIsUsedAndNoOther() throws {
        let offer = try Samples.text("offers/chromium-recvonly-av.offer.sdp")
        let tracks = [
            track(.video, Self.h265, ssrc: 1), track(.video, .vp8, ssrc: 3), track(.video, .vp8, ssrc: 5),
            track(.audio, Self.aac, ssrc: 7), track(.audio, .opus, ssrc: 9),
        ]
        let session = try answer(tracks, to: offer)
        #expect(Set(session.media.map(\.ssrc)) == [3, 9])
    }

    @Test func soundToHearIsPreferredToSoundOnlyForTalking() throws {
        let offer = try Samples.text("offers/chromium-talkback-sendrecv-audio.offer.sdp")
        let tracks = [
            track(.video, .vp8, ssrc: 1), track(.audio, Self.aac, ssrc: 3, receives: true),
            track(.audio, .opus, ssrc: 5, receives: true),
        ]
        let session = try answer(tracks, to: offer)
        let audio = try #require(session.media.first { $0.kind == .audio })
        #expect(audio.ssrc == 5 && audio.direction == .sendrecv)
    }

    @Test func allCodecsOfAChoiceAreNamedWhenNoneMatches() throws {
        let offer = try Samples.text("offers/chromium-recvonly-av.offer.sdp")
        let tracks = [
            track(.video, Self.h265, ssrc: 1), track(.video, MediaCodec(name: "JPEG", clockRate: 90_000), ssrc: 3),
        ]
        #expect {
            _ = try answer(tracks, to: offer)
        } throws: { error in
            "\(error)".contains("H265") && "\(error)".contains("JPEG") && "\(error)".contains("VP8")
        }
    }

    @Test func soundThatCannotBePlayedIsInactiveAndThePicturePlays() throws {
        let offer = try Samples.text("offers/chromium-recvonly-av.offer.sdp")
        let session = try answer(
            [track(.video, .vp8, ssrc: 1), track(.audio, Self.aac, ssrc: 3)], to: offer)
        let audio = try #require(session.answer.media.first { $0.kind == .audio })
        #expect(!audio.isRejected && session.answer.direction(of: audio) == .inactive)
        #expect(session.media.filter { $0.direction.sends }.map(\.kind) == [.video])
        if case .notUsed(.noCommonCodec(let mismatch)) = session.note(ofMediaAt: 1)?.reason {
            #expect(mismatch.own == [Self.aac])
        } else {
            Issue.record("\(session.notes)")
        }
        // A peer that reads the answer finds nothing wrong with it.
        #expect(session.answer.problems.isEmpty)
    }
}
