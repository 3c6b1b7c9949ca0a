import FragmentedMP4
import StreamFormats
import Testing
import Transport

struct FragmentDemuxerTests {
    /// Sound of one frame each 20 ms, as a server's initialization and its segment.
    private static func recording(
        from first: Int64 = 0, count: Int = 6
    ) throws -> (header: [UInt8], segment: [UInt8], frames: [[UInt8]]) {
        var writer = try FragmentedMP4Writer(
            tracks: [MP4Track(codec: .opus(channels: 1, preSkip: 0), timescale: 48_000)])
        var segment: [UInt8] = []
        var frames: [[UInt8]] = []
        for index in 0..<count {
            frames.append((0..<(10 + index)).map { UInt8(truncatingIfNeeded: $0 + index) })
            let sample = MP4Sample(
                data: frames[index], decodeTime: first + Int64(index) * 960, compositionOffset: 0, isKeyFrame: true)
            segment += try writer.append(sample, track: 0) ?? []
        }
        segment += writer.finish() ?? []
        return (writer.initializationSegment, segment, frames)
    }

    private static func units(
        _ segment: [UInt8], _ header: [UInt8], pieces size: Int
    ) throws -> [StreamUnit] {
        var demuxer = try FragmentDemuxer(header: header)
        var units: [StreamUnit] = []
        var offset = 0
        while offset < segment.count {
            let end = min(offset + size, segment.count)
            try segment[offset..<end].withUnsafeBytes { piece in try demuxer.append(piece) { units.append($0) } }
            offset = end
        }
        demuxer.finish { units.append($0) }
        return units
    }

    @Test(arguments: [1, 7, 100, 100_000]) func `A segment gives its frames however it is split`(size: Int) throws {
        let (header, segment, frames) = try Self.recording()
        #expect(try FragmentDemuxer(header: header).tracks == [StreamTrack(.opus)])
        let units = try Self.units(segment, header, pieces: size)
        #expect(units.map(\.bytes) == frames)
        // 20 ms in ticks of 90 kHz.
        #expect(units.map(\.decoding) == frames.indices.map { Int64($0) * 1_800 })
    }

    @Test func `A segment that was made in this year keeps its times, and one from another age is left out`() throws {
        let today = Int64(1_800_000_000)
        let (header, segment, frames) = try Self.recording(from: today * 48_000)
        let units = try Self.units(segment, header, pieces: 100)
        #expect(units.map(\.bytes) == frames && units.first?.decoding == today * 90_000)
        // A multiple of such a time would overflow.
        let (_, forged, _) = try Self.recording(from: 1 << 58)
        #expect(try Self.units(forged, header, pieces: 100).isEmpty)
    }

    @Test func `A damaged segment ends in an error, or gives no more than it has`() throws {
        let (header, segment, _) = try Self.recording()
        var random = RandomSource.seeded(7)
        for _ in 0..<3_000 {
            var (first, second) = (header, segment)
            for _ in 0...(random.next() % 4) {
                let value = UInt8(truncatingIfNeeded: random.next())
                if random.next() % 3 == 0 {
                    first[Int(random.next() % UInt64(first.count))] = value
                } else {
                    second[Int(random.next() % UInt64(second.count))] = value
                }
            }
            guard let units = try? Self.units(second, first, pieces: 64) else { continue }
            #expect(units.allSatisfy { $0.bytes.count <= segment.count && $0.decoding.magnitude < 1 << 60 })
        }
    }
}
