import SDP
import Testing

@Suite struct H264ProfileTests {
    @Test(arguments: [
        ("42e01f", H264Profile.Profile.constrainedBaseline, "3.1"), ("42C01E", .constrainedBaseline, "3"),
        ("4d801f", .constrainedBaseline, "3.1"), ("58c01f", .constrainedBaseline, "3.1"),
        ("42001f", .baseline, "3.1"), ("588014", .baseline, "2"), ("4d001f", .main, "3.1"), ("4d4032", .main, "5"),
        ("58001f", .extended, "3.1"), ("640028", .high, "4"), ("64C028", .high, "4"),
        ("640c1f", .constrainedHigh, "3.1"), ("6e0028", .high10, "4"), ("6e1028", .high10Intra, "4"),
        ("7a0028", .high422, "4"), ("f4001f", .high444Predictive, "3.1"), ("2c101f", .cavlc444Intra, "3.1"),
        ("42f00b", .constrainedBaseline, "1b"), ("42e00b", .constrainedBaseline, "1.1"), ("640009", .high, "1b"),
    ])
    func profileIsReadByItsMeaning(text: String, profile: H264Profile.Profile, level: String) throws {
        let read = try #require(H264Profile(profileLevelID: text))
        #expect(read.profile == profile)
        #expect(read.level.description == level)
        #expect(H264Profile(profileLevelID: read.profileLevelID) == read)
    }

    @Test(arguments: ["", "42e0", "42e01f00", "42e01g", "42 e01f", "420000", "00001f", "é2e01f"])
    func nonsenseIsNotAProfile(text: String) {
        #expect(H264Profile(profileLevelID: text) == nil)
    }

    @Test func levelsAreOrdered() {
        let texts = ["42e00a", "42f00b", "42e00b", "42e00c", "42e01f", "42e034"]
        let levels = texts.compactMap { H264Profile(profileLevelID: $0)?.level }
        #expect(levels == levels.sorted())
        #expect(Set(levels).count == texts.count)
    }

    @Test func everySpellingOfAProfileIsTheSame() {
        #expect(H264Profile(profileLevelID: "42e01f") == H264Profile(profileLevelID: "4d801f"))
        #expect(H264Profile(profileLevelID: "42001f") != H264Profile(profileLevelID: "42e01f"))
    }

    /// The payload type of an offer of these profiles and modes, in order from 96, that a stream gets, and the doubts
    /// about it.
    private func choice(stream: MediaCodec, offered: [(String?, String?)]) throws -> (UInt8, [CodecDoubt]) {
        var offer = try parse(
            "v=0", "a=ice-ufrag:abcd", "a=ice-pwd:0123456789abcdefghijklmn", "a=fingerprint:" + Gateway.fingerprint.text
        )
        var section = MediaDescription(
            kind: .video, port: 9, transportProtocol: "UDP/TLS/RTP/SAVPF",
            formats: offered.indices.map { "\(96 + $0)" })
        section.append("rtcp-mux")
        section.append("recvonly")
        for (index, (profile, mode)) in offered.enumerated() {
            section.append("rtpmap", "\(96 + index) H264/90000")
            let parameters = [profile.map { "profile-level-id=" + $0 }, mode.map { "packetization-mode=" + $0 }]
            let text = parameters.compactMap { $0 }.joined(separator: ";")
            if !text.isEmpty { section.append("fmtp", "\(96 + index) \(text)") }
        }
        offer.media.append(section)
        let session = try Gateway.answerer([Gateway.video(stream)]).answer(offer)
        let doubts = session.notes.flatMap { note -> [CodecDoubt] in
            if case .doubts(let doubts) = note.reason { doubts } else { [] }
        }
        return (try #require(session.media.first).payloadType, doubts)
    }

    @Test func sameProfileInAnotherSpellingIsAMatch() throws {
        let (payloadType, doubts) = try choice(
            stream: .h264(profileLevelID: "4d801f"), offered: [("640c1f", "1"), ("4d001f", "1"), ("42e01f", "1")])
        #expect(payloadType == 98)
        #expect(doubts == [])
    }

    @Test func richerProfileAcceptsAPoorerStream() throws {
        let (payloadType, doubts) = try choice(
            stream: .h264(profileLevelID: "4d001f"), offered: [("42e01f", "1"), ("640c1f", "1"), ("64001f", "1")])
        #expect(payloadType == 98)
        #expect(doubts == [])
    }

    @Test func fragmentsMatterMoreThanProfiles() throws {
        let (payloadType, doubts) = try choice(
            stream: .h264(profileLevelID: "42e01f"), offered: [("42e01f", "0"), ("42001f", "1")])
        #expect(payloadType == 97)
        #expect(doubts == [])
    }

    @Test func modeZeroIsTheLastResort() throws {
        let (payloadType, doubts) = try choice(
            stream: .h264(profileLevelID: "42e01f"), offered: [("42e01f", "2"), ("42e01f", nil)])
        #expect(payloadType == 97)
        #expect(doubts == [.packetizationModeZero])
        #expect(throws: NegotiationError.self) {
            try choice(stream: .h264(profileLevelID: "42e01f"), offered: [("42e01f", "2")])
        }
    }

    @Test func highPlaysOnReceiversThatNameLess() throws {
        let (payloadType, doubts) = try choice(
            stream: .h264(profileLevelID: "640028"), offered: [("42e01f", "1"), ("4d001f", "1"), ("4d001f", "0")])
        #expect(payloadType == 97)
        #expect(
            doubts == [
                .h264Profile(own: .high, theirs: .main),
                .h264Level(own: H264Profile.Level(tenths: 40), theirs: H264Profile.Level(tenths: 31)),
            ])
    }

    @Test func answerNamesTheOffersProfile() throws {
        let offer = try SessionDescription(parsing: Samples.text("offers/chromium-recvonly-video.offer.sdp"))
        let stream = MediaCodec(
            name: "h264", clockRate: 90000,
            formatParameters: FormatParameters(
                parsing: "packetization-mode=1;profile-level-id=42C014;sprop-parameter-sets=Zw=="))
        let session = try Gateway.answerer([Gateway.video(stream)]).answer(offer)
        #expect(session.answer.media[0].codecs[108]?.formatParameters["profile-level-id"] == "42e01f")
        #expect(session.answer.media[0].formats == ["108", "109"])
        #expect(session.answer.media[0].codecs[108]?.formatParameters["sprop-parameter-sets"] == nil)
    }
}
