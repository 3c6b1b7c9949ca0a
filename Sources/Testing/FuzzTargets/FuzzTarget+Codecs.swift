import Codecs
import RTP
import SDP

/// What the gateway does with sound and pictures beyond passing them on: it decodes them for viewers that play another
/// codec. The decoding libraries are not instrumented; the code around them is.
extension FuzzTarget {
    static let speech = FuzzTarget(
        "speech", "payloads of each codec of sound, with losses, through its decoder", maximumLength: 1024,
        seeds: {
            speechCodecs.indices.flatMap { index in
                [
                    [[0, 16, 0, 0x30, 0, 0xC8, 0, 0x80, 0x23, 0x80]], [[6, 0, 0xC8, 0, 0x80, 0x23, 0x80], [0xFF, 1]],
                    [[0x78, 1, 2, 3], [0xFB, 0x82, 1, 2]], [[UInt8](repeating: 0x55, count: 80)],
                ].map { payloads in [UInt8(index)] + payloads.flatMap { [0] + [UInt8].piece($0) } }
            }
        }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let codecs = speechCodecs
        guard let decoder = try? SpeechDecoders.make(for: codecs[Int(input.byte()) % codecs.count]) else { return }
        while !input.isEmpty {
            if input.byte() & 7 == 7 { decoder.recordLoss() }
            let payload = input.piece()
            var count = 0
            try? decoder.decode(payload) { count += $0.count }
            // The longest AAC frame at its lowest rate is 13,375 samples at 48 kHz, and the filter adds some.
            try require(count <= 16_384 * (1 + payload.count), "\(count) samples of \(payload.count) bytes")
        }
    }

    private static var speechCodecs: [MediaCodec] {
        func codec(_ name: String, _ rate: Int, _ channels: Int = 1, _ format: FormatParameters = []) -> MediaCodec {
            MediaCodec(name: name, clockRate: rate, channels: channels, formatParameters: format)
        }
        return [
            codec("opus", 48_000, 2), codec("PCMU", 8000), codec("PCMA", 8000, 2), codec("G722", 8000),
            codec("L16", 44_100, 2), codec("PCM", 8000), codec("G726-16", 8000), codec("AAL2-G726-24", 8000),
            codec("G726-32", 8000), codec("G726-40", 8000), codec("mpeg4-generic", 48_000),
            codec("mpeg4-generic", 16_000, 2), codec("MP4A-LATM", 90_000),
        ]
    }

    static let pictures = FuzzTarget(
        "pictures", "frames of each video codec through its decoder, and scaled", maximumLength: 4096,
        seeds: { pictureSeeds }
    ) { bytes throws(FuzzFailure) in
        var input = FuzzInput(bytes)
        let codecs = VideoDecoder.Codec.allCases
        guard let decoder = try? VideoDecoder(codecs[Int(input.byte()) % codecs.count], maximumPixels: 1 << 14) else {
            return
        }
        var failure: FuzzFailure?
        func check(_ frame: I420Frame) {
            let target = frame.size(within: 48, 32)
            for frame in [frame, frame.scaled(toWidth: target.width, height: target.height)] {
                let chroma = frame.chromaWidth * frame.chromaHeight
                if frame.luma.count != frame.width * frame.height || frame.luma.count > 1 << 14
                    || frame.chromaBlue.count != chroma || frame.chromaRed.count != chroma
                {
                    failure = FuzzFailure(
                        "a picture of \(frame.width) × \(frame.height) with \(frame.luma.count) samples")
                }
            }
        }
        while !input.isEmpty {
            try? decoder.decode(input.piece()) { check($0.frame) }
        }
        try? decoder.finish { check($0.frame) }
        if let failure { throw failure }
    }

    /// A JPEG and a VP8 picture, and the key frames of the other codecs.
    private static let pictureSeeds: [[UInt8]] = {
        var picture = I420Frame(width: 34, height: 18)
        for index in picture.luma.indices { picture.luma[index] = UInt8(truncatingIfNeeded: 16 + index * 7) }
        var frames: [(VideoDecoder.Codec, [UInt8])] = []
        if let file = try? JPEGEncoder.encode(picture, quality: 20) { frames.append((.jpeg, file)) }
        if var encoder = try? VP8Encoder(.init(width: 34, height: 18, framesPerSecond: 10, bitsPerSecond: 100_000)),
            let frame = try? encoder.encode(picture, { frame, _ in Array(frame) })
        {
            frames.append((.vp8, frame))
        }
        for (codec, payloads) in zip([.h264, .h265, .vp8, .vp9, .jpeg, .av1] as [VideoDecoder.Codec], videoPayloads) {
            let needsStartCodes = codec == .h264 || codec == .h265
            frames.append((codec, payloads.flatMap { (needsStartCodes ? [0, 0, 0, 1] : []) + $0 }))
        }
        return frames.map { codec, frame in
            [UInt8(VideoDecoder.Codec.allCases.firstIndex(of: codec) ?? 0)] + [UInt8].piece(frame)
                + [UInt8].piece(frame)
        }
    }()
}
