import Testing
import Transport

@testable import RTP

@Suite struct AV1Tests {
    /// A sequence header and the beginning of a key frame, for a picture of 64 × 64.
    private static let sequenceHeader: [UInt8] = [0x08, 0x00, 0x00, 0x00, 0x02, 0xAF, 0xFF, 0x9B, 0x5F, 0x30, 0x08]
    private static let keyFrame: [UInt8] = [0x30, 0x10, 0x00, 0x82, 0x00, 0x00] + (0..<300).map { UInt8($0 & 0xFF) }
    private static let interFrame: [UInt8] = [0x30, 0x30, 0x03, 0xC3] + (0..<90).map { UInt8($0 & 0x7F) }

    private func elements(_ payload: [UInt8]) -> (elements: [[UInt8]], isWhole: Bool) {
        var result: [[UInt8]] = []
        let isWhole = payload.withUnsafeBytes {
            AV1.forEachElement(of: $0) { element, _, _ in result.append(Array(element)) }
        }
        return (result, isWhole)
    }

    private func isKeyFrameStart(_ payload: [UInt8]) -> Bool {
        payload.withUnsafeBytes { AV1.isKeyFrameStart(payload: $0) }
    }

    private func split(_ payload: [UInt8], limit: Int) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var ends: [Bool] = []
        payload.withUnsafeBytes {
            AV1.split($0, limit: limit) { piece, isLast in
                pieces.append(Array(piece))
                ends.append(isLast)
            }
        }
        #expect(ends.last == true && ends.dropLast().allSatisfy { !$0 })
        return pieces
    }

    private func frames(
        _ payloads: [[UInt8]], timestamp: UInt32 = 0, first: Int = 0, _ assembler: inout VideoFrameAssembler
    ) -> [EncodedFrame] {
        var frames: [EncodedFrame] = []
        for (index, payload) in payloads.enumerated() {
            let packet = PacketBatch.Packet(
                offset: 0, length: 0, timestamp: timestamp, sequenceNumber: UInt16(truncatingIfNeeded: first + index),
                payloadType: 96, flags: index == payloads.count - 1 ? [.marker] : [])
            payload.withUnsafeBytes { bytes in
                assembler.append(packet, payload: bytes, arrival: .zero) { frames.append($0) }
            }
        }
        return frames
    }

    @Test func elementsAreReadWithAndWithoutTheirCount() {
        let (a, b): ([UInt8], [UInt8]) = ([0x08, 1, 2], [0x30, 0x10, 9])
        #expect(elements([0x28, 3] + a + b) == ([a, b], true))
        #expect(elements([0x08, 3] + a + [3] + b) == ([a, b], true))
        #expect(elements([0x10] + b) == ([b], true))
        // A length beyond the end, one that never ends, fewer elements than counted, none at all.
        for broken in [[0x28, 9] + a, [0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], [0x20, 3] + a, [0x10]] as [[UInt8]] {
            #expect(!elements(broken).isWhole)
        }
        // A packet that begins a sequence cannot continue a unit.
        #expect([0x98, 1].withUnsafeBytes { AV1AggregationHeader(parsing: $0) } == nil)
    }

    @Test func aKeyFrameBeginsASequenceAndBringsItsHeader() {
        let (header, key, inter) = (Self.sequenceHeader, Self.keyFrame, Self.interFrame)
        let length = UInt8(header.count)
        #expect(isKeyFrameStart([0x28, length] + header + key))
        // The N bit is missing; the frame says what it is.
        #expect(isKeyFrameStart([0x20, length] + header + key))
        #expect(!isKeyFrameStart([0x20, length] + header + inter))
        // Only the sequence header; its frame is in the next packet.
        #expect(isKeyFrameStart([0x18] + header))
        #expect(!isKeyFrameStart([0x10] + header))
        #expect(!isKeyFrameStart([0x10] + inter) && !isKeyFrameStart([0x18] + key) && !isKeyFrameStart([0x90] + header))
    }

    @Test(arguments: [8, 20, 64, 100, 200])
    func aLongPayloadIsSplitAndStaysTheSameFrame(limit: Int) throws {
        let whole = [0x28, UInt8(Self.sequenceHeader.count)] + Self.sequenceHeader + Self.keyFrame
        let pieces = split(whole, limit: limit)
        #expect(pieces.count > 1 && pieces.allSatisfy { $0.count <= limit })
        #expect(pieces[0][0] & 0x88 == 0x08 && pieces.dropFirst().allSatisfy { $0[0] & 0x08 == 0 })
        #expect(pieces.last.map { $0[0] & 0x40 } == 0)
        var (one, many) = (VideoFrameAssembler(format: .av1), VideoFrameAssembler(format: .av1))
        let frame = try #require(frames([whole], &one).first)
        if limit > 20 {
            let cut = try #require(frames(pieces, &many).first)
            #expect(cut.data == frame.data && cut.isKeyFrame && frame.isKeyFrame)
        }
        #expect(frame.data.withUnsafeBytes { AV1.isKeyFrame($0) })
        // Fragments at both ends stay fragments.
        let middle = split([0xD0] + Self.keyFrame, limit: 100)
        #expect(middle.allSatisfy { $0[0] & 0xC0 == 0xC0 })
    }

    @Test func unitsGetTheirSizesAndDelimitersAreDropped() throws {
        var assembler = VideoFrameAssembler(format: .av1)
        let withSize: [UInt8] = [0x2A, 2, 7, 7]
        let payload: [UInt8] =
            [0x08, 1, 0x10, UInt8(Self.sequenceHeader.count)] + Self.sequenceHeader + [4] + withSize
            + [3, 0x34, 0x00, 0x10]
        let frame = try #require(frames([payload], &assembler).first)
        #expect(
            frame.data
                == [0x0A, UInt8(Self.sequenceHeader.count - 1)] + Self.sequenceHeader.dropFirst() + withSize
                + [0x36, 0x00, 1, 0x10])
    }

    @Test func aFrameWithAHoleIsNotHandedOut() {
        let pieces = split(
            [0x28, UInt8(Self.sequenceHeader.count)] + Self.sequenceHeader + Self.keyFrame, limit: 80)
        for missing in pieces.indices {
            var assembler = VideoFrameAssembler(format: .av1)
            var result: [EncodedFrame] = []
            for (index, piece) in pieces.enumerated() where index != missing {
                let packet = PacketBatch.Packet(
                    offset: 0, length: 0, timestamp: 5, sequenceNumber: UInt16(index), payloadType: 96,
                    flags: index == pieces.count - 1 ? [.marker] : [])
                piece.withUnsafeBytes { assembler.append(packet, payload: $0, arrival: .zero) { result.append($0) } }
            }
            // What follows refers to it.
            result += frames([[0x10] + Self.interFrame], timestamp: 9, first: pieces.count, &assembler)
            #expect(result.isEmpty, "without piece \(missing)")
        }
    }

    @Test func aUnitWhoseRestIsEmptyIsNotHandedOut() {
        var assembler = VideoFrameAssembler(format: .av1)
        let start: [UInt8] = [0x28, UInt8(Self.sequenceHeader.count)] + Self.sequenceHeader + Self.keyFrame
        #expect(frames([start], &assembler).count == 1)
        // The first half of a unit, and then an element without a byte in place of its second half.
        let half: [UInt8] = [0x50] + Self.interFrame.prefix(40)
        let empty: [UInt8] = [0xA0, 0] + Self.interFrame
        #expect(frames([half, empty], timestamp: 3_000, first: 1, &assembler).isEmpty)
    }

    @Test func theSequenceHeaderSaysHowLargePicturesAre() throws {
        let parsed = Self.sequenceHeader.dropFirst().withUnsafeBytes { AV1.SequenceHeader(parsing: $0) }
        let header = try #require(parsed)
        #expect((header.width, header.height) == (64, 64))
        for length in 0..<6 {
            let cut = Self.sequenceHeader.dropFirst().prefix(length)
            #expect(cut.withUnsafeBytes { AV1.SequenceHeader(parsing: $0) } == nil)
        }
    }

    @Test func mutatedSequenceHeadersNeverTrap() {
        var random = RandomSource.seeded(7)
        for _ in 0..<20_000 {
            var bytes = [0x0A, UInt8(Self.sequenceHeader.count - 1)] + Self.sequenceHeader.dropFirst()
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            bytes.removeLast(Int.random(in: 0...6, using: &random))
            bytes.withUnsafeBytes { bytes in
                guard let found = AV1.SequenceHeader.find(inTemporalUnit: bytes) else { return }
                #expect(found.unit.count <= bytes.count)
                #expect((1...65_536).contains(found.header.width))
            }
        }
    }

    @Test func mutatedPayloadsNeverTrap() {
        let corpus: [[UInt8]] = [
            [0x28, UInt8(Self.sequenceHeader.count)] + Self.sequenceHeader + Self.keyFrame, [0x10] + Self.interFrame,
            [0x50] + Self.keyFrame, [0xD0] + Self.keyFrame, [0x90] + Self.keyFrame,
            [0x08, 1, 0x10, 3, 0x0A, 1, 0, 4, 0x2A, 2, 7, 7, 0x80, 0x80, 0x01],
        ]
        var assembler = VideoFrameAssembler(format: .av1, maximumFrameLength: 4096)
        var number = 0
        for payload in Mutations(of: corpus, count: 6000, seed: 11) {
            number += number % 50 == 0 ? 2 : 1
            for frame in frames([payload], timestamp: UInt32(number / 3), first: number, &assembler) {
                #expect(frame.data.count <= 4096 + 1024)
                _ = frame.data.withUnsafeBytes { AV1.isKeyFrame($0) }
            }
            _ = isKeyFrameStart(payload)
            payload.withUnsafeBytes { bytes in
                _ = AV1.isKeyFrame(bytes)
                AV1.split(bytes, limit: 60) { piece, _ in #expect(piece.count <= 60) }
            }
        }
    }
}
