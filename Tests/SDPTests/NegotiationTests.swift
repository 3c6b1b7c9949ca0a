import SDP
import Testing
import Transport

@Suite struct NegotiationTests {
    private let credentials = [
        "a=ice-ufrag:abcd", "a=ice-pwd:0123456789abcdefghijklmn", "a=fingerprint:" + Gateway.fingerprint.text,
    ]

    private func offer(_ lines: [String], session: [String] = []) throws -> SessionDescription {
        try SessionDescription(
            parsing: (["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0"] + session + lines).joined(separator: "\n"))
    }

    private func video(_ mid: String, _ more: String...) -> [String] {
        ["m=video 9 UDP/TLS/RTP/SAVPF 96", "a=mid:" + mid, "a=rtcp-mux", "a=rtpmap:96 VP8/90000"] + more
    }

    private func audio(_ mid: String, _ more: String...) -> [String] {
        ["m=audio 9 UDP/TLS/RTP/SAVPF 111 0", "a=mid:" + mid, "a=rtcp-mux", "a=rtpmap:111 opus/48000/2"] + more
    }

    @Test func offerWithoutBundleGetsOneMediaSection() throws {
        let offer = try offer(audio("a", "a=recvonly") + video("v", "a=recvonly"), session: credentials)
        let session = try Gateway.answerer().answer(offer)
        #expect(session.media.map(\.kind) == [.video])
        #expect(session.answer.bundleGroups == [])
        #expect(session.answer.media.map(\.isRejected) == [true, false])
        #expect(session.notes == [NegotiationNote(.notUsed(.outsideBundle), ofMediaAt: 0, in: offer)])
    }

    @Test func mediaOutsideTheGroupIsRejected() throws {
        let session = try Gateway.answerer().answer(
            offer(audio("a") + video("v"), session: ["a=group:BUNDLE v x"] + credentials))
        #expect(session.media.map(\.mid) == ["v"])
        #expect(session.answer.bundleGroups == [["v"]])
    }

    @Test func groupOfUnknownTagsDoesNotCount() throws {
        let session = try Gateway.answerer().answer(
            offer(audio("a") + video("v"), session: ["a=group:BUNDLE x y"] + credentials))
        #expect(session.media.map(\.mid) == ["v"])
        #expect(session.answer.bundleGroups == [])
    }

    @Test func secondVideoIsNotUsed() throws {
        let session = try Gateway.answerer().answer(
            offer(video("1") + video("2") + audio("3"), session: ["a=group:BUNDLE 1 2 3"] + credentials))
        #expect(session.media.map(\.mid) == ["1", "3"])
        #expect(session.note(ofMediaAt: 1)?.reason == .notUsed(.alreadyUsed(.video)))
    }

    @Test func videoThatDoesNotMatchLeavesTheTrackForTheNextOne() throws {
        let h264 = ["m=video 9 UDP/TLS/RTP/SAVPF 97", "a=mid:1", "a=rtcp-mux", "a=rtpmap:97 H264/90000"]
        let session = try Gateway.answerer().answer(
            offer(h264 + video("2"), session: ["a=group:BUNDLE 1 2"] + credentials))
        #expect(session.media.map(\.mid) == ["2"])
        #expect(session.answer.bundleGroups == [["1", "2"]])
        #expect(session.answer.media.map(\.candidates.count) == [2, 0])
    }

    @Test func codecMismatchNamesBothSides() throws {
        let offer = try offer(video("1") + audio("2"), session: ["a=group:BUNDLE 1 2"] + credentials)
        var answerer = Gateway.answerer([Gateway.video(.h264(profileLevelID: "64001f")), Gateway.audio(.opus)])
        do {
            _ = try answerer.answer(offer)
            Issue.record("there is no codec in common")
        } catch .codecMismatch(let kind, let mismatch, let remedy) {
            #expect(kind == .video && remedy == .otherViewerOrStream)
            #expect(mismatch == CodecMismatch(own: [.h264(profileLevelID: "64001f")], offered: [.vp8]))
        } catch {
            Issue.record("\(error)")
        }
        answerer.allowsMissingVideo = true
        #expect(try answerer.answer(offer).media.map(\.kind) == [.audio])
    }

    @Test func missingAudioCodecDoesNotStopThePicture() throws {
        let aac = MediaCodec(name: "MPEG4-GENERIC", clockRate: 16000)
        let session = try Gateway.answerer([Gateway.video(.vp8), Gateway.audio(aac, talkback: false)]).answer(
            offer(video("1") + audio("2"), session: ["a=group:BUNDLE 1 2"] + credentials))
        #expect(session.media.map(\.kind) == [.video])
        let opus = MediaCodec(name: "opus", clockRate: 48000, channels: 2)
        let mismatch = CodecMismatch(own: [aac], offered: [opus, .pcmu])
        #expect(session.note(ofMediaAt: 1)?.reason == .notUsed(.noCommonCodec(mismatch)))
    }

    @Test func talkbackWorksWithoutACodecForSound() throws {
        let aac = MediaCodec(name: "MPEG4-GENERIC", clockRate: 16000)
        let session = try Gateway.answerer([Gateway.audio(aac)]).answer(
            offer(audio("2"), session: ["a=group:BUNDLE 2"] + credentials))
        #expect(session.media.map(\.direction) == [.recvonly])
        #expect(session.media[0].receivePayloadTypes.keys.sorted() == [0, 111])
        #expect(session.answer.media[0].sources == [])
    }

    @Test func talkbackIsAnsweredOnlyWhereItIsSupported() throws {
        let offer = try offer(audio("2", "a=sendrecv"), session: ["a=group:BUNDLE 2"] + credentials)
        #expect(try Gateway.answerer([Gateway.audio(.opus)]).answer(offer).media[0].direction == .sendrecv)
        let silent = try Gateway.answerer([Gateway.audio(.opus, talkback: false)]).answer(offer)
        #expect(silent.media[0].direction == .sendonly)
        #expect(silent.answer.media[0].formats == ["111"])
    }

    @Test(arguments: [["a=sendonly", "a=recvonly"], ["a=recvonly", "a=sendonly"]])
    func talkingAndListeningMayHaveALineEach(directions: [String]) throws {
        let session = try Gateway.answerer([Gateway.audio(.opus)]).answer(
            offer(
                audio("1", directions[0]) + audio("2", directions[1]) + audio("3", "a=sendrecv"),
                session: ["a=group:BUNDLE 1 2 3"] + credentials))
        #expect(
            session.media.map(\.direction.rawValue) == directions.map { $0 == "a=sendonly" ? "recvonly" : "sendonly" })
        #expect(session.note(ofMediaAt: 2)?.reason == .notUsed(.alreadyUsed(.audio)))
        #expect(session.answer.direction(of: session.answer.media[2]) == .inactive)
    }

    @Test func anInactiveLineTakesNothingFromOthers() throws {
        let h264 = [
            "m=video 9 UDP/TLS/RTP/SAVPF 97", "a=mid:1", "a=rtcp-mux", "a=rtpmap:97 H264/90000", "a=inactive",
        ]
        for first in [video("1", "a=inactive"), h264] {
            let session = try Gateway.answerer().answer(
                offer(first + video("2", "a=recvonly"), session: ["a=group:BUNDLE 1 2"] + credentials))
            #expect(session.media.filter(\.direction.sends).map(\.mid) == ["2"])
        }
        // Nobody asks for a picture, so a missing match is not a reason to refuse the sound.
        let session = try Gateway.answerer().answer(
            offer(h264 + audio("2", "a=recvonly"), session: ["a=group:BUNDLE 1 2"] + credentials))
        #expect(session.media.map(\.mid) == ["2"])
    }

    @Test func inactiveMediaStaysInactive() throws {
        let session = try Gateway.answerer().answer(
            offer(video("1", "a=inactive"), session: ["a=group:BUNDLE 1"] + credentials))
        #expect(session.media.map(\.direction) == [.inactive])
        #expect(!session.answer.media[0].isRejected)
    }

    @Test func publisherIsNotAnswered() throws {
        #expect(throws: NegotiationError.self) {
            try Gateway.answerer().answer(
                offer(video("1", "a=sendonly"), session: ["a=group:BUNDLE 1"] + credentials))
        }
    }

    @Test(arguments: [
        (DTLSSetup.actpass, DTLSSetup.passive), (.active, .passive), (.passive, .active), (.holdconn, .passive),
    ])
    func gatewayWaitsForDTLSIfItMay(theirs: DTLSSetup, ours: DTLSSetup) throws {
        let session = try Gateway.answerer().answer(
            offer(video("1", "a=setup:\(theirs.rawValue)"), session: ["a=group:BUNDLE 1"] + credentials))
        #expect(session.localSetup == ours)
        #expect(session.answer.media[0].setup == ours)
    }

    @Test func offerWithoutCredentialsOrFingerprintSaysSo() throws {
        let bundle = "a=group:BUNDLE 1"
        for (missing, word) in [
            ("a=ice-ufrag", "a=ice-ufrag"), ("a=ice-pwd", "a=ice-pwd"), ("a=fingerprint", "a=fingerprint"),
        ] {
            let session = [bundle] + credentials.filter { !$0.hasPrefix(missing) }
            do {
                _ = try Gateway.answerer().answer(offer(video("1"), session: session))
                Issue.record("\(missing) is missing")
            } catch let error as NegotiationError {
                #expect(error.description.contains(word))
            }
        }
    }

    @Test func weakFingerprintAloneIsRefused() throws {
        let weak = Fingerprint(algorithm: "sha-1", bytes: [UInt8](repeating: 1, count: 20))
        let session = ["a=group:BUNDLE 1"] + credentials.dropLast() + ["a=fingerprint:" + weak.text]
        #expect(throws: NegotiationError.self) { try Gateway.answerer().answer(offer(video("1"), session: session)) }
        let both = session + [credentials[2]]
        #expect(
            try Gateway.answerer().answer(offer(video("1"), session: both)).remote.fingerprints == [Gateway.fingerprint]
        )
    }

    @Test func sameTagTwiceIsRefused() throws {
        #expect(throws: NegotiationError.self) {
            try Gateway.answerer().answer(
                offer(video("1") + audio("1"), session: ["a=group:BUNDLE 1"] + credentials))
        }
    }

    @Test func answerIsTheSameEachTime() throws {
        let offer = try SessionDescription(parsing: Samples.text("offers/chromium-talkback-datachannel.offer.sdp"))
        let first = try Gateway.answerer().answer(offer)
        #expect(try Gateway.answerer().answer(offer) == first)
        var next = Gateway.answerer()
        next.sessionVersion = 2
        #expect(try next.answer(offer).answer.origin?.sessionVersion == "2")
    }

    @Test func extensionNumbersAbove14AreNotUsed() throws {
        let session = try Gateway.answerer().answer(
            offer(
                video(
                    "1", "a=extmap:15 urn:ietf:params:rtp-hdrext:sdes:mid",
                    "a=extmap:14/recvonly http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"),
                session: ["a=group:BUNDLE 1"] + credentials))
        #expect(names(session.media[0].headerExtensions) == ["absoluteSendTime": 14])
        #expect(session.answer.media[0].headerExtensions.map(\.direction) == [.sendonly])
    }

    private static let playoutDelay = "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"

    @Test func thePlayoutDelayIsAcceptedOnceAndForPicturesOnly() throws {
        let line = "a=extmap:5 " + Self.playoutDelay
        let session = try Gateway.answerer().answer(
            offer(
                video("1", line, line, "a=extmap:6/recvonly " + Self.playoutDelay) + audio("2", line),
                session: ["a=group:BUNDLE 1 2"] + credentials))
        #expect(session.media.map { names($0.headerExtensions) } == [["playoutDelay": 5], [:]])
        let answered = session.answer.media.map { $0.headerExtensions.map(\.text) }
        #expect(answered == [["5 " + Self.playoutDelay], []])
    }

    @Test(arguments: ["15", "5/sendonly", "5/inactive"])
    func aPlayoutDelayThatCannotBeSentIsNotAccepted(number: String) throws {
        let session = try Gateway.answerer().answer(
            offer(
                video("1", "a=extmap:\(number) " + Self.playoutDelay), session: ["a=group:BUNDLE 1"] + credentials))
        #expect(session.media[0].headerExtensions.playoutDelay == nil)
        #expect(session.answer.media[0].headerExtensions.isEmpty)
    }

    @Test func gatewayWithoutCandidatesStillAnswers() throws {
        var answerer = Gateway.answerer()
        answerer.local.candidates = []
        let session = try answerer.answer(offer(video("1"), session: ["a=group:BUNDLE 1"] + credentials))
        #expect(session.answer.media[0].port == 9)
        #expect(session.answer.media[0].connection?.address == "0.0.0.0")
        #expect(!session.answer.media[0].hasEndOfCandidates)
    }
}
