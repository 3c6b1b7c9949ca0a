import Codecs
import Glibc
import Transport

/// The built-in camera's speaker: it measures its sound.
public final class BuiltInSpeaker: CameraSpeaker {
    fileprivate struct State {
        var measurement = SpeakerMeasurement()
        /// The number of samples that had come when the talk began.
        var samplesBefore: UInt64 = 0
        /// The samples at 8 kHz since the last window was full.
        var window: [Int16] = []
        /// The sum of samples at 48 kHz that do not yet make one at 8 kHz.
        var sum = 0
        var summed = 0
    }

    // 50 ms at 8 kHz: short enough for the 20 ms beeps of browsers' fake microphones, long enough for 20 Hz.
    fileprivate static let windowLength = 400
    fileprivate static let decimation = 6
    /// About -50 dB of full scale: below speech, above a codec's rendering of silence.
    fileprivate static let silence = 100.0
    /// A beep of 20 ms in a window of 50 ms reaches more than this; noise and most speech stay below.
    fileprivate static let toneShare = 0.15

    private let state = Locked(State())
    private let clock: @Sendable () -> Instant

    /// Makes a speaker that reads the time of its measurements from `clock`.
    init(clock: @escaping @Sendable () -> Instant) {
        self.clock = clock
    }

    /// The measurement so far.
    public var measurement: SpeakerMeasurement {
        state.withLock { $0.measurement }
    }

    public func begin(_ report: @escaping @Sendable (SpeakerState) -> Void) {
        state.withLock { $0.samplesBefore = $0.measurement.samples }
        report(.open)
    }

    public func play(_ samples: UnsafeBufferPointer<Int16>) {
        guard !samples.isEmpty else { return }
        let now = clock()
        state.withLock { $0.play(samples, at: now) }
    }

    public func end() {
        state.withLock { state in
            state.measurement.isTalking = false
            state.measurement.rootMeanSquare = 0
            state.window.removeAll(keepingCapacity: true)
            (state.sum, state.summed) = (0, 0)
        }
    }

    public var delivery: SpeakerDelivery {
        let (measurement, before) = state.withLock { ($0.measurement, $0.samplesBefore) }
        var delivery = SpeakerDelivery(state: measurement.isTalking ? .open : .closed)
        delivery.codec = "L16/48000"
        delivery.millisecondsReceived = Double(measurement.samples - before) / 48
        delivery.millisecondsSent = delivery.millisecondsReceived
        return delivery
    }

    /// How loud the sound is now, 0 to 1 on a logarithmic scale; nil after half a second of silence.
    func level(at now: Instant) -> Double? {
        let measurement = self.measurement
        guard measurement.isTalking, let heard = measurement.lastHeard, now - heard < .milliseconds(500) else {
            return nil
        }
        // From -50 dB to -6 dB.
        let decibels = 20 * log10(max(measurement.rootMeanSquare, 1e-6))
        return min(max((decibels + 50) / 44, 0.1), 1)
    }
}

extension BuiltInSpeaker.State {
    fileprivate mutating func play(_ samples: UnsafeBufferPointer<Int16>, at now: Instant) {
        if !measurement.isTalking {
            measurement.isTalking = true
            measurement.talks += 1
            measurement.loudest = 0
        }
        measurement.samples += UInt64(samples.count)
        for sample in samples {
            sum += Int(sample)
            summed += 1
            guard summed == BuiltInSpeaker.decimation else { continue }
            window.append(Int16(truncatingIfNeeded: sum / summed))
            (sum, summed) = (0, 0)
            if window.count == BuiltInSpeaker.windowLength {
                measure(at: now)
                window.removeAll(keepingCapacity: true)
            }
        }
    }

    private mutating func measure(at now: Instant) {
        var energy = 0.0
        for sample in window {
            energy += Double(sample) * Double(sample)
        }
        let rootMeanSquare = sqrt(energy / Double(window.count))
        measurement.rootMeanSquare = rootMeanSquare / 32768
        measurement.loudest = max(measurement.loudest, measurement.rootMeanSquare)
        guard rootMeanSquare > BuiltInSpeaker.silence else { return }
        measurement.loudSamples += UInt64(window.count * BuiltInSpeaker.decimation)
        measurement.lastHeard = now
        let tone = window.withUnsafeBufferPointer { ToneDetector.dominantTone(in: $0, sampleRate: 8000) }
        if let tone, tone.share >= BuiltInSpeaker.toneShare {
            measurement.dominantTone = tone.frequency
        }
    }
}
