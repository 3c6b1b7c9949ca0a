import Testing
import Transport

@testable import FragmentedMP4

/// Fragments that describe their samples in many boxes (`trun`).
@Suite struct MP4RunBuilderTests {
    /// A sample of ten bytes that counts how often its size is read.
    private struct CountedSample: MP4SizedSample {
        let reads: Locked<Int>

        var size: UInt32 {
            reads.withLock { $0 += 1 }
            return 10
        }
    }

    @Test func `the size of each sample is read once, however many boxes describe the samples`() {
        let reads = Locked(0)
        var builder = MP4RunBuilder<CountedSample>(at: 100)
        let count = 5_000
        for index in 0..<count {
            // Each box says where its sample is.
            builder.position = Int64(100 + index * 10)
            builder.append(CountedSample(reads: reads))
        }
        #expect(reads.withLock { $0 } == count)
        #expect(builder.runs.map(\.offset) == [100])
        #expect(builder.runs.map(\.samples.count) == [count])
    }

    @Test func `samples with other bytes between them are separate runs`() {
        let reads = Locked(0)
        var builder = MP4RunBuilder<CountedSample>(at: 0)
        for position: Int64 in [0, 10, 25, 35, 0] {
            builder.position = position
            builder.append(CountedSample(reads: reads))
        }
        #expect(builder.runs.map(\.offset) == [0, 25, 0])
        #expect(builder.runs.map(\.samples.count) == [2, 2, 1])
        #expect(builder.position == 10)
    }

    @Test func `a fragment with a box for each sample reads like one with a single box`() throws {
        let track = try RecordedTrack(MP4ExporterTests.pictures, timescale: 90_000, count: 2, step: 3_600)
        let sizes: [UInt32] = [7, 1, 30, 12]
        let single = try chunk(boxes: [sizes], of: track.header)
        let many = try chunk(boxes: sizes.map { [$0] }, of: track.header)
        #expect(many.runs.map(\.samples.count) == [sizes.count])
        #expect(many.runs.map(\.samples) == single.runs.map(\.samples))
        #expect(many.runs.first?.length == 50)
        #expect(many.end - (many.runs.first?.offset ?? 0) == 50)
    }

    /// A chunk whose samples are described by a box for each list of sizes.
    private func chunk(boxes: [[UInt32]], of header: MP4Header) throws -> MP4Chunk {
        func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
            number(UInt32(content.count + 8)) + Array(type.utf8) + content
        }
        func fragment(offset: UInt32) -> [UInt8] {
            // The first box says where the samples begin, and the others continue there.
            let runs = boxes.enumerated().flatMap { index, sizes -> [UInt8] in
                let start = index == 0 ? number(0x201) + number(UInt32(sizes.count)) + number(offset) : []
                let rest = index == 0 ? [] : number(0x200) + number(UInt32(sizes.count))
                return box("trun", start + rest + sizes.flatMap(number))
            }
            let fields = box("tfhd", number(0x2_0000) + number(1)) + box("tfdt", number(0) + number(0))
            return box("moof", box("mfhd", number(0) + number(1)) + box("traf", fields + runs))
        }
        let length = fragment(offset: 0).count
        let media = [UInt8](repeating: 0, count: Int(boxes.joined().reduce(0, +)))
        let file = fragment(offset: UInt32(length + 8)) + box("mdat", media)
        return try #require(try RecordedTrack.chunks(of: file, header, window: 4_096).first)
    }
}
