import Glibc

/// Makes a talker louder or softer, and keeps peaks below full scale.
struct SpeechGain: Sendable {
    /// Peaks stay below this part of full scale: a small speaker at its limit distorts.
    private static let ceiling: Float = 0.9 * 32_767
    /// How much of the limiter's reduction is released per sample: half of it in 50 ms at 48 kHz.
    private static let release: Float = 1 - 0.000_289

    private let gain: Float
    private var reduction: Float = 1

    /// - Parameter decibels: -40 to 40; values beyond are clamped.
    init(decibels: Double) {
        gain = Float(pow(10, min(max(decibels, -40), 40) / 20))
    }

    /// Changes `samples` in place.
    mutating func apply(to samples: UnsafeMutableBufferPointer<Int16>) {
        for index in samples.indices {
            let wanted = Float(samples[index]) * gain
            let magnitude = abs(wanted)
            // The gain goes down at once and up slowly: a peak never passes, and the sound does not pump.
            if magnitude * reduction > Self.ceiling {
                reduction = Self.ceiling / magnitude
            } else {
                reduction = 1 - (1 - reduction) * Self.release
            }
            samples[index] = Int16(max(-32_767, min(32_767, (wanted * reduction).rounded())))
        }
    }
}
