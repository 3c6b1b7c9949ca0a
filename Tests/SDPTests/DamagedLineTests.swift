import SDP
import Testing

/// Lines that contradict each other, stray ones, and ones that break off.
@Suite struct DamagedLineTests {
    private static let transport = [
        "a=ice-ufrag:abcd", "a=ice-pwd:0123456789abcdefghijklmn", "a=fingerprint:" + Gateway.fingerprint.text,
    ]

    private func offer(_ lines: [String]) throws -> SessionDescription {
        try SessionDescription(
            parsing: (["v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=-", "t=0 0"] + lines).joined(separator: "\r\n") + "\r\n")
    }

    private func refusal(_ lines: [String]) throws -> NegotiationError? {
        let offer = try offer(lines)
        do {
            _ = try Gateway.answerer().answer(offer)
            return nil
        } catch {
            return error
        }
    }

    private static let video = [
        "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=mid:0", "a=recvonly", "a=rtcp-mux", "a=rtpmap:96 VP8/90000",
    ]

    // MARK: Stray lines

    /// A dictionary's order differs from one to the next: reading the same bytes often would show it.
    @Test func strayParametersAreReadTheSameEveryTime() throws {
        var lines = ["m=video 0 RTP/AVP 96", "a=rtpmap:96 H264/90000"]
        for payloadType in 97...120 { lines.append("a=fmtp:\(payloadType) packetization-mode=1;x=\(payloadType)") }
        let text = ["v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=-", "t=0 0"] + lines
        var found: Set<[RTPPayload]> = []
        for _ in 0..<100 {
            found.insert(try SessionDescription(parsing: text.joined(separator: "\n")).media[0].payloads)
        }
        #expect(found.count == 1)
        #expect(found.first?.first?.codec.formatParameters["x"] == "97")
    }

    @Test func everySampleIsReadAndAnsweredTheSameEveryTime() throws {
        for path in ["offers", "answers", "cameras"].flatMap(Samples.paths) {
            let text = try Samples.text(path)
            var documents: Set<SessionDescriptionDocument> = []
            var answers: Set<String> = []
            for _ in 0..<4 {
                let description = try SessionDescription(parsing: text)
                documents.insert(SessionDescriptionDocument(description))
                if let session = try? Gateway.answerer().answer(description) {
                    answers.insert(session.answer.encoded() + "\(session.media.map(\.remoteSSRCs))")
                }
            }
            #expect(documents.count == 1 && answers.count <= 1, "\(path)")
        }
    }

    @Test func strayFeedbackIsAProblemAndChangesNothing() throws {
        let description = try offer(Self.video + ["a=rtcp-fb:97 nack", "a=rtcp-fb:* nack pli"] + Self.transport)
        #expect(description.problems.map(\.line) == [10])
        #expect(try Gateway.answerer().answer(description).media[0].feedback == .pli)
    }

    @Test func twoSourcesWithOneRetransmissionAreReadTheSameEveryTime() throws {
        var lines = Self.video.map { $0 == "a=recvonly" ? "a=sendrecv" : $0 } + Self.transport
        for ssrc in 10..<30 { lines += ["a=ssrc-group:FID \(ssrc) 99", "a=ssrc:\(ssrc) cname:x"] }
        var found: Set<[UInt32: UInt32]> = []
        for _ in 0..<50 {
            found.insert(try Gateway.answerer().answer(offer(lines)).media[0].remoteRetransmissionSSRCs)
        }
        #expect(found == [[99: 10]])
    }

    // MARK: Broken m= lines

    @Test(arguments: ["m=", "m=video", "m=video 9", "m=video nine UDP/TLS/RTP/SAVPF 96", "m=video 70000 RTP/SAVPF 96"])
    func anOfferWithABrokenMediaLineIsRefusedWithItsLine(line: String) throws {
        let error = try refusal(Self.video + Self.transport + [line])
        let text = String(line.dropFirst(2))
        let fault: DescriptionFault =
            line.split(separator: " ").count < 3 ? .incompleteMediaLine(text) : .unusablePort(mediaLine: text)
        #expect(error == .invalidDescription(fault, line: 13))
        #expect(error?.description.hasPrefix("line 13: \(line) ") == true)
        let publisher = Self.video.map { $0 == "a=recvonly" ? "a=sendonly" : $0 } + Self.transport + [line]
        #expect(throws: NegotiationError.invalidDescription(fault, line: 13)) {
            try PublisherAnswerer(local: Gateway.transport).answer(offer(publisher))
        }
    }

    @Test func aMediaLineWithoutFormatsIsAnsweredByACompleteOne() throws {
        let session = try Gateway.answerer().answer(
            offer(Self.video + Self.transport + ["m=application 9 UDP/DTLS/SCTP", "a=mid:1"]))
        let again = try SessionDescription(parsing: session.answer.encoded())
        #expect(again.problems.isEmpty)
        #expect(again.encoded().contains("m=application 0 UDP/DTLS/SCTP 0\r\n"))
    }

    // MARK: Duplicates

    @Test func aDuplicatedHeaderExtensionIsAnsweredOnce() throws {
        let line = "a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid"
        let other = "a=extmap:4/sendonly urn:ietf:params:rtp-hdrext:sdes:mid"
        let description = try offer(Self.video + [line, line, other] + Self.transport)
        #expect(description.problems.map(\.line) == [11, 12])
        let answer = try Gateway.answerer().answer(description).answer.encoded()
        #expect(answer.split(separator: "\r\n").filter { $0.hasPrefix("a=extmap:") } == [line[...]])
    }

    @Test func whateverIsDuplicatedTheAnswerHasNoProblem() throws {
        let path = "offers/chromium-talkback-sendrecv-audio.offer.sdp"
        let lines = try Samples.text(path).split(separator: "\r\n").map(String.init)
        for index in lines.indices where lines[index].hasPrefix("a=") && !lines[index].hasPrefix("a=mid:") {
            var twice = lines
            twice.insert(lines[index], at: index)
            let session = try Gateway.answerer().answer(
                SessionDescription(parsing: twice.joined(separator: "\r\n") + "\r\n"))
            let text = session.answer.encoded()
            #expect(try SessionDescription(parsing: text).problems.isEmpty, "\(lines[index])")
            for section in session.answer.media {
                let written = section.lines.map(\.text)
                #expect(Set(written).count == written.count, "\(lines[index]): \(written)")
            }
        }
    }

    // MARK: Contradicting maps

    @Test func theAssignedMappingOfAStaticPayloadTypeWins() throws {
        for maps in [
            ["a=rtpmap:0 PCMA/8000", "a=rtpmap:0 PCMU/8000"], ["a=rtpmap:0 pcmu/8000/1", "a=rtpmap:0 PCMA/8000"],
        ] {
            let description = try offer(["m=audio 0 RTP/AVP 0"] + maps)
            #expect(description.media[0].payloads[0].codec.isNamed("PCMU"))
            #expect(description.problems.map(\.line) == [7])
            #expect(description.problems[0].reason.contains("RFC 3551"))
        }
        // Where neither is the assigned one, or the payload type has none, the first holds.
        let neither = try offer(["m=audio 0 RTP/AVP 11", "a=rtpmap:11 PCM/48000", "a=rtpmap:11 PCM/16000"])
        #expect(neither.media[0].payloads[0].codec.clockRate == 48_000)
        let dynamic = try offer(["m=audio 0 RTP/AVP 97", "a=rtpmap:97 PCMA/8000", "a=rtpmap:97 PCMU/8000"])
        #expect(dynamic.media[0].payloads[0].codec.name == "PCMA")
    }

    @Test(arguments: ["H264", "VP8", "VP9", "H265"])
    func videoWithAnotherClockIsAnotherCodec(name: String) throws {
        let lines = Self.video.map { $0.replacing("VP8/90000", with: "\(name)/9000") } + Self.transport
        let camera = MediaCodec(name: name, clockRate: 90_000)
        #expect(throws: NegotiationError.self) { try Gateway.answerer([Gateway.video(camera)]).answer(offer(lines)) }
        do {
            _ = try PublisherAnswerer(local: Gateway.transport).answer(
                offer(lines.map { $0 == "a=recvonly" ? "a=sendonly" : $0 }))
            Issue.record("taken")
        } catch {
            #expect("\(error)".contains("\(name)/9000"))
        }
    }

    // MARK: What a transport lacks

    @Test(arguments: [
        (0, "", TransportFault.noCredentials, 6), (1, "", .noCredentials, 6),
        (1, "a=ice-pwd:", .unusableCredentials(.password(.length(0))), 12),
        (2, "", .noFingerprint, 6),
        (2, "a=fingerprint:sha-256 AA:BB", .unreadableFingerprint, 13),
        (
            2, "a=fingerprint:sha-1 " + (0..<20).map { "0\($0 % 10)" }.joined(separator: ":"),
            .weakFingerprint(["sha-1"]), 13
        ),
    ])
    func theRealCauseIsNamedWithItsLine(index: Int, text: String, fault: TransportFault, line: Int) throws {
        var transport = Self.transport
        // An empty line is skipped and counts.
        transport[index] = text
        let error = try #require(try refusal(["", Self.video[0]] + Self.video[1...] + transport))
        #expect(error == .unusableTransport(fault, line: line), "\(error)")
        #expect("\(error)".hasPrefix("line \(line): "))
    }
}
