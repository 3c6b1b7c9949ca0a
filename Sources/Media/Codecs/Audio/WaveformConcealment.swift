/// Fills gaps in sound whose codec conceals none itself, as ITU-T G.711, appendix I, does: it repeats the last period of the
/// voice, and fades it out within 60 ms. The first samples after a gap are blended with the continued repetition.
///
/// Unlike the appendix it delays no sound, so the join before a gap is not smoothed.
public struct WaveformConcealment: Sendable {
    /// How long the repetition keeps its strength, and how long until it is silent.
    private static let fade = (begins: 0.010, ends: 0.060)
    /// The periods of voices: 66 to 400 Hz.
    private static let periods = (shortest: 0.0025, longest: 0.015)
    /// How much of the sound is compared to find the period.
    private static let compared = 0.020
    /// How long a join is blended.
    private static let blend = 0.004

    private let samplesPerSecond: Double
    /// The newest sound, as much as the search needs.
    private var history: [Int16] = []
    private let historyLength: Int
    /// One period of the voice before the gap; empty outside of one.
    private var period: [Int16] = []
    /// How many samples of the gap have been filled.
    private var filled = 0

    /// No sound is known yet.
    public init(samplesPerSecond: Int) {
        self.samplesPerSecond = Double(samplesPerSecond)
        historyLength = Int((Self.compared + 2 * Self.periods.longest) * self.samplesPerSecond)
        history.reserveCapacity(2 * historyLength)
    }

    /// Fills `samples` with a guess of what was lost.
    public mutating func conceal(_ samples: UnsafeMutableBufferPointer<Int16>) {
        if filled == 0 { period = findPeriod() }
        for index in samples.indices { samples[index] = next() }
        remember(UnsafeBufferPointer(samples))
    }

    /// Takes sound that has arrived. After a gap its beginning is blended with the guess.
    public mutating func receive(_ samples: UnsafeMutableBufferPointer<Int16>) {
        if filled > 0 {
            let count = min(samples.count, Int(Self.blend * samplesPerSecond))
            for index in 0..<count {
                let share = Double(index + 1) / Double(count + 1)
                let value = Double(next()) * (1 - share) + Double(samples[index]) * share
                samples[index] = Int16(value.rounded())
            }
            filled = 0
            period = []
        }
        remember(UnsafeBufferPointer(samples))
    }

    private mutating func next() -> Int16 {
        defer { filled += 1 }
        guard !period.isEmpty else { return 0 }
        let seconds = Double(filled) / samplesPerSecond
        let gain = min(1, max(0, (Self.fade.ends - seconds) / (Self.fade.ends - Self.fade.begins)))
        return Int16((Double(period[filled % period.count]) * gain).rounded())
    }

    private mutating func remember(_ samples: UnsafeBufferPointer<Int16>) {
        history.append(contentsOf: samples.suffix(historyLength))
        if history.count > historyLength { history.removeFirst(history.count - historyLength) }
    }

    /// The newest period of the sound, so that it can be repeated: its end leads into its beginning.
    private func findPeriod() -> [Int16] {
        let shortest = Int(Self.periods.shortest * samplesPerSecond)
        let longest = Int(Self.periods.longest * samplesPerSecond)
        let compared = Int(Self.compared * samplesPerSecond)
        guard history.count >= compared + longest else { return [] }
        let end = history.count
        var best = (lag: longest, likeness: -Double.infinity)
        for lag in shortest...longest {
            var product = 0.0
            var energy = 1.0
            for index in end - compared..<end {
                let before = Double(history[index - lag])
                product += Double(history[index]) * before
                energy += before * before
            }
            let likeness = product / energy.squareRoot()
            if likeness > best.likeness { best = (lag, likeness) }
        }
        let lag = best.lag
        var period = Array(history[(end - lag)...])
        let blended = min(lag / 4, history.count - 2 * lag)
        for index in 0..<max(0, blended) {
            // What came before the period leads into it.
            let share = Double(index + 1) / Double(blended + 1)
            let place = lag - blended + index
            let before = Double(history[end - 2 * lag + place])
            period[place] = Int16((Double(period[place]) * (1 - share) + before * share).rounded())
        }
        return period
    }
}
