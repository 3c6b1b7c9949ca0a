import SDP
import Testing

/// What becomes of `m=` lines for which a camera has nothing. With `max-bundle` only the first tag of the group has a
/// transport, and a peer cannot continue if the answer rejects it.
@Suite struct KeptMediaTests {
    private static let transport = [
        "a=ice-ufrag:abcd", "a=ice-pwd:0123456789abcdefghijklmn", "a=fingerprint:" + Gateway.fingerprint.text,
        "a=setup:actpass",
    ]

    /// An offer with `max-bundle`: the first description has the transport, the others are bundle-only.
    private func offer(_ sections: [[String]]) throws -> SessionDescription {
        let mids = sections.indices.map { "\($0)" }.joined(separator: " ")
        var lines = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE " + mids]
        for (index, section) in sections.enumerated() {
            var section = section
            if index > 0 { section[0].replace(" 9 ", with: " 0 ") }
            lines += section + ["a=mid:\(index)"] + (index == 0 ? Self.transport : ["a=bundle-only"])
        }
        return try SessionDescription(parsing: lines.joined(separator: "\r\n") + "\r\n")
    }

    private static let audio = [
        "m=audio 9 UDP/TLS/RTP/SAVPF 111 0", "a=recvonly", "a=rtcp-mux", "a=rtpmap:111 opus/48000/2",
    ]
    private static let video = [
        "m=video 9 UDP/TLS/RTP/SAVPF 97 96", "a=recvonly", "a=rtcp-mux", "a=rtcp-rsize", "a=rtpmap:97 rtx/90000",
        "a=fmtp:97 apt=96", "a=rtpmap:96 VP8/90000", "a=rtcp-fb:96 nack",
    ]
    private static let data = ["m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=sctp-port:5000"]
    private static let oldData = ["m=application 9 DTLS/SCTP 5000", "a=sctpmap:5000 webrtc-datachannel 1024"]
    private static let unknown = [
        "m=audio 9 UDP/TLS/RTP/SAVPF 96", "a=recvonly", "a=rtcp-mux", "a=rtpmap:96 speex/8000",
    ]
    private static let unexplained = ["m=audio 9 UDP/TLS/RTP/SAVPF 96", "a=recvonly", "a=rtcp-mux"]
    private static let text = ["m=text 9 UDP/TLS/RTP/SAVPF 98", "a=rtcp-mux", "a=rtpmap:98 t140/1000"]
    private static let sending = [
        "m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=sendonly", "a=rtcp-mux", "a=rtpmap:111 opus/48000/2",
    ]

    private static let silent = [Gateway.video(.vp8)]
    private static let sound = [Gateway.audio(.opus, talkback: false)]
    private static let both = [Gateway.video(.vp8), Gateway.audio(.opus, talkback: false)]
    private static let speaker = [
        Gateway.video(.vp8),
        LocalTrack(
            kind: .audio, codecs: [], sends: false, receives: true, receiveCodecs: [.opus], ssrc: 5, cname: "camera",
            streamID: "camera-audio", trackID: "audio"),
    ]

    /// The sections of an offer, and what the gateway sends. Its type is named because the compiler takes seconds to find it.
    private static let combinations: [([[String]], [LocalTrack])] = [
        ([audio, video], silent), ([audio, video, data], silent), ([video, audio], sound), ([audio, video], speaker),
        ([sending, video], both), ([unknown, video], both), ([unexplained, video], both), ([text, video], both),
        ([data, audio, video], both), ([oldData, video], both), ([data, video], silent), ([data, audio], sound),
        ([video, video, audio, audio], both), ([audio, audio, video, video, data], both), ([video, audio], silent),
    ]

    @Test(arguments: combinations)
    func theFirstOfABundleIsNeverRejected(sections: [[String]], tracks: [LocalTrack]) throws {
        let offer = try offer(sections)
        let session = try Gateway.answerer(tracks).answer(offer)
        let answer = try SessionDescription(parsing: session.answer.encoded())
        #expect(answer.problems.isEmpty)
        #expect(answer.bundleGroups == [sections.indices.map { "\($0)" }])
        #expect(!session.media.isEmpty)
        for (index, section) in answer.media.enumerated() {
            #expect(section.port == 8189 && section.kind == offer.media[index].kind)
            #expect(section.transportProtocol == offer.media[index].transportProtocol)
            #expect(section.iceUsernameFragment == "gate" && section.setup == .passive)
            #expect(section.candidates.count == (index == 0 ? 2 : 0))
            guard !session.media.contains(where: { $0.index == index }) else { continue }
            #expect(section.formats.count == 1 && offer.media[index].formats.contains(section.formats[0]))
            if section.isRTP {
                #expect(section.ownDirection == .inactive && section.hasRTCPMux && section.mediaStreams.isEmpty)
            } else {
                #expect(section.value(of: "sctp-port") ?? section.value(of: "sctpmap") != nil)
            }
        }
    }

    @Test func aKeptDescriptionNamesACodecAndNoRetransmission() throws {
        let session = try Gateway.answerer(Self.sound).answer(offer([Self.video, Self.audio]))
        #expect(session.answer.media[0].payloads.map(\.codec.name) == ["VP8"])
        #expect(session.answer.media[0].hasReducedSizeRTCP)
        #expect(session.media.map(\.kind) == [.audio])
        #expect(session.note(ofMediaAt: 0)?.reason == .notUsed(.noTrack(.video)))
    }

    @Test func sectionsThatAreDisabledOrUnanswerableAreRejected() throws {
        var off = Self.audio
        off[0].replace(" 9 ", with: " 0 ")
        let fax = ["m=image 9 UDP/TLS/UDPTL t38"]
        let credentials = Self.transport
        let lines =
            ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE a b c"] + off + ["a=mid:a"]
            + fax + ["a=mid:b"] + credentials + Self.video + ["a=mid:c"] + credentials
        let session = try Gateway.answerer(Self.both).answer(
            SessionDescription(parsing: lines.joined(separator: "\r\n") + "\r\n"))
        #expect(session.answer.media.map(\.port) == [0, 0, 8189])
        #expect(session.answer.bundleGroups == [["c"]])
    }

    @Test func theTransportIsThatOfTheFirstTag() throws {
        // With "balanced" each kind has credentials of its own, until the answer puts all on the first tag's.
        let own = ["a=ice-ufrag:wxyz", "a=ice-pwd:zyxwvutsrqponmlkjihgfe", "a=fingerprint:" + Gateway.fingerprint.text]
        let lines =
            ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0 1"] + Self.audio + ["a=mid:0"]
            + Self.transport + Self.video + ["a=mid:1", "a=setup:active"] + own
        let session = try Gateway.answerer(Self.silent).answer(
            SessionDescription(parsing: lines.joined(separator: "\r\n") + "\r\n"))
        #expect(session.remote.usernameFragment == "abcd" && session.localSetup == .passive)
        #expect(session.answer.media[0].candidates.count == 2)
    }

    @Test func aPublishersOfferKeepsWhatItDoesNotSend() throws {
        var video = Self.video
        video[1] = "a=sendonly"
        for first in [Self.audio, Self.data, Self.unknown] {
            let session = try PublisherAnswerer(local: Gateway.transport).answer(offer([first, video]))
            #expect(session.answer.bundleGroups == [["0", "1"]])
            #expect(session.answer.media.map(\.port) == [8189, 8189])
            #expect(session.media.map(\.kind) == [.video])
        }
    }

    @Test func nothingIsKeptOfAnOfferOfWhichNothingIsUsed() throws {
        #expect(throws: NegotiationError.self) { try Gateway.answerer(Self.silent).answer(offer([Self.audio])) }
        #expect(throws: NegotiationError.self) { try Gateway.answerer(Self.silent).answer(offer([Self.data])) }
    }
}
