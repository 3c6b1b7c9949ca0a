import Codecs
import Testing
import Transport

@testable import Cameras

@Suite struct BuiltInSpeakerTests {
    private final class VirtualClock: Sendable {
        private let time = Locked(Instant.zero)
        var now: Instant { time.withLock { $0 } }
        func advance(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    private let clock = VirtualClock()
    private let speaker: BuiltInSpeaker

    init() {
        let clock = self.clock
        speaker = BuiltInSpeaker { clock.now }
    }

    /// Plays as packets of 20 ms bring it.
    private func play(_ samples: [Int16]) {
        for start in stride(from: 0, to: samples.count, by: 960) {
            clock.advance(.milliseconds(20))
            samples[start..<min(start + 960, samples.count)].withUnsafeBufferPointer { speaker.play($0) }
        }
    }

    @Test func aToneIsMeasured() throws {
        var tone = ToneGenerator(frequency: 660)
        play(tone.samples(48_000, amplitude: 16_384))
        let measurement = speaker.measurement
        #expect(measurement.samples == 48_000 && measurement.loudSamples == 48_000)
        #expect(measurement.talks == 1 && measurement.isTalking)
        #expect(abs(measurement.rootMeanSquare - 0.3535) < 0.01)
        #expect(abs(try #require(measurement.dominantTone) - 660) < 5)
        #expect(measurement.lastHeard == clock.now)
        #expect(try #require(speaker.level(at: clock.now)) > 0.8)
    }

    /// Browsers' fake microphones beep for 20 ms, twice a second, with a square wave of 400 Hz.
    @Test(arguments: [0, 480, 1200, 1919]) func shortBeepsOfASquareWaveAreMeasured(offset: Int) throws {
        var samples = [Int16](repeating: 0, count: 48_000)
        for beep in [offset, 24_000 + offset] {
            for index in 0..<960 {
                samples[beep + index] = index / 60 % 2 == 0 ? 10_000 : -10_000
            }
        }
        play(samples)
        #expect(abs(try #require(speaker.measurement.dominantTone) - 400) < 25)
        #expect(speaker.measurement.loudest > 0.05)
    }

    @Test func silenceIsNotHeard() {
        play(Array(repeating: 3, count: 48_000))
        let measurement = speaker.measurement
        #expect(measurement.samples == 48_000 && measurement.loudSamples == 0)
        #expect(measurement.lastHeard == nil && measurement.dominantTone == nil)
        #expect(speaker.level(at: clock.now) == nil)
    }

    @Test func eachTalkIsCounted() {
        var tone = ToneGenerator(frequency: 660)
        play(tone.samples(9600, amplitude: 9000))
        speaker.end()
        #expect(!speaker.measurement.isTalking && speaker.measurement.rootMeanSquare == 0)
        #expect(speaker.level(at: clock.now) == nil)
        play(tone.samples(9600, amplitude: 100))
        #expect(speaker.measurement.talks == 2 && speaker.measurement.isTalking)
        #expect(speaker.measurement.loudest < 0.01)
    }

    @Test func theDeliveryIsThatOfTheTalkThatBeganLast() {
        for _ in 0..<2 {
            speaker.begin { _ in }
            #expect(speaker.delivery.millisecondsReceived == 0)
            play(Array(repeating: 3, count: 9600))
            #expect(speaker.delivery.millisecondsReceived == 200 && speaker.delivery.millisecondsSent == 200)
            speaker.end()
            #expect(speaker.delivery.millisecondsSent == 200)
        }
        #expect(speaker.measurement.samples == 19_200)
    }

    @Test func theLevelFallsBackWhenNothingMoreIsHeard() {
        var tone = ToneGenerator(frequency: 660)
        play(tone.samples(9600, amplitude: 9000))
        #expect(speaker.level(at: clock.now + .milliseconds(499)) != nil)
        #expect(speaker.level(at: clock.now + .milliseconds(500)) == nil)
    }
}
