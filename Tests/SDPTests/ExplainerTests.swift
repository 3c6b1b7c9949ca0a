import Foundation
import SDP
import Testing

@Suite struct ExplainerTests {
    private func explain(_ path: String) throws -> (SDPExplanation, String) {
        let explanation = try SDPExplainer.explain(SessionDescription(parsing: Samples.text(path)))
        return (explanation, explanation.lines.joined(separator: "\n"))
    }

    @Test func browserOfferNamesWhatPlays() throws {
        let (explanation, text) = try explain("offers/chromium-talkback-datachannel.offer.sdp")
        #expect(explanation.role == .offer)
        #expect(explanation.isUsable)
        #expect(text.contains("A camera with VP8 video: plays as payload type 96, repeated as 97."))
        #expect(text.contains("A camera with H.264 Main video: plays as payload type 116, repeated as 117."))
        #expect(text.contains("A camera with H.265 video: does not play"))
        #expect(text.contains("A camera with AAC sound: does not play"))
        #expect(text.contains("Talkback is possible"))
        #expect(text.contains("not carried by this gateway"))
    }

    @Test func firefoxWithoutH264SaysSo() throws {
        let (_, text) = try explain("offers/firefox-recvonly-av.offer.sdp")
        #expect(text.contains("A camera with H.264 Main video: does not play: the viewer takes no such codec"))
        #expect(text.contains("mDNS"))
        #expect(text.contains("Talkback is not possible"))
    }

    @Test(arguments: ["chromium-datachannel-only", "firefox-datachannel-only"])
    func offerOfDataAloneIsUnusable(name: String) throws {
        let (explanation, _) = try explain("offers/\(name).offer.sdp")
        #expect(!explanation.isUsable)
        let fault = try #require(explanation.fault)
        #expect(fault.text.hasPrefix("m=application"))
        let lines = try Samples.text("offers/\(name).offer.sdp").split(whereSeparator: \.isNewline)
        #expect(lines[fault.line - 1] == fault.text)
    }

    @Test func descriptionWithoutMediaIsUnusable() throws {
        let explanation = SDPExplainer.explain(try parse("v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0"))
        #expect(explanation.fault?.line == 0)
        #expect(explanation.fault?.reason == "there is no m= line")
    }

    @Test func documentHoldsWhatWasUnderstood() throws {
        let path = "offers/chromium-recvonly-av.offer.sdp"
        let document = try SessionDescriptionDocument(SessionDescription(parsing: Samples.text(path)))
        let data = try JSONEncoder().encode(document)
        #expect(try JSONDecoder().decode(SessionDescriptionDocument.self, from: data) == document)
        let video = try #require(document.media.first)
        #expect(video.payloads.count == 34)
        #expect(video.payloads.first { $0.payloadType == 116 }?.profile == "Main level 3.1")
        #expect(video.transport.candidates.count == 4)
        #expect(video.payloads[0].feedback == ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"])
        #expect(document.groups.first?.mids == ["0", "1"])
    }

    @Test func problemsAreRemarks() throws {
        let (_, text) = try explain("cameras/garbage-between.sdp")
        #expect(text.contains("Remark: line 5: is not of the form x=value: Content-Length: 12"))
    }
}
