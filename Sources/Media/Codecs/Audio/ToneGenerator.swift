import Glibc

/// An endless sine wave whose loudness can change from sample to sample.
public struct ToneGenerator: Sendable {
    /// The pitch in hertz. A change keeps the wave continuous.
    public var frequency: Double
    /// Samples per second.
    public let sampleRate: Int
    private var phase: Double = 0

    /// Makes a generator.
    public init(frequency: Double, sampleRate: Int = 48_000) {
        self.frequency = frequency
        self.sampleRate = sampleRate
    }

    /// The next sample with the peak value `amplitude`, 0 to 32,767.
    public mutating func next(amplitude: Double) -> Int16 {
        let value = sin(2 * Double.pi * phase) * amplitude
        phase += frequency / Double(sampleRate)
        phase -= phase.rounded(.down)
        return Int16(min(max(value.rounded(), -32768), 32767))
    }

    /// The next `count` samples with the peak value `amplitude`.
    public mutating func samples(_ count: Int, amplitude: Double) -> [Int16] {
        (0..<count).map { _ in next(amplitude: amplitude) }
    }
}
