import Testing

@testable import SDP

@Suite struct H265NegotiationTests {
    private func rank(_ stream: String, _ offered: String) -> CodecMatch? {
        func codec(_ parameters: String) -> MediaCodec {
            MediaCodec(name: "H265", clockRate: 90_000, formatParameters: FormatParameters(parsing: parameters))
        }
        return CodecMatch.match(sending: codec(stream), accepting: codec(offered))
    }

    /// What Chromium offers.
    private let chromium = "level-id=93;profile-id=1;tier-flag=0;tx-mode=SRST"

    @Test func profileTierAndModeDecide() {
        #expect(rank("", chromium)?.rank == 0)
        #expect(rank("profile-id=1;level-id=63", chromium)?.rank == 0)
        #expect(rank("profile-id=2", chromium) == nil)
        #expect(rank("profile-id=1", "profile-id=2;level-id=153")?.rank == 10)
        #expect(rank("profile-id=3", chromium)?.rank == 10)
        #expect(rank("tier-flag=1", chromium) == nil)
        #expect(rank("tier-flag=0", "tier-flag=1")?.rank == 0)
        #expect(rank("", "tx-mode=MRMT") == nil)
    }

    @Test func aLevelAboveTheReceiversIsNotedAndPlayed() throws {
        let match = try #require(rank("profile-id=1;level-id=153", chromium))
        #expect(match.rank == 1)
        #expect(match.doubts == [.h265Level(own: 153, theirs: 93)])
    }

    @Test func onlyThatCodecMatches() {
        let vp8 = MediaCodec(name: "VP8", clockRate: 90_000)
        #expect(CodecMatch.match(sending: MediaCodec(name: "H265", clockRate: 90_000), accepting: vp8) == nil)
    }

    @Test func theAnswerRepeatsWhatBothMustKnow() {
        let payload = RTPPayload(
            payloadType: 49,
            codec: MediaCodec(
                name: "H265", clockRate: 90_000, formatParameters: FormatParameters(parsing: chromium + ";x-other=1")))
        #expect(payload.answering.codec.formatParameters.text == chromium)
    }

    @Test func parameterSetsAreInThreeParameters() {
        let parameters = FormatParameters(parsing: "sprop-vps=QAE=;sprop-sps=QgE=,QgI=;sprop-pps=")
        #expect(parameters.h265ParameterSets == [[0x40, 1], [0x42, 1], [0x42, 2]])
    }
}
