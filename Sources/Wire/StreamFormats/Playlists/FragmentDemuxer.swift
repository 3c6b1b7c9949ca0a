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
    /// The tables of as many samples as are read at most have half of this.
    private static let maximumFragment: Int64 = 4 << 20
    /// No time is larger, in the track's timescale, so that sums of times do not overflow.
    private static let maximumTime: Int64 = 1 << 60
    /// The largest decode time in seconds. Some servers count from 1970.
    private static let maximumSeconds: Int64 = 1 << 32

    /// Reads the initialization that a playlist names.
    public init(header bytes: [UInt8]) throws(StreamFormatError) {
        let header: MP4Header
        do throws(MP4ReadError) {
            header = try MP4Header(bytes)
        } catch {
            throw .damaged(.initialization(error))
        }
        for track in header.tracks {
            guard let (codec, units) = Self.codec(of: track) else {
                list.leaveOut(.namedCodec(.init(isVideo: track.isVideo), track.format))
                continue
            }
            guard list.index(isVideo: track.isVideo) == nil else {
                list.leaveOut(.another(.init(isVideo: track.isVideo)))
                continue
            }
            sources[track.identifier] = Source(header: track, position: list.set(codec), units: units)
        }
    }

    public var tracks: [StreamTrack] { list.tracks }
    public var leftOut: [UnsupportedPart] { list.leftOut }
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
        var offset = 0
        defer { rest.removeFirst(offset) }
        var allowance = UnitAllowance()
        while true {
            guard
                let head = rest.withUnsafeBytes({ MP4Boxes.head(UnsafeRawBufferPointer(rebasing: $0[offset...])) })
            else { return }
            guard head.length >= Int64(head.header) else { throw .notOfFormat(.fragmentedMP4) }
            let isFragment = head.type == MP4Boxes.code("moof")
            guard head.length <= (isFragment ? Self.maximumFragment : Self.maximumBox) else {
                throw .tooLong(.box)
            }
            let length = Int(head.length)
            guard rest.count - offset >= length else { return }
            if isFragment {
                fragment = Array(rest[offset..<offset + length])
            } else if head.type == MP4Boxes.code("mdat"), !fragment.isEmpty {
                var moof: [UInt8] = []
                swap(&moof, &fragment)
                allowance.add(input: moof.count + length)
                let failure = (moof + rest[offset..<offset + length]).withUnsafeBytes { raw -> MP4ReadError? in
                    do throws(MP4ReadError) {
                        try take(raw, fragment: moof.count, within: &allowance, body)
                        return nil
                    } catch {
                        return error
                    }
                }
                guard !allowance.isExceeded else { throw .tooLong(.fragmentContent) }
                if let failure { throw .damaged(.segment(failure)) }
            }
            offset += length
        }
    }

    public mutating func finish(_ body: (StreamUnit) -> Void) {
        rest = []
        fragment = []
    }

    /// Takes a fragment and its media, which follow each other in `bytes`. A fragment's own places count from its first
    /// byte.
    private func take(
        _ bytes: UnsafeRawBufferPointer, fragment length: Int, within allowance: inout UnitAllowance,
        _ body: (StreamUnit) -> Void
    ) throws(MP4ReadError) {
        var reading = Reading(bytes: bytes, samples: MP4ChunkReader.maximumSamples)
        let fragment = try MP4Boxes(UnsafeRawBufferPointer(rebasing: bytes[..<length])).required("moof")
        var boxes = try fragment.children()
        while let box = try boxes.next() {
            guard box.type == MP4Boxes.code("traf") else { continue }
            let header = try box.children().required("tfhd")
            var (_, _, fields) = try header.full()
            guard let identifier: UInt32 = fields.read() else { throw header.invalid(.tooShort) }
            guard let source = sources[identifier] else { continue }
            let (base, defaults) = try header.fragmentDefaults(over: source.header.defaults)
            // Where the file of the server is longer than its segment, places count from its beginning.
            guard base == nil else { throw .unsupported(.placesInFile) }
            reading.time = try box.children().required("tfdt").decodeTime()
            reading.position = 0
            var runs = try box.children()
            while let run = try runs.next() {
                guard run.type == MP4Boxes.code("trun") else { continue }
                try take(run, of: source, defaults, &reading, within: &allowance, body)
            }
        }
    }

    private func take(
        _ run: MP4Boxes.Box, of source: Source, _ defaults: MP4SampleDefaults, _ reading: inout Reading,
        within allowance: inout UnitAllowance, _ body: (StreamUnit) -> Void
    ) throws(MP4ReadError) {
        var (_, flags, fields) = try run.full()
        guard let count: UInt32 = fields.read() else { throw run.invalid(.tooShort) }
        if flags & 0x01 != 0 {
            guard let given: UInt32 = fields.read() else { throw run.invalid(.tooShort) }
            reading.position = Int(Int32(bitPattern: given))
        }
        if flags & 0x04 != 0, !fields.skip(4) { throw run.invalid(.tooShort) }
        let width = [0x100, 0x200, 0x400, 0x800].reduce(0) { $0 + (flags & UInt32($1) != 0 ? 4 : 0) }
        guard fields.remaining >= width * Int(count) else { throw run.invalid(.fewerSamples) }
        reading.samples -= Int(count)
        guard reading.samples >= 0 else {
            throw .tooLarge(.samplesOfFragment, limit: MP4ChunkReader.maximumSamples)
        }
        for _ in 0..<count {
            func field(_ flag: UInt32, _ otherwise: UInt32) -> UInt32 {
                flags & flag != 0 ? fields.read() ?? otherwise : otherwise
            }
            let duration = field(0x100, defaults.duration)
            let size = Int(field(0x200, defaults.size))
            _ = field(0x400, 0)
            let composition = Int64(Int32(bitPattern: field(0x800, 0)))
            let sample = try reading.take(size, lasting: duration, of: run)
            guard let unit = makeUnit(sample.bytes, of: source, at: sample.time, composition) else { continue }
            guard allowance.admit(unit) else {
                throw .tooLarge(.contentOfFragment, limit: reading.bytes.count + UnitAllowance.margin)
            }
            body(unit)
        }
    }

    /// How far the samples of a fragment have been read, over all of its runs.
    private struct Reading {
        /// The fragment and its media.
        let bytes: UnsafeRawBufferPointer
        /// How many samples may still follow.
        var samples: Int
        /// How many bytes these may have. Runs may begin at the same place, but no server repeats media.
        private var left: Int
        /// Where the next sample begins.
        var position = 0
        /// When it is decoded, in the track's timescale.
        var time: Int64 = 0

        init(bytes: UnsafeRawBufferPointer, samples: Int) {
            self.bytes = bytes
            self.samples = samples
            left = bytes.count
        }

        /// Takes the next sample and its time.
        mutating func take(
            _ size: Int, lasting duration: UInt32, of run: MP4Boxes.Box
        ) throws(MP4ReadError) -> (bytes: UnsafeRawBufferPointer, time: Int64) {
            guard position >= 0, size <= bytes.count - position else {
                throw run.invalid(.samplesOutsideMedia)
            }
            left -= size
            guard left >= 0 else { throw run.invalid(.moreSamplesThanMedia) }
            guard (0..<FragmentDemuxer.maximumTime).contains(time) else {
                throw run.invalid(.timeTooLarge)
            }
            let sample = UnsafeRawBufferPointer(rebasing: bytes[position..<position + size])
            defer {
                position += size
                // The sum stays below 2^61.
                time += Int64(duration)
            }
            return (sample, time)
        }
    }

    /// The unit of a sample; nil for one that is empty, too long or damaged, or that has a time of another age.
    private func makeUnit(
        _ sample: UnsafeRawBufferPointer, of source: Source, at time: Int64, _ composition: Int64
    ) -> StreamUnit? {
        guard !sample.isEmpty, sample.count <= StreamUnit.maximumLength else { return nil }
        let scale = Int64(source.header.timescale)
        // What a camera cannot mean would overflow later on.
        guard time / scale < Self.maximumSeconds else { return nil }
        let bytes: [UInt8]
        if let units = source.units {
            guard let unit = units.annexB(sample) else { return nil }
            bytes = unit
        } else {
            bytes = Array(sample)
        }
        // A composition offset has 32 bits, so these products stay below 2^50.
        func ticks(_ time: Int64) -> Int64 {
            let (seconds, rest) = time.quotientAndRemainder(dividingBy: scale)
            return seconds * StreamUnit.clockRate + rest * StreamUnit.clockRate / scale
        }
        return StreamUnit(
            track: source.position, bytes: bytes, presentation: ticks(time + composition), decoding: ticks(time))
    }
}
