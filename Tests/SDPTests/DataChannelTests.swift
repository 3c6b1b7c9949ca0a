import Testing

@testable import SDP

@Suite("Data channels in an offer")
struct DataChannelTests {
    static let ours = LocalDataChannels(port: 5000, streams: 32, maximumMessageSize: 16_384)
    private static let video = ["m=video 9 UDP/TLS/RTP/SAVPF 96", "a=recvonly", "a=rtcp-mux", "a=rtpmap:96 VP8/90000"]
    private static let audio = [
        "m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=recvonly", "a=rtcp-mux", "a=rtpmap:111 opus/48000/2",
    ]
    private static let data = [
        "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=sctp-port:5000", "a=max-message-size:262144",
    ]
    private static let transport = [
        "a=ice-ufrag:abcd", "a=ice-pwd:abcdefghijklmnopqrstuv", "a=fingerprint:" + Gateway.fingerprint.text,
        "a=setup:actpass",
    ]

    /// An offer with these sections in one BUNDLE group. Those in `withoutTransport` have no transport of their own, as
    /// with `max-bundle`.
    private func offer(
        _ sections: [[String]], bundled: [Int]? = nil, withoutTransport: Set<Int> = []
    ) throws -> SessionDescription {
        let tags = (bundled ?? Array(sections.indices)).map(String.init).joined(separator: " ")
        var lines = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0"]
        if !tags.isEmpty { lines.append("a=group:BUNDLE \(tags)") }
        for (index, section) in sections.enumerated() {
            lines += section + ["a=mid:\(index)"] + (withoutTransport.contains(index) ? [] : Self.transport)
        }
        return try SessionDescription(parsing: lines.joined(separator: "\r\n") + "\r\n")
    }

    private func answerer() -> LiveViewAnswerer {
        var answerer = Gateway.answerer()
        answerer.dataChannels = Self.ours
        return answerer
    }

    @Test(
        "are answered wherever they are, and whichever section has the transport",
        arguments: [0, 1, 2], [[], [1, 2], [0, 2], [0, 1]])
    func everyPlace(place: Int, withoutTransport: Set<Int>) throws {
        var sections = [Self.audio, Self.video]
        sections.insert(Self.data, at: place)
        let session = try answerer().answer(offer(sections, withoutTransport: withoutTransport))
        #expect(
            session.dataChannels
                == NegotiatedDataChannels(
                    index: place, mid: "\(place)", remotePort: 5000, maximumMessageSize: 262_144))
        #expect(session.media.map(\.kind) == [.audio, .video])
        #expect(session.note(ofMediaAt: place) == nil)
        let answer = try SessionDescription(parsing: session.answer.encoded())
        #expect(answer.problems.isEmpty && answer.bundleGroups == [["0", "1", "2"]])
        let section = answer.media[place]
        #expect(section.port == 8189 && section.formats == ["webrtc-datachannel"])
        #expect(section.value(of: "sctp-port") == "5000" && section.value(of: "max-message-size") == "16384")
        #expect(section.setup == .passive && section.iceUsernameFragment == "gate")
        #expect(section.candidates.count == (place == 0 ? 2 : 0))
    }

    @Test("alone are answered", arguments: [true, false])
    func alone(isBundled: Bool) throws {
        let session = try answerer().answer(offer([Self.data], bundled: isBundled ? [0] : []))
        #expect(session.dataChannels?.index == 0 && session.media.isEmpty)
        #expect(session.remote.usernameFragment == "abcd")
        #expect(session.answer.media[0].port == 8189 && session.answer.media[0].candidates.count == 2)
        #expect(session.answer.bundleGroups == (isBundled ? [["0"]] : []))
    }

    @Test("alone are answered beside media that is switched off")
    func besideInactiveMedia() throws {
        var off = Self.audio
        off[1] = "a=inactive"
        let session = try answerer().answer(offer([off, Self.data], withoutTransport: [1]))
        #expect(session.dataChannels?.index == 1 && session.media.allSatisfy { $0.direction == .inactive })
        #expect(session.answer.media.map(\.port) == [8189, 8189])
        #expect(session.answer.media[0].ownDirection == .inactive && session.answer.media[0].candidates.count == 2)
    }

    @Test("do not stand in for media that cannot be played")
    func noStandIn() throws {
        var other = Self.video
        other[3] = "a=rtpmap:96 H265/90000"
        #expect(throws: NegotiationError.self) { try answerer().answer(offer([other, Self.data])) }
    }

    @Test("in the older form are answered in it")
    func olderForm() throws {
        let old = ["m=application 9 DTLS/SCTP 5001", "a=sctpmap:5001 webrtc-datachannel 1024"]
        let session = try answerer().answer(offer([Self.video, old]))
        #expect(session.dataChannels?.remotePort == 5001 && session.dataChannels?.maximumMessageSize == 65_536)
        #expect(session.answer.media[1].formats == ["5000"])
        #expect(session.answer.media[1].value(of: "sctpmap") == "5000 webrtc-datachannel 32")
    }

    @Test("are used once, and only on the transport of the media")
    func onlyOnce() throws {
        let twice = try answerer().answer(offer([Self.data, Self.video, Self.data]))
        #expect(twice.dataChannels?.index == 0 && twice.answer.media.map(\.port) == [8189, 8189, 8189])
        let apart = try answerer().answer(offer([Self.video, Self.data], bundled: [0]))
        #expect(apart.dataChannels == nil && apart.answer.media[1].port == 0)
        #expect(apart.note(ofMediaAt: 1)?.reason == .notUsed(.outsideBundle))
    }

    @Test("without a usable port are not used", arguments: ["a=sctp-port:0", "a=sctp-port:99999", "a=x"])
    func withoutPort(line: String) throws {
        var data = Self.data
        data[1] = line
        let session = try answerer().answer(offer([Self.video, data]))
        #expect(session.dataChannels == nil && session.answer.media[1].port == 8189)
        #expect(session.note(ofMediaAt: 1)?.reason == .notUsed(.noSCTPPort))
        #expect(throws: NegotiationError.self) { try answerer().answer(offer([data])) }
    }

    @Test("may carry messages of any size where the offer says 0")
    func anySize() throws {
        var data = Self.data
        data[2] = "a=max-message-size:0"
        #expect(try answerer().answer(offer([data])).dataChannels?.maximumMessageSize == nil)
    }
}
