import SDP
import Testing

@Suite struct AnswerSampleTests {
    struct Answer: Decodable {
        var problems: [Expectation.Problem]
        var talks: Bool
        var localSetup: String?
        var candidates: Int?
        var lite: Bool?
        var media: [Expectation.Accepted]?
        var error: String?
    }

    /// An offer whose payload types are those of the samples.
    private func offerer(talks: Bool) -> LiveViewOfferer {
        let video = LocalTrack(
            kind: .video, codecs: [], sends: false, receives: true,
            receiveCodecs: [.vp8, .h264(profileLevelID: "42e01f")], ssrc: 8, cname: "c", streamID: "-", trackID: "v")
        let audio = LocalTrack(
            kind: .audio, codecs: talks ? [.opus] : [], sends: talks, receives: true, receiveCodecs: [.opus], ssrc: 9,
            cname: "c", streamID: "viewer", trackID: "microphone")
        return LiveViewOfferer(
            local: Gateway.transport, media: [.init(track: audio, mid: "0"), .init(track: video, mid: "1")])
    }

    @Test(arguments: Samples.paths(in: "answers"))
    func answerIsAccepted(path: String) throws {
        let expected: Answer = try Expectation.read(path)
        let text = try Samples.text(path)
        let answer = try SessionDescription(parsing: text)
        #expect(answer.encoded() == text)
        expect(answer.problems, are: expected.problems, path)
        let session: NegotiatedSession
        do {
            session = try offerer(talks: expected.talks).accept(answer: answer)
        } catch {
            #expect(Mirror(reflecting: error).children.first?.label == expected.error, "\(path): \(error)")
            return
        }
        #expect(expected.error == nil, "\(path)")
        #expect(session.localSetup.rawValue == expected.localSetup, "\(path)")
        #expect(session.remote.candidates.count == expected.candidates, "\(path)")
        #expect(session.remote.isLite == expected.lite, "\(path)")
        #expect(session.media.count == expected.media?.count, "\(path): \(session.notes)")
        for (media, expected) in zip(session.media, expected.media ?? []) {
            #expect(media.direction.rawValue == expected.direction, "\(path)")
            #expect(media.codec.mapping == expected.codec, "\(path)")
            #expect(media.payloadType == expected.payloadType, "\(path)")
            #expect(media.receivePayloadTypes[expected.payloadType] != nil, "\(path)")
            if let ssrcs = expected.remoteSSRCs { #expect(media.remoteSSRCs == ssrcs, "\(path)") }
            for (rtx, original) in expected.retransmissions ?? [:] {
                #expect(media.receiveRetransmissionPayloadTypes[UInt8(rtx) ?? 0] == original, "\(path)")
            }
            for (name, value) in expected.parameters ?? [:] {
                #expect(media.codec.formatParameters[name] == value, "\(path)")
            }
        }
    }
}
