import SDP
import Testing

@Suite struct NegotiationNoteTests {
    private static let mismatch = CodecMismatch(own: [.h264(profileLevelID: "64001f"), .vp8], offered: [.opus])

    private static let refusals: [(MediaRefusal, String)] = [
        (.unsupportedKind(.text), "text is not supported, only audio and video are"),
        (.disabled, "the offer itself disables it (port 0)"),
        (.unusableProfile("RTP/XYZ"), "RTP/XYZ is not an RTP profile with DTLS"),
        (.noRTCPMux, "it has no a=rtcp-mux, and RTCP on a separate port is not supported"),
        (.noSCTPPort, "a=sctp-port is missing, or is not a port"),
        (.noTrack(.video), "the camera has no video"),
        (.alreadyUsed(.audio), "the camera's audio is used by an earlier m= line"),
        (.noMatchingTrack, "no track matches it"),
        (.direction(.sendonly, sends: true), "the peer offers sendonly, and this side has only media to send"),
        (.direction(.recvonly, sends: false), "the peer offers recvonly, and this side has nothing to send"),
        (
            .noCommonCodec(mismatch),
            "no common codec: this side has H264 (High level 3.1), VP8, the peer offers opus"
        ),
        (
            .noCommonCodec(CodecMismatch(own: [.vp8], offered: [])),
            "no common codec: this side has VP8, the peer offers none"
        ),
    ]

    @Test("A media description that is not used says why", arguments: refusals)
    func refusal(refusal: MediaRefusal, words: String) {
        #expect(refusal.words == words)
        #expect(NegotiationNote(.notUsed(refusal)).description == "not used: " + words)
    }

    private static let doubts: [(CodecDoubt, String)] = [
        (
            .packetizationModeZero,
            "the receiver asks for packetization-mode 0, but large pictures are sent in fragments"
        ),
        (
            .h264Profile(own: .high, theirs: .main),
            "the stream is H.264 High and the receiver names Main only; most decoders play it all the same"
        ),
        (
            .h264Level(own: H264Profile.Level(tenths: 40), theirs: .level1b),
            "the stream has level 4 and the receiver names level 1b"
        ),
        (.unreadableH264Profile, "the receiver's profile-level-id cannot be read"),
        (
            .h265Level(own: 153, theirs: 93),
            "the stream has H.265 level 5.1 and the receiver names level 3.1"
        ),
        (.av1Level(own: 9, theirs: 5), "the stream has AV1 level index 9 and the receiver names 5"),
    ]

    @Test("A stream that the receiver may not play says why", arguments: doubts)
    func doubt(doubt: CodecDoubt, words: String) {
        #expect(NegotiationNote(.doubts([doubt])).description == words)
    }

    private static let reasons: [(NegotiationNote.Reason, String)] = [
        (.notUsed(.disabled), "not used: the offer itself disables it (port 0)"),
        (.notUsed(.outsideBundle), "not used, since it does not share a transport by BUNDLE"),
        (
            .doubts([.unreadableH264Profile, .av1Level(own: 9, theirs: 5)]),
            "the receiver's profile-level-id cannot be read; "
                + "the stream has AV1 level index 9 and the receiver names 5"
        ),
        (.oneLayer(of: 3), "one of its 3 layers is used; simulcast is not used"),
        (.notReceivable, "it cannot be received"),
        (.onlyAsAWhole, "a camera accepts one video and one audio track, and an offer only as a whole"),
        (.rejected, "the answer rejects it"),
        (.noOfferedCodec, "the answer names no codec of the offer"),
        (.nothingFlows, "nothing flows in either direction"),
        (.assumedSetup, "the answer has no a=setup:active or a=setup:passive; active is assumed"),
    ]

    @Test("A note begins with its media description, if it has one", arguments: reasons)
    func note(reason: NegotiationNote.Reason, words: String) throws {
        #expect(NegotiationNote(reason).description == words)
        #expect(NegotiationNote(reason).media == nil)
        let description = try parse("v=0", "m=audio 9 UDP/TLS/RTP/SAVPF 0", "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=mid:v")
        let tagged = NegotiationNote(reason, ofMediaAt: 1, in: description)
        #expect(tagged.media?.index == 1 && tagged.words == words)
        #expect(tagged.description == "m-line 2 (video, mid v): " + words)
        #expect(NegotiationNote(reason, ofMediaAt: 0, in: description).description == "m-line 1 (audio): " + words)
    }

    @Test("A codec mismatch names each codec of both sides once, without auxiliary ones")
    func mismatchNamesEachCodecOnce() {
        let rtx = MediaCodec(name: "rtx", clockRate: 90_000)
        let mismatch = CodecMismatch(own: [.vp8, .vp8], offered: [rtx, .av1, .av1])
        #expect(mismatch.own == [.vp8] && mismatch.offered == [.av1])
    }

    @Test(
        "A refusal without a common codec names the kind of media and what would help",
        arguments: [
            (nil, ""),
            (.otherViewerOrStream, "; a viewer with that codec is needed, or a camera stream with another"),
            (.publishOwnCodec, "; publish one of those that this side has"),
        ] as [(CodecMismatch.Remedy?, String)])
    func mismatchError(remedy: CodecMismatch.Remedy?, words: String) {
        #expect(
            NegotiationError.codecMismatch(.video, Self.mismatch, remedy: remedy).description
                == "video has no common codec: this side has H264 (High level 3.1), VP8, the peer offers opus" + words)
    }

    @Test("An offer that cannot be used gets every reason")
    func noUsableMedia() throws {
        let offer = try parse("v=0", "m=audio 0 UDP/TLS/RTP/SAVPF 0")
        let error = NegotiationError.noUsableMedia([
            NegotiationNote(.notUsed(.disabled), ofMediaAt: 0, in: offer), NegotiationNote(.onlyAsAWhole),
        ])
        #expect(
            error.description
                == "nothing in the offer can be used: "
                + "m-line 1 (audio): not used: the offer itself disables it (port 0); "
                + "a camera accepts one video and one audio track, and an offer only as a whole")
    }
}
