import MediaRelay
import PeerConnection
import Testing

@Suite struct ViewerEndTests {
    @Test(arguments: [
        (ViewerEnd.connectionFailed(.consentExpired), "the peer has stopped answering connectivity checks"),
        (.trackGone, "the camera no longer sends this track"),
        (
            .bFrames,
            "the camera's video has B-frames, which browsers cannot play; start the view again to get another stream"
        ),
        (.goodbye, "the publisher has said goodbye"),
        (.shuttingDown, "the gateway is shutting down"),
    ])
    func anEndHasItsWords(_ end: ViewerEnd, _ words: String) {
        #expect(end.words == words)
    }

    @Test(arguments: [
        (0, "It alone would need too much"), (1, "One other camera is being transcoded"),
        (3, "3 other cameras are being transcoded"),
    ])
    func aRefusedTranscoderSaysWhatToDo(_ running: Int, _ words: String) {
        let refusal = TranscodingRefusal(camera: "door", running: running, cores: 0.84)
        let text = ViewerEnd.transcodingRefused(refusal).words
        for part in ["pictures of door", words, "0.8 processor cores", "substream", "transcodeVideo: true for door"] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
    }
}
