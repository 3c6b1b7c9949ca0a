import FragmentedMP4

/// A single-track recording of the tests: a header, and one file with fragments.
struct RecordedTrack {
    let samples: [MP4Sample]
    let timescale: Int
    let header: MP4Header
    let file: [UInt8]
    let chunks: [MP4Chunk]

    /// - Parameters:
    ///   - codec: of the track.
    ///   - step: ticks from sample to sample.
    ///   - keyFrames: every so many samples.
    ///   - earliest: is added to the composition offsets of reordered samples.
    ///   - gap: so many ticks are missing before the sample with this number.
    init(
        _ codec: MP4Track.Codec, timescale: Int, count: Int, step: Int64, keyFrames: Int = 1, reordered: Bool = false,
        earliest: Int64 = 0, gap: (before: Int, ticks: Int64)? = nil, seed: UInt8 = 0
    ) throws {
        let track = MP4Track(codec: codec, timescale: timescale)
        var writer = try FragmentedMP4Writer(tracks: [track])
        self.timescale = timescale
        self.header = try MP4Header(writer.initializationSegment)
        var samples: [MP4Sample] = []
        var file: [UInt8] = []
        var time: Int64 = 0
        for index in 0..<count {
            if let gap, gap.before == index { time += gap.ticks }
            let data = (0..<(20 + index % 7)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ index) ^ seed }
            let sample = MP4Sample(
                data: data, decodeTime: time,
                compositionOffset: reordered
                    ? Int32(earliest + (index % 3 == 0 ? step : index % 3 == 1 ? 2 * step : 0)) : 0,
                isKeyFrame: index % keyFrames == 0)
            samples.append(sample)
            file += try writer.append(sample, track: 0) ?? []
            time += step
        }
        file += writer.finish() ?? []
        self.samples = samples
        self.file = file
        self.chunks = try Self.chunks(of: file, header, window: MP4ChunkReader.usualWindow)
    }

    static func chunks(of file: [UInt8], _ header: MP4Header, window: Int) throws -> [MP4Chunk] {
        let reader = MP4ChunkReader(header: header)
        var chunks: [MP4Chunk] = []
        var position = 0
        var length = window
        for _ in 0...file.count where position < file.count {
            let outcome = try file[position..<min(file.count, position + length)].withUnsafeBytes {
                try reader.read($0, at: Int64(position), fileLength: Int64(file.count))
            }
            length = window
            switch outcome {
            case .chunk(let chunk):
                chunks.append(chunk)
                position = Int(chunk.end)
            case .skip(let place): position = Int(place)
            case .needs(let count): length = count
            case .cutOff: return chunks
            }
        }
        return chunks
    }
}

/// A plain MP4 file, read back by its tables.
struct PlainFile {
    struct Track {
        var isVideo = false
        var timescale = 0
        var samples: [(time: Int, shown: Int, isSync: Bool, data: [UInt8])] = []
        /// The edits: duration in the file's own ticks, and the time in the track.
        var edits: [(duration: Int, mediaTime: Int)] = []
    }

    var timescale = 0
    var duration = 0
    var tracks: [Track] = []

    init?(_ bytes: [UInt8]) {
        guard let boxes = Box.all(in: bytes), let movie = boxes.first(where: { $0.type == "moov" }),
            let header = movie.find("mvhd")
        else { return nil }
        timescale = header.integer(at: 20)
        duration = header.integer(at: 24, length: 8)
        for box in Box.all(in: movie.content) ?? [] where box.type == "trak" {
            guard let track = Self.track(box, bytes) else { return nil }
            tracks.append(track)
        }
    }

    private static func track(_ box: Box, _ bytes: [UInt8]) -> Track? {
        var track = Track()
        guard let media = box.find("mdia"), let mediaHeader = media.find("mdhd"), let handler = media.find("hdlr"),
            let table = media.find("minf", "stbl"), let sizes = table.find("stsz"), let durations = table.find("stts"),
            let runs = table.find("stsc"), let edits = box.find("edts", "elst")
        else { return nil }
        track.timescale = mediaHeader.integer(at: 20)
        track.isVideo = handler.content[8] == UInt8(ascii: "v")
        for index in 0..<edits.integer(at: 4) {
            let mediaTime = edits.integer(at: 16 + index * 20, length: 8)
            track.edits.append((edits.integer(at: 8 + index * 20, length: 8), mediaTime))
        }
        func list(_ box: Box?) -> [(Int, Int)] {
            guard let box else { return [] }
            return (0..<box.integer(at: 4)).map { (box.integer(at: 8 + $0 * 8), box.integer(at: 12 + $0 * 8)) }
        }
        let steps = list(durations).flatMap { Array(repeating: $0.1, count: $0.0) }
        let offsets = list(table.find("ctts")).flatMap { Array(repeating: $0.1, count: $0.0) }
        let long = table.find("co64")
        guard let places = long ?? table.find("stco") else { return nil }
        let width = long == nil ? 4 : 8
        let count = sizes.integer(at: 8)
        let synced = table.find("stss").map { box in
            Set((0..<box.integer(at: 4)).map { box.integer(at: 8 + $0 * 4) - 1 })
        }
        let entries = (0..<runs.integer(at: 4)).map {
            (runs.integer(at: 8 + $0 * 12) - 1, runs.integer(at: 12 + $0 * 12))
        }
        guard steps.count == count, offsets.isEmpty || offsets.count == count else { return nil }
        var (index, time) = (0, 0)
        for block in 0..<places.integer(at: 4) {
            guard let run = entries.last(where: { $0.0 <= block }) else { return nil }
            var place = places.integer(at: 8 + block * width, length: width)
            for _ in 0..<run.1 {
                let size = sizes.integer(at: 12 + index * 4)
                guard place + size <= bytes.count else { return nil }
                track.samples.append(
                    (
                        time, time + (offsets.isEmpty ? 0 : offsets[index]), synced?.contains(index) ?? true,
                        Array(bytes[place..<place + size])
                    ))
                time += steps[index]
                place += size
                index += 1
            }
        }
        return index == count ? track : nil
    }
}

extension MP4Export {
    /// The file, or a part of it.
    func bytes(of range: Range<Int64>? = nil, from sources: [[UInt8]]) -> [UInt8] {
        pieces(in: range ?? 0..<length).flatMap { piece in
            switch piece {
            case .bytes(let bytes): bytes
            case .source(let source, let offset, let length):
                Array(sources[source][Int(offset)..<Int(offset + length)])
            }
        }
    }
}
