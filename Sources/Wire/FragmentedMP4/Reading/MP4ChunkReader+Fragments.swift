import Transport

/// The boxes of a fragment (ISO/IEC 14496-12, sections 8.8.4 to 8.8.12 and 8.16.5).
extension MP4ChunkReader {
    /// Seconds from 1900, where NTP counts from, to 1970.
    private static let secondsTo1970: UInt64 = 2_208_988_800

    package static func producerTime(_ box: MP4Boxes.Box) throws(MP4ReadError) -> MP4Chunk.ProducerTime {
        var (version, _, fields) = try box.full()
        guard version <= 1, fields.skip(4), let network: UInt64 = fields.read() else {
            throw box.invalid(.tooShort)
        }
        let media: UInt64?
        if version == 1 {
            media = fields.read()
        } else {
            let short: UInt32? = fields.read()
            media = short.map(UInt64.init)
        }
        guard let media, media < 1 << 60 else { throw box.invalid(.noMediaTime) }
        // The fraction is rounded: a writer that rounds down loses up to a quarter of a nanosecond.
        let fraction = ((network & 0xFFFF_FFFF) &* 1_000_000 &+ 1 << 31) >> 32
        let seconds = Int64(network >> 32) - Int64(secondsTo1970)
        return MP4Chunk.ProducerTime(wallTime: seconds * 1_000_000 + Int64(fraction), mediaTime: Int64(media))
    }

    func chunk(
        _ fragment: MP4Boxes.Box, _ track: MP4Header.Track, media: Range<Int64>,
        producerTime: MP4Chunk.ProducerTime?
    ) throws(MP4ReadError) -> MP4Chunk {
        var boxes = try fragment.children()
        var found: MP4Boxes.Box?
        while let box = try boxes.next() {
            guard box.type == MP4Boxes.code("traf") else { continue }
            guard found == nil else { throw .unsupported(.severalTracksInFragment) }
            found = box
        }
        guard let found else { throw .missingBox("traf") }
        let header = try found.children().required("tfhd")
        let (base, defaults) = try header.fragmentDefaults(over: track.defaults)
        let decodeTime = try found.children().required("tfdt").decodeTime()
        let runs = try runs(of: found, base: base ?? fragment.offset, media: media, defaults)
        return MP4Chunk(
            track: track.identifier, decodeTime: decodeTime, runs: runs, producerTime: producerTime,
            end: media.upperBound)
    }

    private func runs(
        of box: MP4Boxes.Box, base: Int64, media: Range<Int64>, _ defaults: MP4SampleDefaults
    ) throws(MP4ReadError) -> [MP4Chunk.Run] {
        var boxes = try box.children()
        // Without an offset a run begins where the one before it ends, and the first one at the base.
        var builder = MP4RunBuilder<MP4Chunk.Sample>(at: base)
        var total = 0
        while let run = try boxes.next() {
            guard run.type == MP4Boxes.code("trun") else { continue }
            var (version, flags, fields) = try run.full()
            guard let count: UInt32 = fields.read() else { throw run.invalid(.tooShort) }
            total += Int(count)
            guard total <= Self.maximumSamples else { throw .tooLarge(.samplesOfChunk, limit: Self.maximumSamples) }
            if flags & 0x01 != 0 {
                guard let given: UInt32 = fields.read() else { throw run.invalid(.tooShort) }
                builder.position = base + Int64(Int32(bitPattern: given))
            }
            var firstFlags: UInt32?
            if flags & 0x04 != 0 {
                guard let given: UInt32 = fields.read() else { throw run.invalid(.tooShort) }
                firstFlags = given
            }
            let width = [0x100, 0x200, 0x400, 0x800].reduce(0) { $0 + (flags & UInt32($1) != 0 ? 4 : 0) }
            guard fields.remaining >= width * Int(count) else { throw run.invalid(.fewerSamples) }
            guard count > 0 else { continue }
            let start = builder.position
            for index in 0..<Int(count) {
                func field(_ flag: UInt32, _ otherwise: UInt32) -> UInt32 {
                    flags & flag != 0 ? fields.read() ?? otherwise : otherwise
                }
                let duration = field(0x100, defaults.duration)
                let size = field(0x200, defaults.size)
                let own = field(0x400, index == 0 ? firstFlags ?? defaults.flags : defaults.flags)
                let composition = Int32(bitPattern: field(0x800, 0))
                // Version 0 has no negative offsets, and real ones are far below the sign.
                guard version > 0 || composition >= 0 else { throw run.invalid(.offsetOutOfRange) }
                builder.append(
                    MP4Chunk.Sample(
                        size: size, duration: duration, compositionOffset: composition, isSync: own & 0x1_0000 == 0))
            }
            guard start >= media.lowerBound, builder.position <= media.upperBound else {
                throw run.invalid(.samplesOutsideMedia)
            }
        }
        return builder.runs.map { MP4Chunk.Run(offset: $0.offset, samples: $0.samples) }
    }
}
