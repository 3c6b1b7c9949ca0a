import Codecs
import RTP
import Testing

@Suite struct VideoCodecTests {
    /// A picture whose content depends on `step`, with edges and smooth parts.
    static func picture(_ step: Int, width: Int = 160, height: Int = 96) -> I420Frame {
        var frame = I420Frame(width: width, height: height)
        for row in 0..<height {
            for column in 0..<width {
                frame.luma[row * width + column] = UInt8(clamping: 40 + (column + step * 4) % width + row / 4)
            }
        }
        for index in frame.chromaBlue.indices {
            frame.chromaBlue[index] = UInt8(clamping: 100 + index % frame.chromaWidth / 2)
        }
        return frame
    }

    private static func encode(_ count: Int, keyFrames: Set<Int> = []) throws -> [(bytes: [UInt8], isKeyFrame: Bool)] {
        var encoder = try VP8Encoder(.init(width: 160, height: 96, framesPerSecond: 15, bitsPerSecond: 300_000))
        var frames: [(bytes: [UInt8], isKeyFrame: Bool)] = []
        for step in 0..<count {
            frames.append(try encoder.encode(picture(step), asKeyFrame: keyFrames.contains(step)) { (Array($0), $1) })
        }
        return frames
    }

    @Test func decodedVP8ShowsWhatWasEncoded() throws {
        var decoder = try VP8Decoder()
        for (step, frame) in try Self.encode(20).enumerated() {
            let picture = try #require(try decoder.decode(frame.bytes))
            let difference = try #require(picture.meanLumaDifference(to: Self.picture(step)))
            #expect(difference < 6, "frame \(step)")
        }
    }

    @Test func onlyTheFirstFrameAndThoseAskedForAreKeyFrames() throws {
        let frames = try Self.encode(30, keyFrames: [17])
        #expect(frames.indices.filter { frames[$0].isKeyFrame } == [0, 17])
        #expect(frames.indices.filter { frames[$0].bytes[0] & 1 == 0 } == [0, 17])
    }

    @Test func aDecoderThatJoinsLateFailsUntilTheNextKeyFrame() throws {
        var decoder = try VP8Decoder()
        let frames = try Self.encode(8, keyFrames: [5])
        var shown: [Int] = []
        for index in 1..<8 where (try? decoder.decode(frames[index].bytes)) != nil {
            shown.append(index)
        }
        #expect(shown == [5, 6, 7])
    }

    @Test func aKeyFrameOfAHugePictureIsRefusedBeforeMemoryIsAllocated() throws {
        var decoder = try VP8Decoder(maximumPixels: 1920 * 1080)
        let message = reason {
            _ = try decoder.decode([0x10, 0x02, 0x00, 0x9D, 0x01, 0x2A, 0xFF, 0x3F, 0xFF, 0x3F, 0, 0, 0, 0, 0, 0])
        }
        #expect(message.contains("16383×16383"))
    }

    @Test func damagedVP8NeverTraps() throws {
        var random = SplitMix(state: 7)
        let frames = try Self.encode(6, keyFrames: [3])
        var decoder = try VP8Decoder(maximumPixels: 640 * 360)
        for _ in 0..<400 {
            var bytes = frames[Int(random.next() % 6)].bytes
            for _ in 0..<(1 + random.next() % 6) {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            bytes.removeLast(Int(random.next() % UInt64(bytes.count)))
            _ = try? decoder.decode(bytes)
        }
        #expect(try decoder.decode(frames[0].bytes)?.width == 160)
    }

    @Test func anEncoderRefusesImpossibleSettingsAndPicturesOfAnotherSize() throws {
        #expect(throws: CodecError.self) {
            _ = try VP8Encoder(.init(width: 0, height: 96, framesPerSecond: 15, bitsPerSecond: 300_000))
        }
        var encoder = try VP8Encoder(.init(width: 64, height: 64, framesPerSecond: 15, bitsPerSecond: 300_000))
        let message = reason { _ = try encoder.encode(Self.picture(0)) { _, _ in 0 } }
        #expect(message.contains("160×96"))
    }

    /// Two frames of 64×48, High profile: the left half red, the right half blue. Sequence and picture parameter sets,
    /// an IDR picture (from byte 45) and a P picture (the last 12 bytes, from its start code).
    static let h264 = bytes(
        """
        000000016764000aacb208f6022000000300200000030141e244c90000000168ebc3cb22c0000001658884043ffee6c0f996550d577ffd
        693d2bf8cd229bf6249a1e7e9d88c1df7ef20b7abb8a9efa74bc0bf266958100000001419a3b10fffea9d3a0
        """)

    @Test func h264BecomesAPicture() throws {
        let idrStart = try #require(Self.h264.indices.first { Self.h264[$0...].starts(with: [0, 0, 1, 0x65]) })
        let interStart = try #require(Self.h264.indices.first { Self.h264[$0...].starts(with: [0, 0, 0, 1, 0x41]) })
        var decoder = try H264Decoder()
        #expect(try decoder.decode(Array(Self.h264[..<idrStart])) == nil)
        let image = RGBImage(try #require(try decoder.decode(Array(Self.h264[idrStart..<interStart]))))
        #expect(image.width == 64 && image.height == 48)
        let (left, right) = ((24 * 64 + 8) * 3, (24 * 64 + 56) * 3)
        #expect(image.pixels[left] > 220 && image.pixels[left + 2] < 40)
        #expect(image.pixels[right] < 40 && image.pixels[right + 2] > 220)
        #expect(try decoder.decode(Array(Self.h264[interStart...])) != nil)
    }

    @Test func h264WithoutParameterSetsSaysSo() throws {
        let idrStart = try #require(Self.h264.indices.first { Self.h264[$0...].starts(with: [0, 0, 1, 0x65]) })
        var decoder = try H264Decoder()
        #expect(reason { _ = try decoder.decode(Array(Self.h264[idrStart...])) }.contains("no parameter sets"))
    }

    @Test func damagedH264NeverTraps() throws {
        var random = SplitMix(state: 11)
        var decoder = try H264Decoder()
        for _ in 0..<400 {
            var bytes = Self.h264
            for _ in 0..<(1 + random.next() % 4) {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            _ = try? decoder.decode(bytes)
        }
        var small = try H264Decoder(maximumPixels: 100)
        #expect(reason { _ = try small.decode(Self.h264) }.contains("64×48"))
    }
}

@Suite struct H264EncoderTests {
    private func picture(_ shift: Int) -> I420Frame {
        var frame = I420Frame(width: 160, height: 96)
        for index in frame.luma.indices { frame.luma[index] = UInt8(30 + (index % 160 + shift * 3) % 160) }
        return frame
    }

    private func types(_ unit: [UInt8]) -> [UInt8] {
        var types: [UInt8] = []
        unit.withUnsafeBytes { for nal in AnnexBUnits($0) { types.append(nal[0] & 0x1F) } }
        return types
    }

    @Test func `decoded H.264 shows what was encoded`() throws {
        var encoder = try H264Encoder(.init(width: 160, height: 96, framesPerSecond: 10, bitsPerSecond: 800_000))
        var decoder = try H264Decoder()
        for number in 0..<10 {
            let unit = try encoder.encode(picture(number))
            let decoded = try decoder.decode(unit)
            let frame = try #require(decoded)
            #expect(try #require(frame.meanLumaDifference(to: picture(number))) < 12)
        }
    }

    @Test func `the first picture and those asked for are key frames with their parameter sets`() throws {
        var encoder = try H264Encoder(.init(width: 160, height: 96, framesPerSecond: 0.5, bitsPerSecond: 300_000))
        for number in 0..<6 {
            let unit = try encoder.encode(picture(number), asKeyFrame: number == 4)
            #expect(types(unit).contains(7) == (number % 4 == 0), "picture \(number)")
            #expect(types(unit).contains(5) == (number % 4 == 0), "picture \(number)")
        }
    }

    @Test func `impossible settings and pictures of another size are refused`() throws {
        for size in [(8, 8), (161, 96), (160, 9600)] {
            #expect(throws: CodecError.self) {
                _ = try H264Encoder(
                    .init(width: size.0, height: size.1, framesPerSecond: 10, bitsPerSecond: 500_000))
            }
        }
        var encoder = try H264Encoder(.init(width: 160, height: 96, framesPerSecond: 10, bitsPerSecond: 500_000))
        let message = reason { _ = try encoder.encode(I420Frame(width: 96, height: 160)) }
        #expect(message.contains("96×160"))
    }
}
