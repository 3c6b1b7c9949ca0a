import Codecs
import Glibc

/// A sound to play on a camera: mono samples at 48 kHz.
public struct TalkClip: Sendable {
    /// The longest clip.
    public static let maximumSeconds = 30.0
    /// The largest file, in bytes: half a minute of stereo at 48 kHz and 16 bits, and a little more.
    public static let maximumBytes = 6 << 20

    /// A clip as it is kept.
    enum Sound: Sendable {
        case samples([Int16])
        case notes([Note])
    }

    /// A tone that fades, with its pitch in hertz and its length in seconds.
    struct Note: Sendable {
        let frequency: Double
        let seconds: Double

        /// How many samples it has.
        var sampleCount: Int { Int(seconds * 48_000) }
    }

    let sound: Sound

    /// The samples. Those of notes are made at each call, so who plays a clip asks once.
    public var samples: [Int16] {
        switch sound {
        case .samples(let samples): samples
        case .notes(let notes): Self.samples(of: notes)
        }
    }

    /// Its duration in seconds.
    public var durationSeconds: Double {
        switch sound {
        case .samples(let samples): Double(samples.count) / 48_000
        case .notes(let notes): Double(notes.reduce(0) { $0 + $1.sampleCount }) / 48_000
        }
    }

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
            sound = .samples(try file.monoSamples(rate: 48_000))
        } catch {
            throw .unusableClip(.unreadable(error))
        }
    }

    /// The two notes of a doorbell, a little more than a second and a half.
    public static let chime = TalkClip(notes: [
        Note(frequency: 659.25, seconds: 0.6), Note(frequency: 523.25, seconds: 1.0),
    ])

    private init(notes: [Note]) { sound = .notes(notes) }

    private static func samples(of notes: [Note]) -> [Int16] {
        var samples: [Int16] = []
        samples.reserveCapacity(notes.reduce(0) { $0 + $1.sampleCount })
        var tone = ToneGenerator(frequency: 0)
        for note in notes {
            tone.frequency = note.frequency
            for index in 0..<note.sampleCount {
                let age = Double(index) / 48_000
                // A rise of 5 ms and a fall of 10 ms. Without them a note begins and ends with a click.
                let edges = min(age / 0.005, (note.seconds - age) / 0.01, 1)
                samples.append(tone.next(amplitude: 12_000 * edges * exp(-3 * age)))
            }
        }
        return samples
    }
}
