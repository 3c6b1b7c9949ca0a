import Transport

/// The fields of a fragment that hold for all of its samples (ISO/IEC 14496-12, sections 8.8.7 and 8.8.12).
extension MP4Boxes.Box {
    /// What a `tfhd` says: where its samples lie in the file, if it says so, and `defaults` with the values that it
    /// replaces.
    package func fragmentDefaults(
        over defaults: MP4SampleDefaults
    ) throws(MP4ReadError) -> (base: Int64?, defaults: MP4SampleDefaults) {
        var (_, flags, fields) = try full()
        guard fields.skip(4) else { throw invalid(.tooShort) }
        var base: Int64?
        var defaults = defaults
        var isComplete = true
        func read(_ flag: UInt32, _ value: inout UInt32) {
            guard flags & flag != 0 else { return }
            guard let given: UInt32 = fields.read() else { return isComplete = false }
            value = given
        }
        if flags & 0x01 != 0 {
            guard let given: UInt64 = fields.read() else { throw invalid(.tooShort) }
            guard given < 1 << 60 else { throw invalid(.offsetOutOfRange) }
            base = Int64(given)
        }
        var description: UInt32 = 1
        read(0x02, &description)
        read(0x08, &defaults.duration)
        read(0x10, &defaults.size)
        read(0x20, &defaults.flags)
        guard isComplete else { throw invalid(.tooShort) }
        guard description == 1 else { throw .unsupported(.secondDescription) }
        return (base, defaults)
    }

    /// The decode time in a `tfdt`, in the track's timescale.
    package func decodeTime() throws(MP4ReadError) -> Int64 {
        var (version, _, fields) = try full()
        let time: UInt64?
        if version == 1 {
            time = fields.read()
        } else {
            let short: UInt32? = fields.read()
            time = short.map(UInt64.init)
        }
        guard let time, time < 1 << 60 else { throw invalid(.noTime) }
        return Int64(time)
    }
}
