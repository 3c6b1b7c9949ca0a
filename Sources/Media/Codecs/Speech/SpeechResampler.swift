/// Converts decoded sound to one channel at 48 kHz. It follows a rate that changes in the stream.
struct SpeechResampler {
    private var converter: SampleRateConverter
    private var mono: [Int16] = []
    private var output: [Int16] = []
    private let codec: String

    init(from sampleRate: Int, codec: String) throws(CodecError) {
        self.codec = codec
        converter = try Self.converter(from: sampleRate, codec: codec)
    }

    /// Converts `count` samples, each of which `mix` makes from all channels, and hands the result to `body`.
    mutating func convert(
        _ count: Int, at sampleRate: Int, _ mix: (Int) -> Int16, _ body: (UnsafeBufferPointer<Int16>) -> Void
    ) throws(CodecError) {
        if sampleRate != converter.inputRate { converter = try Self.converter(from: sampleRate, codec: codec) }
        mono.removeAll(keepingCapacity: true)
        output.removeAll(keepingCapacity: true)
        mono.reserveCapacity(count)
        for index in 0..<count { mono.append(mix(index)) }
        mono.withUnsafeBufferPointer { converter.convert($0, appendingTo: &output) }
        if !output.isEmpty { output.withUnsafeBufferPointer(body) }
    }

    private static func converter(from sampleRate: Int, codec: String) throws(CodecError) -> SampleRateConverter {
        guard (4000...192_000).contains(sampleRate),
            let converter = SampleRateConverter(from: sampleRate, to: 48_000)
        else {
            throw CodecError(
                codec: codec, operation: "decode", reason: "a rate of \(sampleRate) Hz is not between 4 and 192 kHz")
        }
        return converter
    }
}
