import SDP
import Testing
import Transport

@Suite struct PublisherAnswererTests {
    private let answerer = PublisherAnswerer(local: Gateway.transport)

    private func sample(_ name: String) throws -> SessionDescription {
        try SessionDescription(parsing: Samples.text("offers/\(name).offer.sdp"))
    }

    private func refusal(_ offer: SessionDescription, _ answerer: PublisherAnswerer? = nil) -> NegotiationError? {
        do {
            _ = try (answerer ?? self.answerer).answer(offer)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["chromium", "firefox"])
    func aBrowsersCameraAndMicrophoneAreAccepted(browser: String) throws {
        let session = try answerer.answer(sample("\(browser)-sendonly-publish-av"))
        #expect(session.media.map(\.kind) == [.audio, .video])
        #expect(session.media.map(\.direction) == [.recvonly, .recvonly])
        #expect(session.media.map(\.codec.name) == ["opus", "VP8"])
        #expect(session.localSetup == .passive)
        let video = session.media[1]
        #expect(video.feedback.isSuperset(of: [.nack, .pli, .transportCC]))
        #expect(video.headerExtensions.transportWideCC != nil)
        // Nobody watches the publisher's pictures at this end.
        #expect(video.headerExtensions.playoutDelay == nil)
        #expect(!session.answer.encoded().contains("playout-delay"))
        #expect(video.receiveRetransmissionPayloadTypes.values.contains(video.payloadType))
        #expect(video.remoteSSRCs.count == 1)
        for section in session.answer.media {
            #expect(session.answer.direction(of: section) == .recvonly)
            #expect(section.sources.isEmpty && section.hasRTCPMux && !section.isRejected)
            // One codec, and for video its retransmissions.
            #expect(section.payloads.filter { !$0.codec.isAuxiliary }.count == 1)
        }
        #expect(session.answer.bundleGroups == [["0", "1"]])
        #expect(!session.answer.media[0].candidates.isEmpty)
    }

    @Test func oneLayerOfSimulcastIsUsed() throws {
        let session = try answerer.answer(sample("chromium-simulcast-publish"))
        #expect(session.media.contains { $0.kind == .video })
        #expect(!session.answer.encoded().contains("a=simulcast") && !session.answer.encoded().contains("a=rid"))
        #expect(session.notes.contains { $0.reason == .oneLayer(of: 3) })
    }

    /// An encoder that knows only H.264 and is always the DTLS client.
    static let studio = [
        "v=0", "o=- 1 0 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0 1", "a=msid-semantic:WMS *",
        "a=setup:active", "a=ice-ufrag:abcd", "a=ice-pwd:0123456789abcdefghijkl", "a=ice-options:ice2,trickle",
        "a=fingerprint:" + Gateway.fingerprint.text,
        "m=audio 40000 UDP/TLS/RTP/SAVPF 111", "c=IN IP4 192.0.2.7", "a=mid:0", "a=sendonly", "a=rtcp-mux",
        "a=ssrc:11 cname:a", "a=msid:s a", "a=rtpmap:111 opus/48000/2",
        "a=fmtp:111 minptime=10;stereo=1;useinbandfec=1",
        "m=video 40000 UDP/TLS/RTP/SAVPF 96", "c=IN IP4 192.0.2.7", "a=mid:1", "a=sendonly", "a=rtcp-mux",
        "a=ssrc:12 cname:a", "a=msid:s v", "a=rtpmap:96 H264/90000", "a=rtcp-fb:96 nack", "a=rtcp-fb:96 nack pli",
        "a=rtcp-fb:96 goog-remb",
        "a=fmtp:96 profile-level-id=42e01f;packetization-mode=1;level-asymmetry-allowed=1",
        "a=candidate:1 1 UDP 2122317823 192.0.2.7 40000 typ host", "a=end-of-candidates",
    ]

    /// A pipeline that lists what its encoders can do, retransmissions and forward error correction among it.
    static let pipeline = [
        "v=0", "o=- 5 0 IN IP4 0.0.0.0", "s=-", "t=0 0", "a=ice-options:trickle", "a=group:BUNDLE video0 audio1",
        "m=video 9 UDP/TLS/RTP/SAVPF 96 97 98 99 100 101", "c=IN IP4 0.0.0.0", "a=setup:actpass", "a=ice-ufrag:efgh",
        "a=ice-pwd:0123456789abcdefghijklmn", "a=rtcp-mux", "a=rtcp-rsize", "a=sendonly", "a=mid:video0",
        "a=rtpmap:96 VP8/90000", "a=rtcp-fb:96 nack", "a=rtcp-fb:96 nack pli", "a=rtcp-fb:96 ccm fir",
        "a=rtcp-fb:96 transport-cc", "a=rtpmap:97 rtx/90000", "a=fmtp:97 apt=96", "a=rtpmap:98 red/90000",
        "a=rtpmap:99 ulpfec/90000", "a=rtpmap:100 H264/90000",
        "a=fmtp:100 packetization-mode=1;profile-level-id=42c01f",
        "a=rtpmap:101 rtx/90000", "a=fmtp:101 apt=100", "a=ssrc-group:FID 77 78", "a=ssrc:77 cname:p",
        "a=ssrc:78 cname:p",
        "a=extmap:1 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
        "a=fingerprint:" + Gateway.fingerprint.text,
        "m=audio 9 UDP/TLS/RTP/SAVPF 102", "c=IN IP4 0.0.0.0", "a=setup:actpass", "a=ice-ufrag:efgh",
        "a=ice-pwd:0123456789abcdefghijklmn", "a=bundle-only", "a=rtcp-mux", "a=sendonly", "a=mid:audio1",
        "a=rtpmap:102 OPUS/48000/2", "a=ssrc:79 cname:p", "a=fingerprint:" + Gateway.fingerprint.text,
    ]

    private func offer(_ lines: [String]) throws -> SessionDescription {
        try SessionDescription(parsing: lines.joined(separator: "\r\n") + "\r\n")
    }

    @Test func anEncoderWithOnlyH264IsAccepted() throws {
        let session = try answerer.answer(offer(Self.studio))
        #expect(session.media.map(\.codec.name) == ["opus", "H264"])
        #expect(session.localSetup == .passive)
        let video = session.media[1]
        #expect(video.feedback == [.nack, .pli, .remb] && video.remoteSSRCs == [12])
        #expect(session.answer.media[1].payloads.first?.codec.formatParameters["packetization-mode"] == "1")
    }

    @Test func aPipelinesPictureComesFirstAndItsRetransmissionsAreKnown() throws {
        let session = try answerer.answer(offer(Self.pipeline))
        #expect(session.media.map(\.kind) == [.video, .audio])
        let video = session.media[0]
        #expect(video.payloadType == 96 && video.receiveRetransmissionPayloadTypes == [97: 96])
        #expect(video.remoteSSRCs == [77] && video.remoteRetransmissionSSRCs == [78: 77])
        #expect(session.answer.media[0].formats == ["96", "97"])
    }

    @Test func whatViewersAlreadyReceiveIsPreferred() throws {
        var answerer = answerer
        answerer.preferred = [.h264(profileLevelID: "42e01f"), .opus]
        #expect(try answerer.answer(offer(Self.pipeline)).media[0].codec.isNamed("H264"))
        // A publisher without it publishes what it has.
        answerer.preferred = [.vp8]
        #expect(try answerer.answer(offer(Self.studio)).media[1].codec.isNamed("H264"))
    }

    @Test func anOfferIsAcceptedAsAWholeOrNotAtAll() throws {
        let second =
            Self.pipeline + [
                "m=video 9 UDP/TLS/RTP/SAVPF 96", "c=IN IP4 0.0.0.0", "a=rtcp-mux", "a=sendonly", "a=mid:video2",
                "a=rtpmap:96 VP8/90000",
            ]
        var lines = second
        lines[5] = "a=group:BUNDLE video0 audio1 video2"
        guard case .noUsableMedia(let reasons) = refusal(try offer(lines)) else {
            Issue.record("two pictures are not a camera")
            return
        }
        #expect(reasons.map(\.reason) == [.notUsed(.alreadyUsed(.video)), .onlyAsAWhole])
        #expect(reasons.map(\.media?.index) == [2, nil])
        let strange = Self.studio.map { $0.replacing("opus/48000/2", with: "speex/16000") }
        guard case .noUsableMedia(let missing) = refusal(try offer(strange)) else {
            Issue.record("the sound is lost in silence")
            return
        }
        guard case .notUsed(.noCommonCodec(let mismatch)) = missing.first?.reason else {
            Issue.record("\(missing)")
            return
        }
        #expect(mismatch.offered.map(\.mapping) == ["speex/16000"])
        // What the offer itself has switched off is not missed.
        let off = Self.pipeline.map {
            $0.replacing("m=audio 9 UDP/TLS/RTP/SAVPF 102", with: "m=audio 0 UDP/TLS/RTP/SAVPF 102")
        }
        .filter { $0 != "a=bundle-only" }
        #expect(try answerer.answer(offer(off)).media.map(\.kind) == [.video])
    }

    @Test func anOfferThatOnlyReceivesCannotPublish() throws {
        #expect(refusal(try sample("chromium-recvonly-av")) != nil)
    }

    @Test func aCodecThatNobodyPlaysNamesBothSides() throws {
        let lines = Self.studio.map { $0.replacing("H264/90000", with: "VP9/90000") }
        guard case .codecMismatch(let kind, let mismatch, let remedy) = refusal(try offer(lines)) else {
            Issue.record("there is no codec in common")
            return
        }
        #expect(kind == .video && remedy == .publishOwnCodec)
        #expect(mismatch.own.map(\.name) == ["H264", "VP8", "AV1"] && mismatch.offered.map(\.name) == ["VP9"])
    }

    @Test func damagedOffersAreAnsweredOrRefused() throws {
        var random = RandomSource.seeded(9725)
        var answered = 0
        let recorded = try [
            "chromium-sendonly-publish-av", "firefox-sendonly-publish-av", "chromium-simulcast-publish",
        ]
        .map { try Samples.text("offers/\($0).offer.sdp") }
        for text in recorded + [Self.studio, Self.pipeline].map({ $0.joined(separator: "\r\n") + "\r\n" }) {
            for _ in 0..<60 {
                var lines = text.split(separator: "\r\n", omittingEmptySubsequences: true).map(String.init)
                for _ in 0..<Int.random(in: 1...4, using: &random) where lines.count > 1 {
                    let index = Int.random(in: lines.indices, using: &random)
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: lines.remove(at: index)
                    case 1: lines.insert(lines[Int.random(in: lines.indices, using: &random)], at: index)
                    case 2: lines[index] = String(lines[index].dropLast(Int.random(in: 1...8, using: &random)))
                    default: lines[index] += "\(UInt64.random(in: 0...(.max), using: &random))"
                    }
                }
                guard let description = try? offer(lines), let session = try? answerer.answer(description) else {
                    continue
                }
                answered += 1
                let again = try SessionDescription(parsing: session.answer.encoded())
                #expect(again.media.count == description.media.count)
                #expect(session.media.allSatisfy { !$0.direction.sends })
            }
        }
        #expect(answered > 30)
    }
}
