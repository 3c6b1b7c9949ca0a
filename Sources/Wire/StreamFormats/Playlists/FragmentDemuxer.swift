import FragmentedMP4
import RTP
import Transport

/// Takes the segments of fragmented MP4 apart that a playlist names (RFC 8216, section 3.3; ISO/IEC 14496-12).
public struct FragmentDemuxer: StreamDemuxer {
    private struct Source: Sendable {
        var header: MP4Header.Track
        var position: Int
        /// Pictures: how their units are written.
        var units: UnitConfiguration?
    }

    private var list = StreamTrackList()
    private var sources: [UInt32: Source] = [:]
    private var rest: [UInt8] = []
    /// The newest fragment, whose media have not come yet.
    private var fragment: [UInt8] = []
    private static let maximumBox: Int64 = 32 << 20
    /// The largest decode time in seconds. Some servers count from 1970.
    private static let maximumSeconds: Int64 = 1 << 32

    /// Reads the initialization that a playlist names.
    public init(header bytes: [UInt8]) throws(StreamFormatError) {
        let header: MP4Header
        do throws(MP4ReadError) {
            header = try MP4Header(bytes)
        } catch {
            throw .damaged("in the initialization of the segments, \(error)")
        }
        for track in header.tracks {
            guard let (codec, units) = Self.codec(of: track) else {
                list.leaveOut("\(track.isVideo ? "video" : "sound") of the kind \(track.format)")
                continue
            }
            guard list.index(isVideo: track.isVideo) == nil else {
                list.leaveOut(track.isVideo ? "another video" : "another audio")
                continue
            }
            sources[track.identifier] = Source(header: track, position: list.set(codec), units: units)
        }
    }

    public var tracks: [StreamTrack] { list.tracks }
    public var leftOut: [String] { list.leftOut }
    public var awaitsTracks: Bool { false }

    private static func codec(of track: MP4Header.Track) -> (StreamTrack.Codec, UnitConfiguration?)? {
        switch track.format {
        case "avc1", "avc3", "hvc1", "hev1":
            let isH265 = track.format.hasPrefix("h")
            let units = track.sampleEntry.withUnsafeBytes { raw -> UnitConfiguration? in
                // The fields of a visual sample entry take 86 bytes with the header of the box.
                guard raw.count >= 86 else { return nil }
                let inside = MP4Boxes(UnsafeRawBufferPointer(rebasing: raw[86...]))
                let box = isH265 ? try? inside.first("hvcC") : try? inside.first("avcC")
                guard let record = box?.content else { return nil }
                return isH265 ? UnitConfiguration(hevc: record) : UnitConfiguration(avc: record)
            }
            guard let units else { return nil }
            return (
                isH265 ? .h265(parameterSets: units.parameterSets) : .h264(parameterSets: units.parameterSets), units
            )
        case "mp4a":
            guard let config = track.audioSpecificConfig, AudioSpecificConfig(parsing: config) != nil else {
                return nil
            }
            return (.aac(config: config), nil)
        case "Opus": return (.opus, nil)
        default: return nil
        }
    }

    public mutating func append(
        _ bytes: UnsafeRawBufferPointer, _ body: (StreamUnit) -> Void
    ) throws(StreamFormatError) {
        rest.append(contentsOf: bytes)
        while true {
            guard let head = rest.withUnsafeBytes({ MP4Boxes.head($0) }) else { return }
            guard head.length >= Int64(head.header) else { throw .notOfFormat("fragmented MP4") }
            guard head.length <= Self.maximumBox else { throw .tooLong("a box of MP4") }
            let length = Int(head.length)
            guard rest.count >= length else { return }
            if head.type == MP4Boxes.code("moof") {
                fragment = Array(rest[..<length])
            } else if head.type == MP4Boxes.code("mdat"), !fragment.isEmpty {
                var moof: [UInt8] = []
                swap(&moof, &fragment)
                let failure = (moof + rest[..<length]).withUnsafeBytes { raw -> MP4ReadError? in
                    do throws(MP4ReadError) {
                        try take(raw, fragment: moof.count, body)
                        return nil
                    } catch {
                        return error
                    }
                }
                if let failure { throw .damaged("in a segment, \(failure)") }
            }
            rest.removeFirst(length)
        }
    }

    public mutating func finish(_ body: (StreamUnit) -> Void) {
        rest = []
        fragment = []
    }

    /// Takes a fragment and its media, which follow each other in `bytes`. A fragment's own places count from its first
    /// byte.
    private func take(
        _ bytes: UnsafeRawBufferPointer, fragment length: Int, _ body: (StreamUnit) -> Void
    ) throws(MP4ReadError) {
        let fragment = try MP4Boxes(UnsafeRawBufferPointer(rebasing: bytes[..<length])).required("moof")
        var boxes = try fragment.children()
        while let box = try boxes.next() {
            guard box.type == MP4Boxes.code("traf") else { continue }
            let header = try box.children().required("tfhd")
            var (_, _, fields) = try header.full()
            guard let identifier: UInt32 = fields.read() else { throw header.invalid("is too short") }
            guard let source = sources[identifier] else { continue }
            let (base, defaults) = try header.fragmentDefaults(over: source.header.defaults)
            // Where the file of the server is longer than its segment, places count from its beginning.
            guard base == nil else { throw .unsupported("a fragment that names places in a file") }
            var time = try box.children().required("tfdt").decodeTime()
            var runs = try box.children()
            var position = 0
            while let run = try runs.next() {
                guard run.type == MP4Boxes.code("trun") else { continue }
                try take(run, of: source, defaults, &time, &position, bytes, body)
            }
        }
    }

    private func take(
        _ run: MP4Boxes.Box, of source: Source, _ defaults: MP4SampleDefaults, _ time: inout Int64,
        _ position: inout Int, _ bytes: UnsafeRawBufferPointer, _ body: (StreamUnit) -> Void
    ) throws(MP4ReadError) {
        var (_, flags, fields) = try run.full()
        guard let count: UInt32 = fields.read() else { throw run.invalid("is too short") }
        if flags & 0x01 != 0 {
            guard let given: UInt32 = fields.read() else { throw run.invalid("is too short") }
            position = Int(Int32(bitPattern: given))
        }
        if flags & 0x04 != 0, !fields.skip(4) { throw run.invalid("is too short") }
        let width = [0x100, 0x200, 0x400, 0x800].reduce(0) { $0 + (flags & UInt32($1) != 0 ? 4 : 0) }
        guard fields.remaining >= width * Int(count), Int(count) <= MP4ChunkReader.maximumSamples else {
            throw run.invalid("has fewer samples than it says")
        }
        for _ in 0..<count {
            func field(_ flag: UInt32, _ otherwise: UInt32) -> UInt32 {
                flags & flag != 0 ? fields.read() ?? otherwise : otherwise
            }
            let duration = field(0x100, defaults.duration)
            let size = Int(field(0x200, defaults.size))
            _ = field(0x400, 0)
            let composition = Int64(Int32(bitPattern: field(0x800, 0)))
            guard position >= 0, size <= bytes.count - position else {
                throw run.invalid("places samples outside of the media that follow")
            }
            let sample = UnsafeRawBufferPointer(rebasing: bytes[position..<position + size])
            pass(sample, of: source, at: time, composition, body)
            position += size
            time &+= Int64(duration)
        }
    }

    private func pass(
        _ sample: UnsafeRawBufferPointer, of source: Source, at time: Int64, _ composition: Int64,
        _ body: (StreamUnit) -> Void
    ) {
        guard !sample.isEmpty, sample.count <= StreamUnit.maximumLength else { return }
        let bytes: [UInt8]
        if let units = source.units {
            guard let unit = units.annexB(sample) else { return }
            bytes = unit
        } else {
            bytes = Array(sample)
        }
        let scale = Int64(source.header.timescale)
        // What a camera cannot mean would overflow later on.
        guard abs(time / scale) < Self.maximumSeconds else { return }
        func ticks(_ time: Int64) -> Int64 {
            let (seconds, rest) = time.quotientAndRemainder(dividingBy: scale)
            return seconds &* StreamUnit.clockRate &+ rest * StreamUnit.clockRate / scale
        }
        body(
            StreamUnit(
                track: source.position, bytes: bytes, presentation: ticks(time &+ composition), decoding: ticks(time)))
    }
}
