import FragmentedMP4

extension FuzzTarget {
    static let mp4 = FuzzTarget(
        "mp4", "the header and the segments of a recording: where the samples are, and a file made of them",
        maximumLength: 8192,
        dictionary: [
            "moov", "trak", "tkhd", "mdia", "mdhd", "hdlr", "minf", "stbl", "stsd", "mvex", "trex", "moof", "traf",
            "tfhd", "tfdt", "trun", "prft", "mdat", "styp", "vide", "soun", "\u{0}\u{0}\u{0}\u{1}",
        ],
        seeds: { mp4Seeds }
    ) { bytes throws(FuzzFailure) in
        // The header, in the two bytes before it its length; then the segment.
        var input = FuzzInput(bytes)
        let start = input.piece()
        let segment = input.rest()
        guard let header = try? MP4Header(parsing: start) else { return }
        let chunks = try readAll(header, segment, window: .max)
        // However little of the file a window shows, the chunks are the same.
        let narrow = try readAll(header, segment, window: 16)
        try require(chunks == narrow, "a narrow window shows other chunks")
        for chunk in chunks {
            try require(chunk.end <= Int64(segment.count), "a chunk ends outside of the file")
            for run in chunk.runs {
                try require(
                    run.offset >= 0 && run.offset + run.length <= chunk.end, "a sample is outside of its chunk")
            }
        }
        var exporter = MP4Exporter(startTime: 0)
        do {
            for start: Int64 in [0, 2_000_000] {
                let track = header.tracks[0]
                try exporter.begin(
                    MP4Exporter.Session(tracks: [track], start: start - 500_000, range: start..<start + 2_000_000))
                for chunk in chunks where chunk.track == track.identifier {
                    try exporter.add(chunk, track: 0, source: 0)
                }
            }
            let file = try exporter.finish()
            let sum = file.pieces.reduce(Int64(0)) { $0 + $1.length }
            try require(sum == file.length, "the length that was announced is not that of the file")
        } catch let error as FuzzFailure {
            throw error
        } catch {
            return observe(error)
        }
    }

    private static func readAll(
        _ header: MP4Header, _ segment: UnsafeRawBufferPointer, window: Int
    ) throws(FuzzFailure) -> [MP4Chunk] {
        let reader = MP4ChunkReader(header: header)
        var chunks: [MP4Chunk] = []
        var position = 0
        var length = min(window, segment.count)
        // Each step goes on in the file or enlarges the window.
        for _ in 0..<(2 * segment.count + 8) where position < segment.count {
            let end = min(segment.count, position + max(length, 1))
            let view = UnsafeRawBufferPointer(rebasing: segment[position..<end])
            guard let outcome = try? reader.read(view, at: Int64(position), fileLength: Int64(segment.count)) else {
                return chunks
            }
            switch outcome {
            case .chunk(let chunk):
                try require(chunk.end > Int64(position), "a chunk ends where it begins")
                chunks.append(chunk)
                position = Int(chunk.end)
                length = min(window, segment.count)
            case .needs(let count):
                try require(count > end - position, "more is needed than there is, and it is not more")
                length = count
            case .skip(let place):
                try require(place > Int64(position), "a skip goes back")
                position = Int(min(place, Int64(segment.count)))
                length = min(window, segment.count)
            case .cutOff: return chunks
            }
        }
        return chunks
    }

    static let mp4Seeds: [[UInt8]] = {
        func seed(_ track: MP4Track, step: Int64) -> [UInt8]? {
            guard var writer = try? FragmentedMP4Writer(tracks: [track]) else { return nil }
            var media: [UInt8] = []
            for index in 0..<40 {
                let sample = MP4Sample(
                    data: [UInt8](repeating: UInt8(index), count: 5 + index % 3), decodeTime: Int64(index) * step,
                    compositionOffset: index % 4 == 1 ? Int32(step) : 0, isKeyFrame: !track.isVideo || index % 10 == 0)
                if let bytes = (try? writer.append(sample, track: 0)) ?? nil { media += bytes }
            }
            media += writer.finish() ?? []
            return .piece(writer.initializationSegment) + media
        }
        return [
            seed(MP4Track(codec: .vp8(width: 64, height: 48), timescale: 90_000), step: 3_000),
            seed(MP4Track(codec: .opus(channels: 1, preSkip: 0), timescale: 48_000), step: 960),
            seed(MP4Track(codec: .muLaw(channels: 1), timescale: 8_000), step: 160),
        ].compactMap { $0 }
    }()
}
