import FragmentedMP4
import Transport

/// When the samples of a movie fragment with one track are decoded (`moof`, ISO/IEC 14496-12, section 8.8).
///
/// Unlike `MP4ChunkReader` it makes no list of the samples, so a start of the gateway can look at every segment.
struct FragmentTimes: Equatable, Sendable {
    /// The decode time of the first sample (`tfdt`), and how long all samples last, in the track's timescale.
    var decodeTime: Int64
    var duration: Int64 = 0
    /// How many bytes the samples have, as far as the fragment states their sizes.
    var byteCount: Int64 = 0

    /// Reads a whole `moof`; nil when it is damaged. `defaultDuration` is that of the track's `trex`.
    init?(_ bytes: [UInt8], defaultDuration: UInt32) {
        let parsed = bytes.withUnsafeBytes { try? FragmentTimes(parsing: $0, defaultDuration: defaultDuration) }
        guard let parsed else { return nil }
        self = parsed
    }

    private init(parsing bytes: UnsafeRawBufferPointer, defaultDuration: UInt32) throws(MP4ReadError) {
        let track = try MP4Boxes(bytes).required("moof").children().required("traf")
        var defaults = MP4SampleDefaults()
        defaults.duration = defaultDuration
        defaults = try track.children().required("tfhd").fragmentDefaults(over: defaults).defaults
        decodeTime = try track.children().required("tfdt").decodeTime()
        var boxes = try track.children()
        while let box = try boxes.next() {
            if box.type == MP4Boxes.code("trun") { try add(box, defaults) }
        }
    }

    /// The default duration of the first track in an initialization segment (`trex`); 0 when there is none.
    static func defaultDuration(initializationSegment bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBytes { all in
            let defaults = try? MP4Boxes(all).required("moov").children().required("mvex").children().required("trex")
            guard var fields = try? defaults?.full().fields, fields.skip(4 + 4) else { return 0 }
            return fields.read() ?? 0
        }
    }

    /// `trun`: one entry for each sample, with the fields that its flags name.
    private mutating func add(_ run: MP4Boxes.Box, _ defaults: MP4SampleDefaults) throws(MP4ReadError) {
        var (_, flags, fields) = try run.full()
        guard let count: UInt32 = fields.read(), fields.skip((flags & 0x1 != 0 ? 4 : 0) + (flags & 0x4 != 0 ? 4 : 0))
        else { throw run.invalid(.tooShort) }
        let hasDuration = flags & 0x100 != 0
        let hasSize = flags & 0x200 != 0
        let rest = (flags & 0x400 != 0 ? 4 : 0) + (flags & 0x800 != 0 ? 4 : 0)
        if !hasDuration, !hasSize, rest == 0 {
            // No entries: all samples are alike.
            guard count <= 1 << 24 else { throw .tooLarge(.samplesOfChunk, limit: 1 << 24) }
            duration += Int64(count) * Int64(defaults.duration)
            byteCount += Int64(count) * Int64(defaults.size)
        } else {
            let width = (hasDuration ? 4 : 0) + (hasSize ? 4 : 0) + rest
            guard fields.remaining / width >= Int(count) else { throw run.invalid(.fewerSamples) }
            for _ in 0..<count {
                let duration: UInt32? = hasDuration ? fields.read() : defaults.duration
                let size: UInt32? = hasSize ? fields.read() : defaults.size
                guard let duration, let size, fields.skip(rest) else { throw run.invalid(.tooShort) }
                self.duration += Int64(duration)
                byteCount += Int64(size)
            }
        }
        guard max(duration, byteCount) < 1 << 60 else { throw run.invalid(.impossibleLength) }
    }
}
