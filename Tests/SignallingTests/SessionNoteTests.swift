import Codecs
import SDP
import Stations
import Testing

@testable import Signalling

/// What people read about a session besides what it is sent.
@Suite struct SessionNoteTests {
    private static let media = NegotiationNote.Media(index: 1, label: "m-line 2 (audio, mid a)")
    private static let refusal = NegotiationNote(.notUsed(.disabled), about: media)
    private static let fault = TrackFault.untranscodable(
        codec: "G723", CodecError(codec: "G723", operation: "decode", reason: "no decoder"))

    private static let notes: [(SessionNote, String)] = [
        (.offer(refusal), "m-line 2 (audio, mid a): not used: the offer itself disables it (port 0)"),
        (.camera(fault), "G723 cannot be transcoded: no decoder"),
        (.camera(.failed(.noThread)), "no thread could be started"),
        (
            .transcoded(.video, from: "H265", hasBFrames: false, to: "VP8"),
            "video: H265 is transcoded to VP8"
        ),
        (
            .transcoded(.video, from: "H264", hasBFrames: true, to: "VP8"),
            "video: H264 with B-frames is transcoded to VP8"
        ),
        (.transcoded(.audio, from: "L16", hasBFrames: false, to: "opus"), "audio: L16 is transcoded to opus"),
    ]

    @Test("A note has its words", arguments: notes)
    func note(note: SessionNote, words: String) {
        #expect(note.description == words)
    }

    private static let unserved: [(UnservedMedia, String)] = [
        (.noted(refusal), "m-line 2 (audio, mid a): not used: the offer itself disables it (port 0)"),
        (.onlySends(media), "m-line 2 (audio, mid a) only sends (a=sendonly)"),
        (.inactive(media), "m-line 2 (audio, mid a) is disabled (a=inactive)"),
        (.noPlayableCodec(media), "m-line 2 (audio, mid a): the viewer plays none of the camera's codecs"),
    ]

    @Test("A media description by which nothing is sent says why", arguments: unserved)
    func unservedMedia(media: UnservedMedia, words: String) {
        #expect(media.words == words)
    }

    @Test("A refusal says why of each media description, and then of the camera's tracks")
    func refusals() {
        let unserved: [UnservedMedia] = [.noted(Self.refusal), .onlySends(Self.media)]
        let reasons =
            "m-line 2 (audio, mid a): not used: the offer itself disables it (port 0); "
            + "m-line 2 (audio, mid a) only sends (a=sendonly)"
        #expect(
            OfferRefusal.Reason.asksForNothing(camera: "door", media: unserved).words
                == "the offer asks for neither picture nor sound from door: \(reasons)"
                + "; a viewer must offer a=recvonly or a=sendrecv")
        #expect(
            OfferRefusal.Reason.playsNothing(camera: "door", media: unserved, faults: [Self.fault]).words
                == "this viewer can play nothing from door: \(reasons); G723 cannot be transcoded: no decoder")
    }
}
