import Codecs
import Glibc

/// A sound that is to be played to a camera: samples of 48 kHz mono.
public struct TalkClip: Sendable {
    /// The longest clip.
    public static let maximumSeconds = 30.0
    /// The largest file, in bytes: half a minute of stereo at 48 kHz and 16 bits, and a little more.
    public static let maximumBytes = 6 << 20

    /// The samples.
    public let samples: [Int16]

    /// How long it sounds, in seconds.
    public var durationSeconds: Double { Double(samples.count) / 48_000 }

    /// Reads a WAV file.
    /// - Throws: `invalidClip` that says what is wrong with it and what to do.
    public init(wav bytes: [UInt8]) throws(SignallingError) {
        guard bytes.count <= Self.maximumBytes else {
            throw .invalidClip("the clip has \(bytes.count) bytes; at most \(Self.maximumBytes) are played")
        }
        let file: WAVFile
        do {
            file = try WAVFile(parsing: bytes)
        } catch {
            throw .invalidClip("\(error)")
        }
        let seconds = Double(file.sampleCount) / Double(file.sampleRate)
        guard file.sampleCount > 0 else { throw .invalidClip("the clip holds no samples") }
        guard seconds <= Self.maximumSeconds else {
            throw .invalidClip(
                "the clip sounds for \(seconds.rounded()) s; at most \(Int(Self.maximumSeconds)) s are played")
        }
        do {
            samples = try file.monoSamples(rate: 48_000)
        } catch {
            throw .invalidClip("\(error)")
        }
    }

    /// A doorbell's two notes, a little more than a second and a half.
    public static let chime = TalkClip(notes: [(659.25, 0.6), (523.25, 1.0)])

    /// Notes that die away, each with its pitch in hertz and its length in seconds.
    private init(notes: [(frequency: Double, seconds: Double)]) {
        var samples: [Int16] = []
        var tone = ToneGenerator(frequency: 0)
        for note in notes {
            tone.frequency = note.frequency
            for index in 0..<Int(note.seconds * 48_000) {
                let age = Double(index) / 48_000
                // A rise of 5 ms and a fall of 10, without which a note begins and ends with a click.
                let edges = min(age / 0.005, (note.seconds - age) / 0.01, 1)
                samples.append(tone.next(amplitude: 12_000 * edges * exp(-3 * age)))
            }
        }
        self.samples = samples
    }
}
