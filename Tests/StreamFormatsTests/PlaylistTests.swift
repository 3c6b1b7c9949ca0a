import Testing

@testable import StreamFormats

struct PlaylistTests {
    @Test func `A media playlist has its newest segments with their numbers`() throws {
        let text = """
            #EXTM3U
            #EXT-X-VERSION:6
            #EXT-X-TARGETDURATION:2
            #EXT-X-MEDIA-SEQUENCE:41
            #EXT-X-MAP:URI="init.mp4"
            #EXTINF:2.000,a title, with a comma
            live41.m4s
            #EXT-X-GAP
            #EXTINF:2,
            live42.m4s
            #EXT-X-DISCONTINUITY
            #EXT-X-PROGRAM-DATE-TIME:2026-01-31T12:00:00Z
            #EXTINF:1.5,
            live43.m4s?token=1
            """
        guard case .media(let media) = try StreamPlaylist(parsing: text) else {
            Issue.record("not a media playlist")
            return
        }
        #expect(media.targetDuration == 2 && !media.hasEnded)
        #expect(media.segments.map(\.sequence) == [41, 43])
        #expect(media.segments.map(\.resource.address) == ["live41.m4s", "live43.m4s?token=1"])
        #expect(media.segments.map(\.isDiscontinuous) == [false, true])
        #expect(media.segments.allSatisfy { $0.initialization?.resource == .init(address: "init.mp4") })
    }

    @Test func `Of several streams the best is taken, with its sound`() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="one",URI="one.m3u8"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="two",DEFAULT=YES,URI="two.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=500000,CODECS="avc1.42e01e,mp4a.40.2"
            small.m3u8
            #EXT-X-STREAM-INF:BANDWIDTH=2500000,AUDIO="a"
            large.m3u8
            """
        #expect(
            try StreamPlaylist(parsing: text) == .multivariant(.init(address: "large.m3u8", audio: "two.m3u8")))
    }

    @Test(arguments: [
        ("hello", StreamFormatError.notOfFormat(.playlist)),
        (
            "#EXTM3U\n#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"k\"\n#EXTINF:1,\na",
            .encrypted(.method("SAMPLE-AES"))
        ),
        (
            "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,KEYFORMAT=\"com.example\u{1B}[31m\",URI=\"k\"\n#EXTINF:1,\na",
            .encrypted(.keyFormat("com.example[31m"))
        ),
        ("#EXTM3U\n#EXT-X-KEY:METHOD=AES-128\n", .damaged(.keyAddress)),
        (
            "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0xg\n",
            .damaged(.initializationVector)
        ),
        (
            "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n#EXT-X-MAP:URI=\"i\"\n",
            .damaged(.initializationVectorMissing)
        ),
        ("#EXTM3U\n#EXT-X-MAP:BYTERANGE=\"1@0\"\n", .damaged(.initializationAddress)),
        (
            "#EXTM3U\n#EXT-X-BYTERANGE:5\n#EXTINF:1,\na",
            .damaged(.partWithoutPredecessor(address: "a"))
        ),
        (
            "#EXTM3U\n#EXTINF:1,\n#EXT-X-BYTERANGE:5@0\na\n#EXTINF:1,\n#EXT-X-BYTERANGE:5\nb",
            .damaged(.partWithoutPredecessor(address: "b"))
        ),
        ("#EXTM3U\n#EXT-X-BYTERANGE:0@0\n", .damaged(.part)),
        (
            "#EXTM3U\n#EXT-X-BYTERANGE:9223372036854775807@9223372036854775807\n",
            .damaged(.part)
        ),
        ("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:-1\n", .damaged(.sequenceNumber)),
        ("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n", .damaged(.noStream)),
    ])
    func `What cannot be played is refused`(text: String, expected: StreamFormatError) {
        #expect(throws: expected) { _ = try StreamPlaylist(parsing: text) }
    }

    @Test func `Parts of a file follow one another`() throws {
        let text = """
            #EXTM3U
            #EXT-X-MAP:URI="all.mp4",BYTERANGE="720@0"
            #EXT-X-BYTERANGE:1000@720
            #EXTINF:2,
            all.mp4
            #EXTINF:2,
            #EXT-X-BYTERANGE:500
            all.mp4
            #EXT-X-MAP:URI="all.mp4",BYTERANGE="80"
            #EXTINF:2,
            whole.mp4
            """
        guard case .media(let media) = try StreamPlaylist(parsing: text) else { return }
        #expect(media.segments.map(\.resource.bytes) == [720..<1720, 1720..<2220, nil])
        #expect(media.segments.map(\.initialization?.resource.bytes) == [0..<720, 0..<720, 0..<80])
    }

    @Test func `A key applies until the next one, and the number of a segment is its vector`() throws {
        let text = """
            #EXTM3U
            #EXT-X-MEDIA-SEQUENCE:258
            #EXTINF:2,
            clear.ts
            #EXT-X-KEY:METHOD=AES-128,URI="https://a/one"
            #EXTINF:2,
            b.ts
            #EXTINF:2,
            c.ts
            #EXT-X-KEY:METHOD=SAMPLE-AES,KEYFORMAT="com.example",URI="skd://x"
            #EXT-X-KEY:METHOD=AES-128,KEYFORMAT="identity",URI="two",IV=0X00000000000000000000000000000a0B
            #EXT-X-KEY:METHOD=AES-128,KEYFORMAT="com.example",URI="three"
            #EXTINF:2,
            d.ts
            #EXT-X-KEY:METHOD=NONE
            #EXTINF:2,
            e.ts
            """
        guard case .media(let media) = try StreamPlaylist(parsing: text) else { return }
        let keys = media.segments.map(\.encryption)
        #expect(keys.map { $0?.keyAddress } == [nil, "https://a/one", "https://a/one", "two", nil])
        let zeros = [UInt8](repeating: 0, count: 14)
        let vectors = [nil, zeros + [1, 3], zeros + [1, 4], zeros + [10, 11], nil]
        #expect(keys.map { $0?.initializationVector } == vectors)
    }

    @Test(arguments: [true, false])
    func `A recording keeps its first segments, wherever its end is announced`(isFirst: Bool) throws {
        func playlist(_ count: Int) throws -> StreamPlaylist.Media? {
            let lines = (0..<count).map { "#EXTINF:1,\n\($0)\n" }.joined()
            let end = "#EXT-X-ENDLIST\n"
            let text = "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:7\n" + (isFirst ? end + lines : lines + end)
            guard case .media(let media) = try StreamPlaylist(parsing: text) else { return nil }
            return media
        }
        let short = try #require(try playlist(100))
        #expect(short.hasEnded && short.segments.map(\.sequence) == (7..<107).map { Int64($0) })
        let long = try #require(try playlist(30_000))
        #expect(long.hasEnded && long.segments.count == StreamPlaylist.Media.maximumRecorded)
        #expect(long.segments.first?.sequence == 7 && long.segments.last?.resource.address == "19999")
    }

    @Test func `A playlist without end keeps its newest segments`() throws {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n" + (0..<50_000).map { "#EXTINF:1,\n\($0)\n" }.joined()
        guard case .media(let media) = try StreamPlaylist(parsing: text) else { return }
        #expect(media.segments.map(\.sequence) == (49_984..<50_000).map { Int64($0) })
        #expect(throws: StreamFormatError.tooLong(.playlist)) {
            _ = try StreamPlaylist(parsing: "#EXTM3U\n" + String(repeating: "#\n", count: 1 << 20))
        }
    }

    @Test(
        arguments: [
            ("a.ts", "/live/door/index.m3u8?token=/x", "/live/door/a.ts"),
            ("../b.ts?c", "/live/door/index.m3u8", "/live/b.ts?c"),
            ("/top.ts", "/live/index.m3u8", "/top.ts"), ("../../../../etc/passwd", "/a/b.m3u8", "/etc/passwd"),
            ("?n=2", "/a/b.m3u8?n=1", "/a/b.m3u8?n=2"), ("./x/./y.ts#part", "/a/b.m3u8", "/a/x/y.ts"),
            ("http://other/a.ts", "/a", "http://other/a.ts"), ("file:///etc/passwd", "/a", "file:///etc/passwd"),
            ("//other/a.ts", "/a", nil), ("", "/a", nil), ("a b.ts", "/a", nil), ("a\r\nHost: b", "/a", nil),
        ] as [(String, String, String?)])
    func `References are resolved as in a browser`(reference: String, path: String, expected: String?) {
        #expect(PlaylistReference.resolve(reference, in: path) == expected)
    }
}
