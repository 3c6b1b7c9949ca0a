import Codecs
import Glibc

/// A sound to play on a camera: mono samples at 48 kHz.
public struct TalkClip: Sendable {
    /// The longest clip.
    public static let maximumSeconds = 30.0
    /// The largest file, in bytes: half a minute of stereo at 48 kHz and 16 bits, and a little more.
    public static let maximumBytes = 6 << 20

    /// The samples.
    public let samples: [Int16]

    /// Its duration in seconds.
    public var durationSeconds: Double { Double(samples.count) / 48_000 }

    /// Reads a WAV file.
    /// - Throws: `unusableClip`, which says what is wrong with the file.
    public init(wav bytes: [UInt8]) throws(SignallingError) {
        guard bytes.count <= Self.maximumBytes else {
            throw .unusableClip(.tooLarge(bytes: bytes.count))
        }
        let file: WAVFile
        do throws(WAVError) {
            file = try WAVFile(parsing: bytes)
        } catch {
            throw .unusableClip(.unreadable(error))
        }
        let seconds = Double(file.sampleCount) / Double(file.sampleRate)
        guard file.sampleCount > 0 else { throw .unusableClip(.silent) }
        guard seconds <= Self.maximumSeconds else { throw .unusableClip(.tooLong(seconds: seconds)) }
        do throws(WAVError) {
            samples = try file.monoSamples(rate: 48_000)
        } catch {
            throw .unusableClip(.unreadable(error))
        }
    }

    /// The two notes of a doorbell, a little more than a second and a half.
    public static let chime = TalkClip(notes: [(659.25, 0.6), (523.25, 1.0)])

    /// Notes that fade, each with its pitch in hertz and its length in seconds.
    private init(notes: [(frequency: Double, seconds: Double)]) {
        var samples: [Int16] = []
        var tone = ToneGenerator(frequency: 0)
        for note in notes {
            tone.frequency = note.frequency
            for index in 0..<Int(note.seconds * 48_000) {
                let age = Double(index) / 48_000
                // A rise of 5 ms and a fall of 10 ms. Without them a note begins and ends with a click.
                let edges = min(age / 0.005, (note.seconds - age) / 0.01, 1)
                samples.append(tone.next(amplitude: 12_000 * edges * exp(-3 * age)))
            }
        }
        self.samples = samples
    }
}
