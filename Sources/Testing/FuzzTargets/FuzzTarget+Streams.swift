import FragmentedMP4
import PacketFakes
import StreamFormats
import Transport

extension FuzzTarget {
    static let streams = FuzzTarget(
        "streams",
        "MPEG-TS, FLV, RTMP, playlists and their fragments: the same however the bytes are split, and bounded",
        maximumLength: 8192,
        dictionary: [
            "G@\u{0}\u{10}", "FLV\u{1}", "onMetaData", "_result", "onStatus", "#EXTM3U\n", "#EXTINF:1,\n",
            "#EXT-X-STREAM-INF:BANDWIDTH=1\n", "#EXT-X-MAP:URI=\"i\"\n", "#EXT-X-MEDIA-SEQUENCE:", "../",
            "#EXT-X-BYTERANGE:1@", "#EXT-X-KEY:METHOD=AES-128,URI=\"k\",IV=0x1\n", "BYTERANGE=\"", "#EXT-X-ENDLIST\n",
        ],
        seeds: {
            var stream = TransportStreamBytes()
            for index in 0..<Int64(3) {
                stream.unit([0, 0, 0, 1, 0x65, UInt8(index)], of: 256, presentation: index * 3000)
                stream.unit(TransportStreamBytes.adts([1, 2, 3]), of: 257, presentation: index * 1920)
            }
            let flash: [UInt8] = [
                0x46, 0x4C, 0x56, 1, 5, 0, 0, 0, 9, 0, 0, 0, 0, 8, 0, 0, 4, 0, 0, 20, 0, 0, 0, 0, 0x72, 1, 2, 3, 0, 0,
                0, 15,
            ]
            let playlist = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:4\n#EXTINF:1,\na/../b.ts\n"
            return [
                [0, 7] + stream.bytes, [1, 3] + flash,
                [2, 90] + [3] + [UInt8](repeating: 1, count: 3072) + [2, 0, 0, 0],
                [4, 0] + [UInt8](text: playlist), fragments(),
            ].compactMap { $0 }
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let kind = input.byte() % 5
        let size = Int(input.byte()) + 1
        let rest = input.rest()
        switch kind {
        case 0:
            let whole = units(rest, size: max(1, rest.count), TransportStreamDemuxer())
            try require(whole.allSatisfy { $0.bytes.count <= rest.count }, "a unit is longer than the stream")
            observe(units(rest, size: size, TransportStreamDemuxer()).count)
        case 1:
            let whole = units(rest, size: max(1, rest.count), FLVDemuxer())
            try require(units(rest, size: size, FLVDemuxer()) == whole, "pieces of \(size) bytes give other units")
        case 2:
            var random = RandomSource.seeded(1)
            let address = RTMPAddress(host: "a", port: nil, path: "/b/c", isSecure: false)
            var client = RTMPClient(address, random: &random)
            var sent = client.takeOutput().count
            for piece in rest.pieces(of: size) {
                do throws(StreamFormatError) {
                    try client.handle(UnsafeRawBufferPointer(piece)) { observe($0.bytes.count) }
                } catch {
                    break
                }
                sent += client.takeOutput().count
            }
            try require(sent <= 8192 + 32 * rest.count, "\(sent) bytes answer \(rest.count)")
        case 3:
            // A server's initialization, and the segment behind it.
            guard let length = rest.first.map({ 8 * Int($0) }), rest.count > length,
                let demuxer = try? FragmentDemuxer(header: [UInt8](rest[1..<length + 1]))
            else { return }
            let segment = UnsafeRawBufferPointer(rebasing: rest[(length + 1)...])
            let whole = units(segment, size: max(1, segment.count), demuxer)
            try require(whole.allSatisfy { $0.decoding.magnitude < 1 << 60 }, "a time is not bounded")
            try require(units(segment, size: size, demuxer) == whole, "pieces of \(size) bytes give other units")
        default:
            let text = String(decoding: rest, as: UTF8.self)
            guard let playlist = try? StreamPlaylist(parsing: text), case .media(let media) = playlist else { return }
            let limit = media.hasEnded ? StreamPlaylist.Media.maximumRecorded : StreamPlaylist.Media.maximumSegments
            try require(media.segments.count <= limit, "too many segments are kept")
            for segment in media.segments {
                let part = segment.resource.bytes
                try require(part.map { $0.lowerBound >= 0 && !$0.isEmpty } ?? true, "a part of a file is not in it")
                let vector = segment.encryption?.initializationVector
                try require(vector.map { $0.count == 16 } ?? true, "an initialization vector is not 16 bytes long")
                guard let place = PlaylistReference.resolve(segment.resource.address, in: "/a/b"), place.hasPrefix("/")
                else {
                    continue
                }
                try require(!place.prefix { $0 != "?" }.contains("/../"), "\(place) leaves the path")
            }
        }
    }

    /// A header whose length is a multiple of eight, with its length in front, and a segment.
    private static func fragments() -> [UInt8]? {
        let track = MP4Track(codec: .opus(channels: 1, preSkip: 0), timescale: 48_000)
        guard var writer = try? FragmentedMP4Writer(tracks: [track]) else { return nil }
        var segment: [UInt8] = []
        for index in 0..<Int64(4) {
            let sample = MP4Sample(
                data: [1, 2, 3, UInt8(index)], decodeTime: index * 960, compositionOffset: 0, isKeyFrame: true)
            segment += (try? writer.append(sample, track: 0)) ?? []
        }
        segment += writer.finish() ?? []
        var header = writer.initializationSegment
        // A box without meaning fills it up.
        let missing = 8 + (8 - header.count % 8) % 8
        header += [0, 0, 0, UInt8(missing)] + [UInt8](text: "free") + [UInt8](repeating: 0, count: missing - 8)
        return [3, 40, UInt8(header.count / 8)] + header + segment
    }

    private static func units(
        _ bytes: UnsafeRawBufferPointer, size: Int, _ demuxer: some StreamDemuxer
    ) -> [StreamUnit] {
        var demuxer = demuxer
        var found: [StreamUnit] = []
        for piece in bytes.pieces(of: size) {
            do throws(StreamFormatError) {
                try demuxer.append(UnsafeRawBufferPointer(piece)) { found.append($0) }
            } catch {
                break
            }
        }
        demuxer.finish { found.append($0) }
        return found
    }
}
