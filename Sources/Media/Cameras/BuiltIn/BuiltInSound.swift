import Codecs
import Glibc

/// The built-in camera's microphone: a beep of a known pitch at the start of each second of the wall clock, and the
/// two notes of a doorbell after a press.
struct BuiltInSound {
    /// Samples in the 20 ms of one packet.
    static let samplesPerPacket = 960
    /// How long the beep of each second lasts, in microseconds.
    static let beepLength: UInt64 = 250_000

    private var beep: ToneGenerator
    private var chime = ToneGenerator(frequency: 0)
    private var chimeSample: Int?

    /// The notes of the doorbell: pitch in hertz, and when it begins and ends in samples.
    private static let notes: [(frequency: Double, begin: Int, end: Int)] = [
        (659.25, 0, 33_600), (523.25, 33_600, 91_200),
    ]

    init(toneFrequency: Double) {
        beep = ToneGenerator(frequency: toneFrequency)
    }

    /// Whether the beep sounds at `wallClock`, in microseconds since 1970.
    static func isBeeping(at wallClock: UInt64) -> Bool {
        wallClock % 1_000_000 < beepLength
    }

    /// Begins the doorbell's notes with the next packet.
    mutating func ring() {
        chimeSample = 0
    }

    /// Writes one packet's samples. The first plays at `wallClock`, in microseconds since 1970.
    mutating func fill(_ samples: inout [Int16], startingAt wallClock: UInt64) {
        for index in samples.indices {
            let time = Double(wallClock % 1_000_000) + Double(index) * 1_000_000 / 48_000
            let intoSecond = time.truncatingRemainder(dividingBy: 1_000_000)
            // Ten milliseconds of rise and fall. Without them a tone begins and ends with a click.
            let rise = min(intoSecond, Double(Self.beepLength) - intoSecond) / 10_000
            let beepSample = beep.next(amplitude: 4000 * min(max(rise, 0), 1))
            samples[index] = Int16(clamping: Int(beepSample) + Int(nextChimeSample()))
        }
    }

    private mutating func nextChimeSample() -> Int16 {
        guard let sample = chimeSample else { return 0 }
        guard let note = Self.notes.first(where: { sample >= $0.begin && sample < $0.end }) else {
            chimeSample = nil
            return 0
        }
        chimeSample = sample + 1
        chime.frequency = note.frequency
        let age = Double(sample - note.begin) / 48_000
        let rise = min(age / 0.005, 1)
        let fall = min(Double(note.end - sample) / 480, 1)
        return chime.next(amplitude: 9000 * rise * fall * exp(-3 * age))
    }
}
