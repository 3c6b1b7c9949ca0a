import Glibc
import Transport

/// Detects speech by comparing the energy of the sound with that of the room, like the simplest detectors in the
/// literature: a threshold above a noise floor that falls quickly and rises slowly.
struct VoiceActivity: Sendable {
    /// How much louder than the room speech is: 10 dB, as a ratio of energies.
    private static let ratio = 10.0
    /// Below about -46 dB of full scale nothing is treated as speech, however quiet the room.
    private static let least = 165.0 * 165.0
    /// Above about -14 dB everything is treated as speech; otherwise nothing would in a room that is always loud.
    private static let certain = 6_500.0 * 6_500.0
    /// How fast the floor rises while the sound is louder: it doubles in about three seconds at 20 ms per packet.
    private static let rise = 1.005

    /// How long somebody is still treated as speaking after they were last heard.
    let hold: Duration
    private var floor = 0.0
    private var lastVoice: Instant?

    /// Nobody has spoken.
    init(hold: Duration) {
        self.hold = hold
    }

    /// Adds sound, and returns whether somebody speaks.
    mutating func hear(_ samples: UnsafeBufferPointer<Int16>, at now: Instant) -> Bool {
        guard !samples.isEmpty else { return isActive(at: now) }
        var sum = 0.0
        for sample in samples { sum += Double(sample) * Double(sample) }
        let energy = sum / Double(samples.count)
        if floor == 0 || energy < floor {
            floor = max(1, energy)
        } else {
            floor = min(energy, floor * Self.rise)
        }
        if energy > Self.certain || energy > max(Self.least, floor * Self.ratio) { lastVoice = now }
        return isActive(at: now)
    }

    /// Whether somebody speaks, or has just spoken.
    func isActive(at now: Instant) -> Bool {
        guard let lastVoice else { return false }
        return now - lastVoice < hold
    }
}
