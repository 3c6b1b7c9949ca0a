import Glibc

/// Finds the tone in a sound, by Goertzel's algorithm.
public enum ToneDetector {
    /// The part of the sound's energy that lies at `frequency`: 1 for that tone only, near 0 for others.
    ///
    /// Two tones can be distinguished when their distance is more than the rate divided by the number of samples.
    public static func share(
        of frequency: Double, in samples: UnsafeBufferPointer<Int16>, sampleRate: Int
    ) -> Double {
        guard samples.count > 0, sampleRate > 0 else { return 0 }
        var energy = 0.0
        for sample in samples {
            energy += Double(sample) * Double(sample)
        }
        guard energy > 0 else { return 0 }
        return power(of: frequency, in: samples, sampleRate: sampleRate) * 2 / (energy * Double(samples.count))
    }

    /// The part of the sound's energy that lies at `frequency`; see
    /// ``share(of:in:sampleRate:)-(_,UnsafeBufferPointer<Int16>,_)``.
    public static func share(of frequency: Double, in samples: [Int16], sampleRate: Int) -> Double {
        samples.withUnsafeBufferPointer { share(of: frequency, in: $0, sampleRate: sampleRate) }
    }

    /// The loudest tone, in hertz, and its share of the energy; nil for silence.
    ///
    /// - Parameter range: where to look, in hertz, below half the sample rate.
    public static func dominantTone(
        in samples: UnsafeBufferPointer<Int16>, sampleRate: Int, range: ClosedRange<Double> = 100...3400
    ) -> (frequency: Double, share: Double)? {
        guard samples.count >= 16, sampleRate > 0 else { return nil }
        // Half the distance between the transform's lines, so that no tone falls between two steps.
        let step = Double(sampleRate) / Double(samples.count) / 2
        let upperBound = min(range.upperBound, Double(sampleRate) / 2 - step)
        guard range.lowerBound < upperBound else { return nil }
        let count = Int((upperBound - range.lowerBound) / step) + 1
        let powers = (0..<count).map { index in
            power(of: range.lowerBound + Double(index) * step, in: samples, sampleRate: sampleRate)
        }
        guard let best = powers.indices.max(by: { powers[$0] < powers[$1] }), powers[best] > 0 else { return nil }
        var frequency = range.lowerBound + Double(best) * step
        if best > 0, best + 1 < count {
            // The top of the parabola through the highest line and its neighbours.
            let (left, middle, right) = (sqrt(powers[best - 1]), sqrt(powers[best]), sqrt(powers[best + 1]))
            let curvature = left - 2 * middle + right
            if curvature < 0 {
                frequency += step * min(max((left - right) / (2 * curvature), -1), 1)
            }
        }
        return (frequency, share(of: frequency, in: samples, sampleRate: sampleRate))
    }

    private static func power(
        of frequency: Double, in samples: UnsafeBufferPointer<Int16>, sampleRate: Int
    ) -> Double {
        let coefficient = 2 * cos(2 * Double.pi * frequency / Double(sampleRate))
        var (previous, beforePrevious) = (0.0, 0.0)
        for sample in samples {
            let current = Double(sample) + coefficient * previous - beforePrevious
            beforePrevious = previous
            previous = current
        }
        return previous * previous + beforePrevious * beforePrevious - coefficient * previous * beforePrevious
    }
}
