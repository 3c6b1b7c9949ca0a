import Testing
import Transport

@testable import RTP

@Suite struct VideoPayloadFormatTests {
    // MARK: H.265

    /// Of 640×360, Main profile, level 2.1, without reordering.
    static let sps = hex(
        "42010101600000030090000003000003003fa005020171f2e5ba4a4c2f0168080000030008000003007840")
    /// The same with two pictures that may be reordered.
    static let reorderingSPS = hex(
        "42010101600000030090000003000003003fa005020171f2e595912930bc05a020000003002000000301e1")

    @Test func theSequenceParameterSetOfH265IsRead() throws {
        func read(_ bytes: [UInt8]) -> H265.SequenceParameterSet? {
            bytes.withUnsafeBytes { H265.SequenceParameterSet(parsing: $0) }
        }
        let set = try #require(read(Self.sps))
        #expect(set.width == 640 && set.height == 360 && set.bitDepth == 8)
        #expect(set.profile == 1 && !set.isHighTier && set.level == 63 && set.reorderedPictures == 0)
        #expect(try #require(read(Self.reorderingSPS)).reorderedPictures > 0)
        #expect(read(Array(Self.sps.prefix(20))) == nil && read([]) == nil)
    }

    @Test func unitsFragmentsAndAggregationsOfH265AreDistinguished() {
        func info(_ payload: [UInt8]) -> H265.PayloadInfo { payload.withUnsafeBytes { H265.info(payload: $0) } }
        #expect(info([0x26, 1, 0x80, 0]) == [.randomAccessPoint, .startsPicture])
        #expect(info([0x26, 1, 0x40, 0]) == .randomAccessPoint)
        #expect(info([0x02, 1, 0x80]) == [.otherSlice, .startsPicture])
        #expect(info([0x40, 1, 9]) == .parameterSet)
        // A fragment of an IDR picture, its first and another one.
        #expect(info([0x62, 1, 0x80 | 19, 0x80]) == [.randomAccessPoint, .startsPicture])
        #expect(info([0x62, 1, 19, 0x80]) == .randomAccessPoint)
        #expect(
            info([0x60, 1, 0, 3, 0x42, 1, 7, 0, 3, 0x26, 1, 0x80]) == [
                .parameterSet, .randomAccessPoint, .startsPicture,
            ])
        #expect(info([]) == [] && info([0x62, 1]) == [] && info([0x60, 1, 0, 9, 1]) == [])
    }

    @Test func framesOfH265AreAssembled() {
        let parameters: [[UInt8]] = [[0x40, 1, 1], [0x42, 1, 2], [0x44, 1, 3]]
        let idr = [0x26, 1, 0x80] + pattern(2000)
        let slice = [0x02, 1, 0x80] + pattern(50)
        let aggregation: [UInt8] = [0x60, 1] + parameters.flatMap { (set: [UInt8]) -> [UInt8] in [0, 3] + set }
        var packets: [[UInt8]] = [aggregation]
        for start in stride(from: 2, to: idr.count, by: 700) {
            let end = min(start + 700, idr.count)
            let marks: UInt8 = (start == 2 ? 0x80 : 0) | (end == idr.count ? 0x40 : 0)
            packets.append([0x62, 1, marks | 19] + idr[start..<end])
        }
        var assembler = VideoFrameAssembler(format: .h265)
        let key = frames(&assembler, packets, timestamp: 1, from: 10)
        #expect(key.count == 1 && key[0].isKeyFrame)
        #expect(key[0].data == (parameters + [idr]).flatMap { (unit: [UInt8]) -> [UInt8] in [0, 0, 0, 1] + unit })
        let next = frames(&assembler, [slice], timestamp: 2, from: 10 + packets.count)
        #expect(next.map(\.data) == [[0, 0, 0, 1] + slice] && !next[0].isKeyFrame)
        // After a gap nothing comes until the next key frame.
        #expect(frames(&assembler, [slice], timestamp: 3, from: 100).isEmpty)
        #expect(frames(&assembler, packets, timestamp: 4, from: 101).count == 1)
    }

    /// Feeds the packets of one frame.
    private func frames(
        _ assembler: inout VideoFrameAssembler, _ payloads: [[UInt8]], timestamp: UInt32, from number: Int
    ) -> [EncodedFrame] {
        var frames: [EncodedFrame] = []
        for (index, payload) in payloads.enumerated() {
            payload.withUnsafeBytes { bytes in
                let packet = PacketBatch.Packet(
                    offset: 0, length: 0, timestamp: timestamp,
                    sequenceNumber: UInt16(truncatingIfNeeded: number + index), payloadType: 96,
                    flags: index == payloads.count - 1 ? .marker : [])
                assembler.append(packet, payload: bytes, arrival: .zero) { frames.append($0) }
            }
        }
        return frames
    }

    // MARK: VP9

    @Test func descriptorsOfVP9AreRead() {
        func read(_ bytes: [UInt8]) -> VP9PayloadDescriptor? {
            bytes.withUnsafeBytes { VP9PayloadDescriptor(parsing: $0) }
        }
        // I, B and E with a picture identifier of 15 bits; then with layers outside the flexible mode.
        #expect(read([0x8C, 0x92, 0x34, 0xFF]).map { ($0.length, $0.pictureID) } ?? (0, 0) == (3, 0x1234))
        #expect(read([0xA8, 5, 0x42, 7, 0xFF]).map { ($0.length, $0.spatialLayer) } ?? (0, 9) == (4, 1))
        // Flexible with two references, the second without a following one.
        #expect(read([0xD0, 5, 3, 2, 0xFF])?.length == 4)
        // A structure with one layer's size and two pictures in the group.
        #expect(read([0x0A, 0x18, 2, 128, 1, 104, 2, 0x04, 1, 0x00, 0xFF])?.length == 10)
        for bytes in [[], [0x08], [0x80], [0x80, 0x80], [0x50, 1, 1, 1, 1], [0x02, 0xFF, 0]] as [[UInt8]] {
            #expect(read(bytes) == nil, "\(bytes)")
        }
        #expect(([0x08, 0x82] as [UInt8]).withUnsafeBytes { VP9.isKeyFrameStart(payload: $0) })
        #expect(!([0x48, 0x86] as [UInt8]).withUnsafeBytes { VP9.isKeyFrameStart(payload: $0) })
        #expect(!([0x00, 0x82] as [UInt8]).withUnsafeBytes { VP9.isKeyFrameStart(payload: $0) })
    }

    @Test func framesOfVP9AreAssembled() {
        var assembler = VideoFrameAssembler(format: .vp9)
        let key = [0x82] + pattern(100)
        let result = frames(
            &assembler, [[0x88, 1] + key[..<50], [0x84, 1] + key[50...]], timestamp: 1, from: 0)
        #expect(result.map(\.data) == [key] && result[0].isKeyFrame)
        let inter = frames(&assembler, [[0xCC, 2, 0x86, 1, 2]], timestamp: 2, from: 2)
        #expect(inter.map(\.data) == [[0x86, 1, 2]] && !inter[0].isKeyFrame)
    }

    // MARK: JPEG

    /// The main header of RFC 2435, section 3.1, of 640×360 in 4:2:0.
    private func jpegHeader(_ offset: Int, type: UInt8 = 1, quality: UInt8) -> [UInt8] {
        [0, UInt8(offset >> 16), UInt8(offset >> 8 & 0xFF), UInt8(offset & 0xFF), type, quality, 80, 45]
    }

    @Test func aJPEGFileIsRebuilt() throws {
        var assembler = VideoFrameAssembler(format: .jpeg)
        let data = pattern(300)
        let tables = pattern(128, seed: 3)
        let result = frames(
            &assembler,
            [
                jpegHeader(0, quality: 255) + [0, 0, 0, 128] + tables + data[..<100],
                jpegHeader(100, quality: 255) + data[100...],
            ], timestamp: 1, from: 0)
        let file = try #require(result.first).data
        #expect(result.count == 1 && result[0].isKeyFrame)
        #expect(file.starts(with: [0xFF, 0xD8, 0xFF, 0xE0]) && file.suffix(302) == data + [0xFF, 0xD9])
        #expect(file.contains(tables[..<64]) && file.contains(tables[64...]))
        // Height 360 and width 640, then three components with 4:2:0.
        #expect(file.contains([0xFF, 0xC0, 0, 17, 8, 1, 104, 2, 128, 3, 1, 0x22, 0] as [UInt8]))
    }

    @Test func restartMarkersAndTablesThatStayArePutIn() throws {
        var assembler = VideoFrameAssembler(format: .jpeg)
        let first = jpegHeader(0, type: 65, quality: 200) + [0, 40, 0xFF, 0xFF, 0, 0, 0, 128] + pattern(128) + [1, 2]
        let again = jpegHeader(0, type: 65, quality: 200) + [0, 40, 0xFF, 0xFF, 0, 0, 0, 0] + [3, 4]
        let files =
            frames(&assembler, [first], timestamp: 1, from: 0) + frames(&assembler, [again], timestamp: 2, from: 1)
        #expect(files.count == 2)
        #expect(files.allSatisfy { $0.data.contains([0xFF, 0xDD, 0, 4, 0, 40] as [UInt8]) })
        #expect(files.allSatisfy { $0.data.contains(pattern(128)[..<64]) })
    }

    @Test func aPictureWithAHoleIsNotHandedOut() {
        var assembler = VideoFrameAssembler(format: .jpeg)
        let data = pattern(300)
        #expect(
            frames(
                &assembler, [jpegHeader(0, quality: 50) + data[..<100], jpegHeader(200, quality: 50) + data[200...]],
                timestamp: 1, from: 0
            ).isEmpty)
        #expect(assembler.droppedFrames == 1)
        #expect(frames(&assembler, [jpegHeader(0, quality: 50) + data], timestamp: 2, from: 2).count == 1)
        // Tables that never came.
        #expect(frames(&assembler, [jpegHeader(0, quality: 222) + [0, 0, 0, 0] + data], timestamp: 3, from: 3).isEmpty)
    }

    // MARK: Hostile payloads

    @Test(arguments: [FrameAssembler.Format.h264, .h265, .vp8, .vp9, .jpeg])
    func mutatedPayloadsNeverTrap(format: FrameAssembler.Format) {
        let corpus: [[UInt8]] = [
            [0x60, 1, 0, 3, 0x42, 1, 7, 0, 3, 0x26, 1, 0x80], [0x62, 1, 0x93] + pattern(50),
            [0x62, 1, 0x53] + pattern(9),
            Self.sps, [0xAA, 5, 0x42, 7, 0x18, 2, 128, 1, 104, 2, 4, 1, 0, 0x82] + pattern(20), [0xD0, 5, 3, 2, 0x82],
            jpegHeader(0, quality: 255) + [0, 0, 0, 128] + pattern(300), jpegHeader(2, quality: 255) + pattern(20),
            jpegHeader(0, type: 65, quality: 50) + [0, 40, 0xFF, 0xFF] + pattern(40), [0x78, 0, 3, 0x65, 1, 2],
        ]
        var assembler = VideoFrameAssembler(format: format, maximumFrameLength: 4096)
        var number = 0
        for payload in Mutations(of: corpus, count: 4000, seed: 8) {
            number += number % 50 == 0 ? 2 : 1
            for frame in frames(&assembler, [payload], timestamp: UInt32(number / 3), from: number) {
                #expect(frame.data.count <= 4096 + 1024)
            }
            payload.withUnsafeBytes { _ = H265.SequenceParameterSet(parsing: $0) }
        }
    }
}
