import SDP
import Testing

@testable import Cameras

@Suite struct BackChannelCodecTests {
    static func choose(_ lines: String, isEncoded: (MediaCodec) -> Bool = { _ in true }) throws -> BackChannelCodec? {
        let text =
            "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=x\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
            + "a=recvonly\r\n" + lines.split(separator: "\n").map { "\($0)\r\n" }.joined()
        let session = try SessionDescription(parsing: text)
        let tracks = session.cameraTracks.filter { $0.role == .speaker }
        return BackChannelCodec.ranked(tracks.map { ($0.control ?? "", $0.payloads) })
            .first { isEncoded($0.payload.codec) }
    }

    @Test func theBestOfTwentyIsUsed() throws {
        // The list of a Dahua camera, shortened names of the same form.
        let list = """
            m=audio 0 RTP/AVP 0 8 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113
            a=control:trackID=5
            a=sendonly
            a=rtpmap:0 PCMU/8000
            a=rtpmap:8 PCMA/8000
            a=rtpmap:96 PCMU/16000
            a=rtpmap:97 PCMA/16000
            a=rtpmap:98 PCMU/64000
            a=rtpmap:99 L16/8000
            a=rtpmap:100 L16/16000
            a=rtpmap:101 L16/48000
            a=rtpmap:102 G726-16/8000
            a=rtpmap:103 G726-40/8000
            a=rtpmap:104 G726-32/8000
            a=rtpmap:105 MPEG4-GENERIC/8000
            a=rtpmap:106 MPEG4-GENERIC/16000
            a=rtpmap:107 MPEG4-GENERIC/48000
            a=rtpmap:108 MPEG4-GENERIC/64000
            a=rtpmap:109 MPEG4-GENERIC/32000
            a=rtpmap:110 MPEG4-GENERIC/44100/2
            a=rtpmap:111 opus/48000/2
            a=rtpmap:112 PCMA/48000
            a=rtpmap:113 G729/8000
            """
        let names = ["MPEG4-GENERIC", "L16", "PCMU", "G726-40", "opus"]
        var refused: Set<String> = []
        var chosen: [String] = []
        for _ in names {
            let best = try #require(try Self.choose(list) { !refused.contains($0.name.lowercased()) })
            chosen.append(best.name)
            #expect(best.controlURI == "trackID=5")
            refused.insert(best.payload.codec.name.lowercased())
            if best.name.hasPrefix("PCM") { refused.formUnion(["pcmu", "pcma"]) }
            if best.name.hasPrefix("G726") { refused.formUnion(["g726-16", "g726-32", "g726-40"]) }
        }
        #expect(chosen == ["MPEG4-GENERIC/48000", "L16/16000", "PCMU/16000", "G726-40/8000", "opus/48000/2"])
    }

    @Test func betweenEqualsTheCamerasOrderDecides() throws {
        let first = try Self.choose("m=audio 0 RTP/AVP 8 0\na=control:back\na=sendonly")
        #expect(first?.name == "PCMA/8000" && first?.payload.payloadType == 8)
        // One track for each codec: the better codec's track is set up.
        let several = try Self.choose(
            """
            m=audio 0 RTP/AVP 0
            a=control:one
            a=sendonly
            m=audio 0 RTP/AVP 97
            a=rtpmap:97 L16/16000
            a=control:two
            a=sendonly
            """)
        #expect(several?.controlURI == "two")
    }

    @Test func noSpeakerAndNoCommonCodecAreDistinguished() throws {
        #expect(try Self.choose("m=audio 0 RTP/AVP 0\na=recvonly") == nil)
        #expect(try Self.choose("m=audio 0 RTP/AVP 97\na=rtpmap:97 SPEEX/8000\na=sendonly") == nil)
    }
}
