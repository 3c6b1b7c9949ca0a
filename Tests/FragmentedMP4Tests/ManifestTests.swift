import Foundation
import FragmentedMP4
import Testing
import Transport

@Suite("Manifests") struct ManifestTests {
    private let start = WallTime(millisecondsSince1970: 1_763_833_431_123)

    @Test func `the first media playlist of a session lists nothing`() {
        let playlist = HLSMediaPlaylist(
            kind: .live, isEnded: false, targetDuration: 4, mediaSequence: 1_001,
            initialization: .init(uri: "video.init"))
        #expect(
            playlist.text == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-TARGETDURATION:4
                #EXT-X-MEDIA-SEQUENCE:1001
                #EXT-X-MAP:URI="video.init"

                """)
    }

    @Test func `the last media playlist lists everything, and the longest segment sets the target`() {
        let playlist = HLSMediaPlaylist(
            kind: .complete, isEnded: true, targetDuration: 4, initialization: .init(uri: "video.init"),
            segments: [
                .init(uri: "a.m4s", duration: 4, capturedAt: start),
                .init(
                    uri: "b.m4s", duration: 5.2000004, byteRange: .init(offset: 10, length: 20), isDiscontinuous: true),
            ])
        #expect(
            playlist.text == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-TARGETDURATION:6
                #EXT-X-MEDIA-SEQUENCE:0
                #EXT-X-PLAYLIST-TYPE:VOD
                #EXT-X-MAP:URI="video.init"
                #EXT-X-PROGRAM-DATE-TIME:2025-11-22T17:43:51.123Z
                #EXTINF:4.0,
                a.m4s
                #EXT-X-DISCONTINUITY
                #EXTINF:5.2,
                #EXT-X-BYTERANGE:20@10
                b.m4s
                #EXT-X-ENDLIST

                """)
    }

    @Test func `pictures and their sound are one variant and one rendition`() {
        let playlist = HLSMultivariantPlaylist(
            variants: [
                .init(
                    uri: "video/index.m3u8", bandwidth: 2_000_000, codecs: ["avc1.64001F", "opus"],
                    resolution: (1_280, 720), audioGroup: "audio")
            ],
            renditions: [.init(group: "audio", name: "audio", uri: "audio/index.m3u8", isDefault: true)])
        #expect(
            playlist.text == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="audio",DEFAULT=YES,AUTOSELECT=YES,URI="audio/index.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=2000000,CODECS="avc1.64001F,opus",RESOLUTION=1280x720,AUDIO="audio"
                video/index.m3u8

                """)
    }

    @Test func `a name cannot add a line or a tag to a playlist`() {
        let playlist = HLSMultivariantPlaylist(
            variants: [.init(uri: "#EXT-X-KEY\nevil", bandwidth: 1, codecs: ["a\"b\r\nc"])])
        #expect(playlist.text.hasSuffix("CODECS=\"abc\"\n./#EXT-X-KEYevil\n"))
    }

    @Test func `a presentation that begins has templates and no segments`() throws {
        let text = DASHManifest(isComplete: false, start: start, publishedAt: start, tracks: [track([])]).text
        #expect(text.contains("type=\"dynamic\""))
        #expect(text.contains("minimumUpdatePeriod=\"PT4.0S\""))
        #expect(text.contains("media=\"video/segment_$Number%04d$.m4s\" startNumber=\"1001\" duration=\"360000\"/>"))
        #expect(!text.contains("SegmentTimeline"))
    }

    @Test func `a complete presentation states the exact times in runs`() throws {
        let text = DASHManifest(
            isComplete: true, start: start, publishedAt: start,
            tracks: [
                track([
                    .init(number: 1_001, time: 0, duration: 360_000),
                    .init(number: 1_002, time: 360_000, duration: 360_000),
                    .init(number: 1_003, time: 900_000, duration: 90_000),
                ])
            ]
        ).text
        #expect(text.contains("type=\"static\""))
        #expect(text.contains("mediaPresentationDuration=\"PT11.0S\""))
        #expect(text.contains("<S t=\"0\" d=\"360000\" r=\"1\"/>\n      <S t=\"900000\" d=\"90000\"/>"))
        #expect(text.contains("startNumber=\"1001\">"))
    }

    @Test func `a presentation with a missing segment names each of its files`() throws {
        let text = DASHManifest(
            isComplete: true, start: start, publishedAt: start,
            tracks: [
                track([
                    .init(number: 1_001, time: 0, duration: 360_000),
                    .init(number: 1_003, time: 720_000, duration: 360_000),
                ])
            ]
        ).text
        #expect(text.contains("profile:isoff-main:2011"))
        #expect(text.contains("<SegmentURL media=\"video/segment_1003.m4s\"/>"))
        #expect(!text.contains("segment_1002"))
        #expect(!text.contains("SegmentTemplate"))
    }

    @Test func `a name cannot leave its attribute`() {
        var track = track([])
        track.name = "a\"><b>&"
        let text = DASHManifest(isComplete: false, start: start, publishedAt: start, tracks: [track]).text
        #expect(text.contains("id=\"a&quot;&gt;&lt;b&gt;&amp;\""))
    }

    private func track(_ segments: [DASHManifest.Segment]) -> DASHManifest.Track {
        .init(
            name: "video", isVideo: true, codec: "avc1.64001F", timescale: 90_000, bandwidth: 2_000_000, width: 1_280,
            height: 720, segmentDuration: 4, firstNumber: 1_001, initialization: "video/video.init",
            media: "video/segment_$Number%04d$.m4s", segments: segments)
    }
}
