import Codecs
import RTP
import Testing
import Transport

@Suite(.enabled(if: FFmpegSamples.isInstalled, "ffmpeg makes the streams: tools/install-dependencies --tests"))
struct VideoDecoderTests {
    static let pictures = (0..<12).map { VideoCodecTests.picture($0, width: 192, height: 112) }

    private static func decodeAll(
        _ frames: [[UInt8]], _ codec: VideoDecoder.Codec
    ) throws -> [VideoDecoder.Picture] {
        let decoder = try VideoDecoder(codec)
        var pictures: [VideoDecoder.Picture] = []
        for (index, frame) in frames.enumerated() {
            try frame.withUnsafeBytes { bytes in
                try decoder.decode(bytes, timestamp: UInt32(index) * 6000) { pictures.append($0) }
            }
        }
        try decoder.finish { pictures.append($0) }
        return pictures
    }

    @Test(arguments: [
        (VideoDecoder.Codec.h264, ["-tune", "zerolatency"]), (.h264, ["-bf", "2"]),
        (.h264, ["-pix_fmt", "yuvj420p", "-tune", "zerolatency"]),
        (.h265, ["-tune", "zerolatency"]), (.h265, ["-pix_fmt", "yuv420p10le", "-tune", "zerolatency"]),
        (.h265, ["-pix_fmt", "yuv444p", "-tune", "zerolatency"]),
        (.jpeg, ["-q:v", "2"]), (.jpeg, ["-q:v", "2", "-pix_fmt", "yuvj422p"]),
        (.jpeg, ["-q:v", "2", "-pix_fmt", "yuvj444p"]),
        (.vp9, ["-b:v", "1M"]), (.av1, ["-b:v", "1M"]), (.vp8, ["-b:v", "1M"]),
    ]) func everyCodecShowsWhatWasEncoded(codec: VideoDecoder.Codec, options: [String]) throws {
        let shown = try Self.decodeAll(try FFmpegSamples.video(Self.pictures, codec, options), codec)
        #expect(shown.count == Self.pictures.count)
        for (index, picture) in shown.enumerated() where index < Self.pictures.count {
            let difference = try #require(picture.frame.meanLumaDifference(to: Self.pictures[index]))
            #expect(difference < 5, "picture \(index) of \(codec.rawValue) \(options) is off by \(difference)")
            let chroma = zip(picture.frame.chromaBlue, Self.pictures[index].chromaBlue)
                .reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            #expect(Double(chroma) / Double(picture.frame.chromaBlue.count) < 5)
            #expect(!picture.isDamaged)
        }
    }

    @Test func picturesWhoseSizeIsNotAMultipleOfABlockComeOut() throws {
        let pictures = (0..<3).map { VideoCodecTests.picture($0, width: 162, height: 90) }
        for codec in [VideoDecoder.Codec.h264, .h265, .jpeg] {
            let shown = try Self.decodeAll(try FFmpegSamples.video(pictures, codec), codec)
            #expect(shown.map(\.frame.width) == [162, 162, 162] && shown.map(\.frame.height) == [90, 90, 90])
        }
    }

    @Test func bFramesComeOutInDisplayOrderWithTheirTimestamps() throws {
        let frames = try FFmpegSamples.video(Self.pictures, .h264, ["-bf", "2", "-g", "12"])
        let shown = try Self.decodeAll(frames, .h264)
        // The timestamps went in in the order of decoding, so they come out in another one: of showing.
        #expect(shown.map(\.timestamp) != shown.map(\.timestamp).sorted())
        #expect(Set(shown.map(\.timestamp)).count == Self.pictures.count)
    }

    @Test func aPictureThatIsTooLargeIsRefused() throws {
        for codec in [VideoDecoder.Codec.h264, .h265, .jpeg, .vp9] {
            let frame = try #require(try FFmpegSamples.video([Self.pictures[0]], codec).first)
            let decoder = try VideoDecoder(codec, maximumPixels: 100 * 100)
            #expect(throws: CodecError.self, "\(codec)") {
                guard try decoder.decode(frame) == nil else { return }
                var picture: I420Frame?
                try decoder.finish { picture = $0.frame }
                if picture == nil { throw CodecError(codec: "", operation: "", reason: "nothing came out") }
            }
        }
    }

    @Test(arguments: [VideoDecoder.Codec.h264, .h265, .jpeg, .vp9, .av1])
    func damagedFramesNeverTrap(codec: VideoDecoder.Codec) throws {
        var random = SplitMix(state: 17)
        let frames = try FFmpegSamples.video(Array(Self.pictures.prefix(6)), codec)
        let decoder = try VideoDecoder(codec, maximumPixels: 640 * 360)
        for _ in 0..<600 {
            var bytes = frames[Int(random.next() % UInt64(frames.count))]
            for _ in 0..<(1 + random.next() % 6) {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            bytes.removeLast(Int(random.next() % UInt64(bytes.count)))
            _ = try? decoder.decode(bytes)
        }
        try? decoder.finish { _ in }
        // The decoder is of use again from a key frame on.
        var isShown = false
        for frame in frames where try decoder.decode(frame) != nil { isShown = true }
        try decoder.finish { _ in isShown = true }
        #expect(isShown)
    }

    @Test func jpegSurvivesEncodingAndDecoding() throws {
        for (width, height) in [(192, 112), (33, 17), (1, 1)] {
            let picture = VideoCodecTests.picture(3, width: width, height: height)
            let file = try JPEGEncoder.encode(picture, quality: 90)
            #expect(file.starts(with: [0xFF, 0xD8, 0xFF]) && file.suffix(2) == [0xFF, 0xD9])
            let shown = try #require(try VideoDecoder(.jpeg).decode(file))
            let difference = try #require(shown.meanLumaDifference(to: picture))
            #expect(difference < 3, "\(width)×\(height) is off by \(difference)")
        }
        let picture = VideoCodecTests.picture(3)
        #expect(try JPEGEncoder.encode(picture, quality: 20).count < JPEGEncoder.encode(picture, quality: 95).count)
    }

    @Test func scalingKeepsThePicture() throws {
        let picture = VideoCodecTests.picture(0, width: 1920, height: 1080)
        #expect(picture.size(within: 1280, 720) == (1280, 720))
        #expect(VideoCodecTests.picture(0, width: 1080, height: 1920).size(within: 1280, 720) == (404, 720))
        #expect(VideoCodecTests.picture(0, width: 641, height: 361).size(within: 1280, 720) == (640, 360))
        for (width, height) in [(1280, 720), (640, 360), (320, 180), (2000, 1100)] {
            let scaled = picture.scaled(toWidth: width, height: height)
            #expect(scaled.width == width && scaled.luma.count == width * height)
            #expect(scaled.chromaRed.count == scaled.chromaWidth * scaled.chromaHeight)
            let back = scaled.scaled(toWidth: 1920, height: 1080)
            #expect(try #require(back.meanLumaDifference(to: picture)) < 2.5, "\(width)×\(height)")
        }
    }

    /// A file is taken apart as RFC 2435 says, once with its tables and once with the quality that stands for them.
    @Test(arguments: [UInt8(255), 80]) func aJPEGFileSurvivesPacketization(quality: UInt8) throws {
        let picture = VideoCodecTests.picture(3, width: 192, height: 112)
        let file = try JPEGEncoder.encode(picture, quality: 80)
        var tables: [UInt8] = []
        var offset = 2
        while file[offset + 1] != 0xDA {
            let length = Int(file[offset + 2]) << 8 | Int(file[offset + 3])
            if file[offset + 1] == 0xDB { tables += file[offset + 5..<offset + 2 + length] }
            offset += 2 + length
        }
        offset += 2 + (Int(file[offset + 2]) << 8 | Int(file[offset + 3]))
        #expect(tables.count == 128)
        let data = Array(file[offset...])
        var assembler = VideoFrameAssembler(format: .jpeg)
        var frames: [EncodedFrame] = []
        for (index, start) in stride(from: 0, to: data.count, by: 500).enumerated() {
            let end = min(start + 500, data.count)
            var payload: [UInt8] = [
                0, UInt8(start >> 16), UInt8(start >> 8 & 255), UInt8(start & 255), 1, quality, 24, 14,
            ]
            if start == 0, quality == 255 { payload += [0, 0, 0, 128] + tables }
            payload += data[start..<end]
            let packet = PacketBatch.Packet(
                offset: 0, length: 0, timestamp: 0, sequenceNumber: UInt16(index), payloadType: 26,
                flags: end == data.count ? .marker : [])
            payload.withUnsafeBytes { assembler.append(packet, payload: $0, arrival: .zero) { frames.append($0) } }
        }
        let made = try #require(frames.first)
        let shown = try #require(try VideoDecoder(.jpeg).decode(made.data))
        #expect(try #require(shown.meanLumaDifference(to: picture)) < 4)
    }
}
