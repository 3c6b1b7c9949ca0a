import PeerConnection
import Testing

@testable import MediaRelay

@Suite struct RelayEndTests {
    @Test(arguments: [
        (RelayEnd.connectionFailed(.consentExpired), "the peer has stopped answering connectivity checks"),
        (.viewer(.trackGone), "the camera no longer sends this track"),
        (
            .viewer(.bFrames),
            "the camera's video has B-frames, which browsers cannot play; start the view again to get another stream"
        ),
        (.goodbye, "the publisher has said goodbye"),
        (.viewer(.revoked), "the camera was switched off, or a privacy mode was switched on"),
        (.shuttingDown, "the gateway is shutting down"),
    ])
    func anEndHasItsWords(_ end: RelayEnd, _ words: String) {
        #expect(end.words == words)
    }

    @Test(arguments: [
        (0, "It alone would need too much"), (1, "One other camera is being transcoded"),
        (3, "3 other cameras are being transcoded"),
    ])
    func aRefusedTranscoderSaysWhatToDo(_ running: Int, _ words: String) {
        let refusal = TranscodingRefusal(camera: "door", running: running, cores: 0.84)
        let text = RelayEnd.viewer(.transcodingRefused(refusal)).words
        for part in ["pictures of door", words, "0.8 processor cores", "substream", "transcodeVideo: true for door"] {
            #expect(text.contains(part), "\(part) in \(text)")
        }
    }

    @Test func aGoodbyeHoldsTheWordsThatFit() {
        let words = RelayEnd.viewer(.bFrames).words
        #expect(RelayEnd.goodbyeReason(words) == words)
        let full = String(repeating: "x", count: 255)
        #expect(RelayEnd.goodbyeReason(full) == full)
        #expect(RelayEnd.goodbyeReason(full + "x") == String(repeating: "x", count: 252) + "…")
        // A door in Japanese has three bytes, so one of them ends behind byte 252 exactly.
        #expect(RelayEnd.goodbyeReason(String(repeating: "門", count: 86)) == String(repeating: "門", count: 84) + "…")
        #expect(RelayEnd.goodbyeReason("x" + String(repeating: "門", count: 86)).utf8.count == 253)
    }
}
