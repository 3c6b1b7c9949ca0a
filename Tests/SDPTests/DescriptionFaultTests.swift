import SDP
import Testing

@Suite struct DescriptionFaultTests {
    private static let media = NegotiationNote.Media(index: 1, label: "m-line 2 (video)")

    static let faults: [(fault: DescriptionFault, words: String)] = [
        (.noMedia, "the offer has no m= line"),
        (.incompleteMediaLine("video"), "m=video does not have the form m=<media> <port> <protocol> <format>…"),
        (.unusablePort(mediaLine: "video x RTP/AVP 0"), "m=video x RTP/AVP 0 has no port from 0 to 65535"),
        (.repeatedTag("a"), "two media sections have the identification tag a"),
        (
            .mediaCount(answer: 1, offer: 2),
            "the answer has 1 m= lines and the offer has 2; they must be the same"
        ),
        (.answersKind(media, .audio), "m-line 2 (video) answers a media section of audio"),
        (.answersTag(media, "a"), "m-line 2 (video) answers a media section with the tag a"),
        (
            .outsideBundle(index: 1),
            "the answer has media outside its BUNDLE group (m-line 2); one transport was offered"
        ),
    ]

    @Test(arguments: DescriptionFaultTests.faults)
    func `a fault has its words`(fault: DescriptionFault, words: String) {
        #expect(fault.description == words)
        #expect(NegotiationError.invalidDescription(fault, line: 3).description == "line 3: " + words)
    }
}
