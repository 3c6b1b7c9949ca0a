import Transport

/// When the samples of a movie fragment with one track are decoded (`moof`, ISO/IEC 14496-12, section 8.8).
struct FragmentTimes: Equatable, Sendable {
    /// The decode time of the first sample (`tfdt`), and how long all samples last, in the track's timescale.
    var decodeTime: Int64
    var duration: Int64
    /// How many bytes the samples have, as far as the fragment states their sizes.
    var byteCount: Int64

    /// Reads a whole `moof`; nil when it is damaged. `defaultDuration` is that of the track's `trex`.
    init?(_ bytes: [UInt8], defaultDuration: Int64) {
        let parsed: (Int64, Int64, Int64)? = bytes.withUnsafeBytes { all in
            guard let fragment = Self.child("traf", of: all, skipping: 8) else { return nil }
            var duration = defaultDuration
            var size: Int64?
            guard let header = Self.child("tfhd", of: fragment, skipping: 0),
                Self.readDefaults(header, duration: &duration, size: &size),
                let timing = Self.child("tfdt", of: fragment, skipping: 0), let decodeTime = Self.decodeTime(timing)
            else { return nil }
            var total: Int64 = 0
            var byteCount: Int64 = 0
            var offset = 0
            while let run = Self.child("trun", of: fragment, skipping: offset) {
                guard Self.add(run, duration: duration, size: size, to: &total, &byteCount),
                    let base = fragment.baseAddress, let start = run.baseAddress
                else { return nil }
                offset = start - base + run.count
            }
            return (decodeTime, total, byteCount)
        }
        guard let parsed else { return nil }
        (self.decodeTime, self.duration, self.byteCount) = parsed
    }

    /// The default duration of the first track in an initialization segment (`trex`); 0 when there is none.
    static func defaultDuration(initializationSegment bytes: [UInt8]) -> Int64 {
        bytes.withUnsafeBytes { all in
            guard let movie = Self.child("moov", of: all, skipping: 0),
                let extends = Self.child("mvex", of: movie, skipping: 0),
                let defaults = Self.child("trex", of: extends, skipping: 0)
            else { return 0 }
            var reader = ByteReader(defaults)
            guard reader.skip(4 + 4 + 4), let duration: UInt32 = reader.read() else { return 0 }
            return Int64(duration)
        }
    }

    /// The content of the first box of a type, behind `offset`; nil when there is none, or a box on the way is damaged.
    private static func child(
        _ type: String, of parent: UnsafeRawBufferPointer, skipping offset: Int
    ) -> UnsafeRawBufferPointer? {
        var reader = ByteReader(parent)
        guard reader.skip(offset) else { return nil }
        while reader.remaining >= 8 {
            guard let size: UInt32 = reader.read(), let name = reader.readBytes(4), size >= 8,
                let content = reader.readBytes(Int(size) - 8)
            else { return nil }
            if name.elementsEqual(type.utf8) { return content }
        }
        return nil
    }

    /// `tfhd`: flags say which of its fields are there.
    private static func readDefaults(
        _ box: UnsafeRawBufferPointer, duration: inout Int64, size: inout Int64?
    ) -> Bool {
        var reader = ByteReader(box)
        guard let flags: UInt32 = reader.read(), reader.skip(4) else { return false }
        guard reader.skip((flags & 0x1 != 0 ? 8 : 0) + (flags & 0x2 != 0 ? 4 : 0)) else { return false }
        if flags & 0x8 != 0 {
            guard let value: UInt32 = reader.read() else { return false }
            duration = Int64(value)
        }
        if flags & 0x10 != 0 {
            guard let value: UInt32 = reader.read() else { return false }
            size = Int64(value)
        }
        return true
    }

    private static func decodeTime(_ box: UnsafeRawBufferPointer) -> Int64? {
        var reader = ByteReader(box)
        guard let flags: UInt32 = reader.read() else { return nil }
        if flags >> 24 == 0 { return reader.read(UInt32.self).map(Int64.init) }
        guard let time: UInt64 = reader.read(), time < 1 << 60 else { return nil }
        return Int64(time)
    }

    /// `trun`: one entry for each sample, with the fields that its flags name.
    private static func add(
        _ box: UnsafeRawBufferPointer, duration: Int64, size: Int64?, to total: inout Int64, _ byteCount: inout Int64
    ) -> Bool {
        var reader = ByteReader(box)
        guard let flags: UInt32 = reader.read(), let count: UInt32 = reader.read(),
            reader.skip((flags & 0x1 != 0 ? 4 : 0) + (flags & 0x4 != 0 ? 4 : 0))
        else { return false }
        let hasDuration = flags & 0x100 != 0
        let hasSize = flags & 0x200 != 0
        let rest = (flags & 0x400 != 0 ? 4 : 0) + (flags & 0x800 != 0 ? 4 : 0)
        if !hasDuration, !hasSize, rest == 0 {
            // No entries: all samples are alike.
            guard count <= 1 << 24 else { return false }
            total += Int64(count) * duration
            byteCount += Int64(count) * (size ?? 0)
            return max(total, byteCount) < 1 << 60
        }
        for _ in 0..<count {
            var sample = (duration: duration, size: size ?? 0)
            if hasDuration {
                guard let value: UInt32 = reader.read() else { return false }
                sample.duration = Int64(value)
            }
            if hasSize {
                guard let value: UInt32 = reader.read() else { return false }
                sample.size = Int64(value)
            }
            guard reader.skip(rest) else { return false }
            total += sample.duration
            byteCount += sample.size
        }
        return max(total, byteCount) < 1 << 60
    }
}
