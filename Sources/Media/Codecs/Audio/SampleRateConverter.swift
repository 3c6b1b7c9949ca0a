import Glibc

/// Changes the sample rate of one channel of sound, piece by piece, with a windowed-sinc filter.
///
/// The filter looks ahead, so the output is ``latency`` input samples late. ``finish()`` returns the rest.
public struct SampleRateConverter: Sendable {
    /// The input rate, in hertz.
    public let inputRate: Int
    /// The output rate, in hertz.
    public let outputRate: Int
    private let step: Int
    private let phases: Int
    private let tapsPerPhase: Int
    private let filter: [Float]
    private var history: [Float]
    /// The distance of the next output sample from the first sample of `history`, in steps of 1/`phases` of an input
    /// sample.
    private var position = 0

    /// Rates that the converter accepts, in hertz.
    public static let rates = 1000...768_000

    /// How many input samples the filter looks ahead.
    public var latency: Int { tapsPerPhase / 2 }

    /// Makes a converter; nil for a rate outside ``rates``.
    public init?(from inputRate: Int, to outputRate: Int) {
        guard Self.rates.contains(inputRate), Self.rates.contains(outputRate) else { return nil }
        self.inputRate = inputRate
        self.outputRate = outputRate
        let divisor = Self.greatestCommonDivisor(inputRate, outputRate)
        // Rates with no useful common divisor would need a filter of hundreds of thousands of phases; the nearest of
        // 4,096 phases has an error below the noise of 16-bit samples.
        let exactPhases = outputRate / divisor
        phases = min(exactPhases, 4096)
        step = phases == exactPhases ? inputRate / divisor : (inputRate * 4096 + outputRate / 2) / outputRate
        // This is below the lower of the two half rates, in cycles per input sample.
        let cutoff = 0.46 * min(1, Double(outputRate) / Double(inputRate))
        let widening = max(1, Double(inputRate) / Double(outputRate))
        tapsPerPhase = min(2 * Int((12 * widening).rounded(.up)), 2048)
        filter = Self.makeFilter(phases: phases, tapsPerPhase: tapsPerPhase, cutoff: cutoff)
        history = Array(repeating: 0, count: tapsPerPhase / 2 - 1)
    }

    /// Converts more samples and appends the available result to `output`.
    public mutating func convert(_ samples: UnsafeBufferPointer<Int16>, appendingTo output: inout [Int16]) {
        if inputRate == outputRate {
            output.append(contentsOf: samples)
            return
        }
        history.reserveCapacity(history.count + samples.count)
        for sample in samples {
            history.append(Float(sample))
        }
        var start = position / phases
        history.withUnsafeBufferPointer { history in
            filter.withUnsafeBufferPointer { filter in
                while start + tapsPerPhase <= history.count {
                    let coefficients = (position % phases) * tapsPerPhase
                    var sum: Float = 0
                    for tap in 0..<tapsPerPhase {
                        sum += history[start + tap] * filter[coefficients + tap]
                    }
                    output.append(Int16(min(max(sum.rounded(), -32768), 32767)))
                    position += step
                    start = position / phases
                }
            }
        }
        let used = min(start, history.count)
        history.removeFirst(used)
        position -= used * phases
    }

    /// Appends the end of the sound, which the filter still holds back, and resets the converter.
    public mutating func finish(appendingTo output: inout [Int16]) {
        let silence = [Int16](repeating: 0, count: latency)
        silence.withUnsafeBufferPointer { convert($0, appendingTo: &output) }
        history = Array(repeating: 0, count: tapsPerPhase / 2 - 1)
        position = 0
    }

    private static func makeFilter(phases: Int, tapsPerPhase: Int, cutoff: Double) -> [Float] {
        var filter = [Float](repeating: 0, count: phases * tapsPerPhase)
        let half = Double(tapsPerPhase) / 2
        for phase in 0..<phases {
            var coefficients = [Double](repeating: 0, count: tapsPerPhase)
            for tap in 0..<tapsPerPhase {
                let distance = Double(tap) - (half - 1) - Double(phase) / Double(phases)
                let argument = 2 * Double.pi * cutoff * distance
                let sinc = distance == 0 ? 1 : sin(argument) / argument
                // Blackman's window: side lobes 58 dB down and more.
                let place = min(max((distance / half + 1) / 2, 0), 1)
                let window = 0.42 - 0.5 * cos(2 * Double.pi * place) + 0.08 * cos(4 * Double.pi * place)
                coefficients[tap] = sinc * window
            }
            // Each phase passes a constant unchanged, so the filter adds no tone at the phases' rate.
            let sum = coefficients.reduce(0, +)
            for tap in 0..<tapsPerPhase {
                filter[phase * tapsPerPhase + tap] = Float(coefficients[tap] / sum)
            }
        }
        return filter
    }

    private static func greatestCommonDivisor(_ first: Int, _ second: Int) -> Int {
        var (first, second) = (first, second)
        while second != 0 {
            (first, second) = (second, first % second)
        }
        return first
    }
}

/// Converts sound at 48 kHz to another rate and cuts it into frames of one length.
struct SpeechFramer {
    /// Samples in a frame.
    let frameLength: Int
    private var converter: SampleRateConverter
    private var waiting: [Int16] = []

    init(to sampleRate: Int, frameLength: Int, codec: String) throws(CodecError) {
        guard (4000...96_000).contains(sampleRate), frameLength > 0,
            let converter = SampleRateConverter(from: 48_000, to: sampleRate)
        else {
            throw CodecError(
                codec: codec, operation: "make an encoder",
                reason: "a rate of \(sampleRate) Hz is not between 4 and 96 kHz")
        }
        self.converter = converter
        self.frameLength = frameLength
    }

    /// Adds samples and hands each full frame to `body`.
    mutating func append(
        _ samples: UnsafeBufferPointer<Int16>, _ body: (UnsafeBufferPointer<Int16>) throws(CodecError) -> Void
    ) throws(CodecError) {
        converter.convert(samples, appendingTo: &waiting)
        var offset = 0
        // Samples that were handed out are treated as used even where encoding fails.
        defer { waiting.removeFirst(min(offset, waiting.count)) }
        while waiting.count - offset >= frameLength {
            let start = offset
            offset += frameLength
            try waiting.withUnsafeBufferPointer { waiting throws(CodecError) in
                try body(UnsafeBufferPointer(rebasing: waiting[start..<start + frameLength]))
            }
        }
    }
}

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
