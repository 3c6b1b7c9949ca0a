import Testing

@testable import Gateway
@testable import PushAvStreamTransport

/// Playlists of live streams, as the standard wants them.
@Suite struct LivePlaylistTests {
    private static func segment(_ number: UInt64, parts: Int, isComplete: Bool = true) -> LiveWindow.Segment {
        var segment = LiveWindow.Segment(number: number, header: 1, isDiscontinuous: number == 7)
        segment.parts = (0..<parts).map { .init(duration: 0.5, isIndependent: $0 == 0, bytes: [1]) }
        segment.isComplete = isComplete
        return segment
    }

    @Test func `a playlist names segments, parts and the next part`() {
        var content = LiveWindow.Content()
        content.segments = [
            Self.segment(4, parts: 2), Self.segment(5, parts: 2), Self.segment(6, parts: 2),
            Self.segment(7, parts: 1, isComplete: false),
        ]
        content.longestPart = 0.5
        content.longestSegment = 2.2
        #expect(
            LivePlaylist.text(content, query: "?token=t") == """
                #EXTM3U
                #EXT-X-VERSION:9
                #EXT-X-TARGETDURATION:3
                #EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.500
                #EXT-X-PART-INF:PART-TARGET=0.500
                #EXT-X-MEDIA-SEQUENCE:4
                #EXT-X-DISCONTINUITY-SEQUENCE:0
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-MAP:URI="live/init-1.mp4?token=t"
                #EXTINF:1.000,
                live/4.m4s?token=t
                #EXT-X-PART:DURATION=0.500,URI="live/5.0.m4s?token=t",INDEPENDENT=YES
                #EXT-X-PART:DURATION=0.500,URI="live/5.1.m4s?token=t"
                #EXTINF:1.000,
                live/5.m4s?token=t
                #EXT-X-PART:DURATION=0.500,URI="live/6.0.m4s?token=t",INDEPENDENT=YES
                #EXT-X-PART:DURATION=0.500,URI="live/6.1.m4s?token=t"
                #EXTINF:1.000,
                live/6.m4s?token=t
                #EXT-X-DISCONTINUITY
                #EXT-X-PART:DURATION=0.500,URI="live/7.0.m4s?token=t",INDEPENDENT=YES
                #EXT-X-PRELOAD-HINT:TYPE=PART,URI="live/7.1.m4s?token=t"

                """)
    }

    @Test func `a discontinuity is in the playlist, or counted, and never both`() {
        var content = LiveWindow.Content()
        content.segments = [Self.segment(6, parts: 1), Self.segment(7, parts: 1), Self.segment(8, parts: 1)]
        for _ in 0..<3 {
            let lines = LivePlaylist.text(content, query: "").split(separator: "\n")
            let tags = lines.count { $0 == "#EXT-X-DISCONTINUITY" }
            #expect(UInt64(tags) + content.discontinuities == 1)
            #expect(lines.contains("#EXT-X-DISCONTINUITY-SEQUENCE:\(content.discontinuities)"))
            if content.segments.removeFirst().isDiscontinuous { content.discontinuities += 1 }
        }
    }

    @Test func `files are known by the names of the playlist, and by no others`() {
        #expect(LiveFile("init-3.mp4") == .header(3))
        #expect(LiveFile("12.m4s") == .segment(12))
        #expect(LiveFile("12.0.m4s") == .part(12, 0))
        for wrong in [
            "", "init-.mp4", "init-03.mp4", "12.mp4", ".m4s", "1..m4s", "1.2.3.m4s", "-1.m4s", "1.x.m4s", "+1.m4s",
            "01.m4s", "99999999999999999999.m4s", "../../etc/passwd",
        ] { #expect(LiveFile(wrong) == nil, "\(wrong)") }
    }
}
