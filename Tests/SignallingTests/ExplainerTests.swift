import Cameras
import Foundation
import SDP
import Testing
import Transport

@testable import Signalling
@testable import Stations

@Suite struct ExplainerTests {
    private func explain(
        _ path: String, as reading: DescriptionReading? = nil
    ) throws -> (DescriptionExplanation, String) {
        let description = try SessionDescription(parsing: ServiceWorld.text(path))
        let explanation = DescriptionExplainer(transcodesVideo: false).explain(description, as: reading)
        return (explanation, explanation.lines.joined(separator: "\n"))
    }

    private func explain(_ lines: [String], as reading: DescriptionReading? = nil) throws -> DescriptionExplanation {
        DescriptionExplainer(transcodesVideo: false).explain(
            try SessionDescription(parsing: lines.joined(separator: "\r\n") + "\r\n"), as: reading)
    }

    @Test func browserOfferNamesWhatPlays() throws {
        let (explanation, text) = try explain("offers/chromium-talkback-datachannel.offer.sdp")
        #expect(explanation.role == .offer && explanation.endpoint == "whep")
        #expect(explanation.isUsable)
        #expect(text.contains("A camera with VP8 video: plays as payload type 96, retransmitted as 97."))
        #expect(text.contains("A camera with H.264 Main video: plays as payload type 116, retransmitted as 117."))
        #expect(
            text.contains(
                "A camera with H.265 video: is transcoded to VP8 and plays as payload type 96, retransmitted as 97 "
                    + "with `transcodeVideo: auto`."))
        #expect(text.contains("A camera with AAC sound: is transcoded to opus and plays as payload type 111."))
        #expect(text.contains("Talkback is possible"))
        #expect(text.contains("Data channels are possible"))
    }

    @Test func whatTheConfigTranscodesPlays() throws {
        let offer = try SessionDescription(parsing: ServiceWorld.text("offers/chromium-recvonly-av.offer.sdp"))
        let text = DescriptionExplainer(transcodesVideo: true).explain(offer).lines.joined(separator: "\n")
        #expect(
            text.contains(
                "A camera with H.265 video: is transcoded to VP8 and plays as payload type 96, retransmitted as 97."))
    }

    @Test func firefoxWithoutH264IsExplained() throws {
        let (_, text) = try explain("offers/firefox-recvonly-av.offer.sdp")
        #expect(text.contains("A camera with H.264 Main video: is transcoded to VP8 and plays as payload type 120"))
        #expect(text.contains("mDNS"))
        #expect(text.contains("Talkback is not possible"))
    }

    @Test(arguments: ["chromium-datachannel-only", "firefox-datachannel-only"])
    func offerOfDataAloneIsUsable(name: String) throws {
        let (explanation, text) = try explain("offers/\(name).offer.sdp")
        #expect(explanation.isUsable)
        #expect(text.contains("/whep accepts it, without sound and pictures."))
    }

    @Test func offerOfDataChannelsWithoutAPortIsUnusable() throws {
        let text = try ServiceWorld.text("offers/chromium-datachannel-only.offer.sdp")
            .replacing("a=sctp-port:5000", with: "a=sctp-port:0")
        let explanation = DescriptionExplainer(transcodesVideo: false).explain(try SessionDescription(parsing: text))
        let fault = try #require(explanation.fault)
        #expect(fault.text.hasPrefix("m=application"))
        #expect(text.split(whereSeparator: \.isNewline)[fault.line - 1] == fault.text)
    }

    @Test func descriptionWithoutMediaIsUnusable() throws {
        let explanation = try explain(["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0"])
        #expect(explanation.fault?.line == 0)
        #expect(explanation.fault?.reason.hasSuffix("its description has no m= line") == true)
    }

    @Test func documentHoldsWhatWasUnderstood() throws {
        let path = "offers/chromium-recvonly-av.offer.sdp"
        let document = try SessionDescriptionDocument(SessionDescription(parsing: ServiceWorld.text(path)))
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

    // MARK: What a description is

    @Test(arguments: ["chromium-simulcast-publish", "firefox-simulcast-publish"])
    func aPublishersOfferGetsTheVerdictOfWHIP(name: String) throws {
        let (explanation, text) = try explain("offers/\(name).offer.sdp")
        #expect(explanation.endpoint == "whip" && explanation.isUsable)
        #expect(text.contains("/whip accepts video as VP8 with payload type"))
        // The live view has nothing to send to it, and says so.
        let (asViewer, _) = try explain("offers/\(name).offer.sdp", as: .viewer)
        #expect(asViewer.endpoint == "whep" && !asViewer.isUsable)
    }

    /// Browsers offer to receive what they publish, unless the page says otherwise.
    @Test(arguments: ["chromium-sendonly-publish-av", "firefox-sendonly-publish-av", "echo-show"])
    func anOfferThatMayBeEitherGetsBothVerdicts(name: String) throws {
        let (explanation, text) = try explain("offers/\(name).offer.sdp")
        #expect(explanation.endpoint == "whep" && explanation.isUsable)
        #expect(text.contains("--as publisher") && text.contains("/whip "))
        #expect(try explain("offers/\(name).offer.sdp", as: .publisher).0.endpoint == "whip")
    }

    @Test(arguments: ["active", "passive"])
    func anOfferThatHasChosenItsRoleIsStillAnOffer(setup: String) throws {
        let text = try ServiceWorld.text("offers/chromium-recvonly-av.offer.sdp")
            .replacing("a=setup:actpass", with: "a=setup:\(setup)")
        let description = try SessionDescription(parsing: text)
        let explanation = DescriptionExplainer().explain(description)
        #expect(explanation.role == .offer && explanation.endpoint == "whep" && explanation.isUsable)
        #expect(explanation.lines.contains { $0.contains("--as answer") })
        #expect(DescriptionExplainer().explain(description, as: .answer).role == .answer)
    }

    private static let head = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0"]
    private static let transport = [
        "a=ice-ufrag:abcd", "a=ice-pwd:0123456789abcdefghijklmn", "a=setup:actpass",
        "a=fingerprint:sha-256 " + (0..<32).map { _ in "AB" }.joined(separator: ":"),
    ]

    /// The first payload type is of no use, the second one is.
    @Test func everyPayloadTypeOfALineCounts() throws {
        let offer = try explain(
            Self.head + ["m=video 9 UDP/TLS/RTP/SAVPF 99 96", "a=mid:0", "a=recvonly", "a=rtcp-mux"]
                + ["a=rtpmap:99 X-OWN/90000", "a=rtpmap:96 VP8/90000"] + Self.transport)
        #expect(offer.isUsable)
        let camera = try explain(
            Self.head + ["m=video 0 RTP/AVP 99 96", "a=rtpmap:99 X-OWN/90000", "a=rtpmap:96 H264/90000"])
        #expect(camera.isUsable && camera.lines[1].contains("H264 as payload type 96"))
    }

    @Test func theRealCauseIsNamedOnceWithItsLine() throws {
        let media = ["m=video 9 UDP/TLS/RTP/SAVPF 96", "a=mid:0", "a=recvonly", "a=rtcp-mux", "a=rtpmap:96 VP8/90000"]
        let causes: [([String], Int, String)] = [
            (Self.transport.filter { !$0.hasPrefix("a=fingerprint") }, 5, "no a=fingerprint"),
            (Self.transport.filter { !$0.hasPrefix("a=ice-ufrag") }, 5, "no ICE credentials"),
            (
                Self.transport.map {
                    $0.hasPrefix("a=fingerprint")
                        ? "a=fingerprint:sha-1 " + (0..<20).map { _ in "AB" }.joined(separator: ":") : $0
                }, 13, "only sha-1"
            ),
        ]
        for (transport, line, cause) in causes {
            let explanation = try explain(Self.head + media + transport, as: .viewer)
            #expect(explanation.fault?.line == line, "\(explanation)")
            #expect(explanation.fault?.reason.contains(cause) == true, "\(explanation)")
            #expect(explanation.lines.filter { $0.contains(cause) }.count == 1, "\(explanation)")
        }
        let unknown = try explain(
            Self.head + media.map { $0.replacing("VP8", with: "X-OWN") } + Self.transport, as: .viewer)
        #expect(unknown.fault?.line == 5 && unknown.fault?.text == media[0])
        #expect(unknown.fault?.reason.contains("no common codec") == true)
    }

    @Test func aWrongClockIsNamed() throws {
        let camera = try explain(Self.head + ["m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/9000"])
        #expect(camera.fault?.reason.contains("H264/9000, where video needs a clock rate of 90000") == true)
        #expect(camera.fault?.line == 5)
    }

    // MARK: Samples

    private struct Camera: Decodable {
        var live: [String]
        var usable: Bool
        var explains: [String]
    }

    private static func expectation<Value: Decodable>(_ path: String) throws -> Value {
        try JSONDecoder().decode(
            Value.self, from: Data(ServiceWorld.text(path.replacing(".sdp", with: ".expect.json")).utf8))
    }

    @Test(arguments: try ServiceWorld.samples(in: "cameras"))
    func explanationSaysWhatPlays(path: String) throws {
        let expected: Camera = try Self.expectation(path)
        let (explanation, text) = try explain(path)
        #expect(explanation.role == .camera)
        #expect(explanation.isUsable == expected.usable, "\(path): \(explanation)")
        for phrase in expected.explains { #expect(text.contains(phrase), "\(path): \(text)") }
        let tracks = try SampledCamera(path).negotiation(transcodesVideo: false).layout.tracks
        let passed = LiveViewNegotiation.ranked(tracks, hint: nil)
            .filter { $0.derivedFrom == nil && $0.description.codec.passThroughRank != nil }
        let live = [MediaKind.video, .audio].compactMap { kind in
            passed.first { $0.description.kind == kind }?.description.codec.name
        }
        #expect(live == expected.live, "\(path)")
    }

    @Test(arguments: try ServiceWorld.samples(in: "answers"))
    func answerIsExplained(path: String) throws {
        struct Answer: Decodable { var error: String? }
        let expected: Answer = try Self.expectation(path)
        let (explanation, _) = try explain(path, as: .answer)
        #expect(explanation.role == .answer)
        #expect(explanation.isUsable == (expected.error == nil), "\(path): \(explanation)")
    }

    @Test func damagedDescriptionsAreExplained() throws {
        var random = RandomSource.seeded(7)
        for path in try ["offers", "answers", "cameras"].flatMap(ServiceWorld.samples) {
            var bytes = Array(try ServiceWorld.text(path).utf8)
            for _ in 0..<4 {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let description = try? SessionDescription(parsing: String(decoding: bytes, as: UTF8.self)) else {
                continue
            }
            for reading in [DescriptionReading.viewer, .publisher, .answer, .camera] {
                let explanation = DescriptionExplainer().explain(description, as: reading)
                #expect(!explanation.lines.isEmpty)
                if let fault = explanation.fault { #expect(!fault.reason.isEmpty && !fault.reason.hasSuffix(": ")) }
            }
        }
    }
}
