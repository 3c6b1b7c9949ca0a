import FragmentedMP4

/// What the boxes of a segment's file say, as far as they are whole (ISO/IEC 14496-12; a chunk is ISO/IEC 23000-19,
/// section 7.3.3.2).
///
/// It reads only the boxes that it needs, so a segment of any size costs little.
struct SegmentScan: Equatable, Sendable {
    /// One chunk: `moof` and `mdat`, and the boxes before them.
    struct Chunk: Equatable, Sendable {
        /// Where it begins, and how many bytes it has.
        var offset: Int64
        var length: Int64
        /// The decode time of its first sample, and how long it lasts, in the track's timescale.
        var decodeTime: Int64
        var duration: Int64
        /// The time in its `prft`: when the sample with a decode time was captured, in microseconds since 1970, UTC.
        var reference: (wallTime: Int64, decodeTime: Int64)?

        static func == (left: Self, right: Self) -> Bool {
            left.offset == right.offset && left.length == right.length && left.decodeTime == right.decodeTime
                && left.duration == right.duration && left.reference?.wallTime == right.reference?.wallTime
                && left.reference?.decodeTime == right.reference?.decodeTime
        }
    }

    /// What follows the last whole chunk.
    enum Tail: Equatable, Sendable {
        /// Nothing.
        case none
        /// A chunk whose end is missing: it was being written.
        case torn
        /// Something else, with its place: damage. It is never cut off.
        case garbled(at: Int64)
    }

    /// The whole chunks.
    var chunks: [Chunk] = []
    /// Where the last whole chunk ends.
    var validLength: Int64 = 0
    /// What follows.
    var tail = Tail.none

    /// The largest `moof` that is read. One with a sample in each millisecond of ten minutes is smaller.
    private static let maximumFragmentHeader: Int64 = 16 << 20

    /// Reads the boxes of a file of this length. `read` returns up to a number of bytes from an offset.
    init<Failure: Error>(
        length: Int64, defaultDuration: UInt32 = 0, read: (_ offset: Int64, _ count: Int) throws(Failure) -> [UInt8]
    ) throws(Failure) {
        var offset: Int64 = 0
        var chunkStart: Int64 = 0
        var fragment: (decodeTime: Int64, duration: Int64, bytes: Int64)?
        var reference: (wallTime: Int64, decodeTime: Int64)?
        // Each turn moves on by eight bytes or more.
        while offset < length {
            let header = try read(offset, 16)
            guard let box = Self.box(header) else {
                self.tail = Self.isTorn(header, left: length - offset) ? .torn : .garbled(at: offset)
                return
            }
            guard box.size <= length - offset else {
                self.tail = Self.mayBegin(box.type, inside: fragment != nil) ? .torn : .garbled(at: offset)
                return
            }
            switch box.type {
            case "styp", "emsg", "sidx", "free", "skip":
                guard fragment == nil else {
                    self.tail = .garbled(at: offset)
                    return
                }
            case "prft":
                reference = Self.reference(try read(offset, Int(min(box.size, 64))))
            case "moof":
                guard fragment == nil, box.size <= Self.maximumFragmentHeader,
                    let times = FragmentTimes(try read(offset, Int(box.size)), defaultDuration: defaultDuration)
                else {
                    self.tail = .garbled(at: offset)
                    return
                }
                fragment = (times.decodeTime, times.duration, times.byteCount)
            case "mdat":
                guard let times = fragment, times.bytes <= box.size - Int64(box.headerLength) else {
                    self.tail = .garbled(at: offset)
                    return
                }
                fragment = nil
                self.chunks.append(
                    Chunk(
                        offset: chunkStart, length: offset + box.size - chunkStart, decodeTime: times.decodeTime,
                        duration: times.duration, reference: reference))
                reference = nil
                chunkStart = offset + box.size
                self.validLength = chunkStart
            default:
                self.tail = .garbled(at: offset)
                return
            }
            offset += box.size
        }
        self.tail = offset == self.validLength ? .none : .torn
    }

    /// When the first sample of the first chunk was captured, in microseconds since 1970, UTC; nil when no chunk says so.
    func wallTime(timescale: Int) -> Int64? {
        guard let first = chunks.first, let dated = chunks.first(where: { $0.reference != nil }),
            let reference = dated.reference
        else { return nil }
        let (ticks, overflow) = first.decodeTime.subtractingReportingOverflow(reference.decodeTime)
        let (product, tooLarge) = ticks.multipliedReportingOverflow(by: 1_000_000)
        if overflow || tooLarge { return nil }
        let (sum, beyond) = reference.wallTime.addingReportingOverflow(product / Int64(max(1, timescale)))
        return beyond ? nil : sum
    }

    /// Whether bytes that are not a box may be what a write that was cut off leaves: a part of a header, or zeros where
    /// the file system had given room but no content yet.
    private static func isTorn(_ header: [UInt8], left: Int64) -> Bool {
        left < 8 || header.allSatisfy { $0 == 0 }
    }

    /// Whether a box that is longer than its file may be one that was being written.
    private static func mayBegin(_ type: String, inside fragment: Bool) -> Bool {
        fragment ? type == "mdat" : ["styp", "prft", "emsg", "sidx", "moof"].contains(type)
    }

    /// The type, size and length of the header of the box that begins with these bytes; nil when none does.
    private static func box(_ bytes: [UInt8]) -> (type: String, size: Int64, headerLength: Int)? {
        guard let head = bytes.withUnsafeBytes({ MP4Boxes.head($0) }), head.length >= Int64(head.header) else {
            return nil
        }
        return (MP4Boxes.name(head.type), head.length, head.header)
    }

    /// The times of a `prft`; nil when it is damaged.
    private static func reference(_ bytes: [UInt8]) -> (wallTime: Int64, decodeTime: Int64)? {
        bytes.withUnsafeBytes { all in
            var boxes = MP4Boxes(all)
            guard let box = try? boxes.next(), let time = try? MP4ChunkReader.producerTime(box) else { return nil }
            return (time.wallTime, time.mediaTime)
        }
    }
}
