import HomeTypes
import PushAvStreamTransport

extension DoctorFinding {
    /// Whether a camera delivers media.
    /// - Parameter isPublished: whether a publisher sends its media over WHIP.
    static func camera(_ name: String, _ source: CameraSourceStatus, isPublished: Bool = false) -> DoctorFinding {
        switch source.state {
        case .flowing:
            let codecs = source.tracks.map(\.codec).joined(separator: " and ")
            return DoctorFinding(
                .camera, .good, codecs.isEmpty ? "It delivers media." : "It delivers \(codecs).", device: name)
        case .idle, .stopped:
            return DoctorFinding(
                .camera, .note, source.reason ?? "It is not pulled at the moment.", device: name)
        case .resolving: return connecting(name, source, "looking up its address")
        case .connecting: return connecting(name, source, "reaching its port")
        case .authenticating: return connecting(name, source, "signing in")
        case .describing: return connecting(name, source, "asking what it sends")
        case .settingUp: return connecting(name, source, "setting up its tracks")
        case .stalled:
            return DoctorFinding(
                .camera, .warning, source.reason ?? "A track of it has stopped.", device: name,
                advice: "Check the camera and its network.")
        case .backingOff where isPublished, .givenUp where isPublished:
            return DoctorFinding(
                .camera, .note, source.reason ?? "It waits for a publisher.", device: name,
                advice: "Start the program that publishes it.")
        case .backingOff, .givenUp:
            return DoctorFinding(
                .camera, .failure, source.reason ?? "It cannot be reached.", device: name,
                advice: "gatehouse camera probe says at which step a camera fails.")
        }
    }

    private static func connecting(_ name: String, _ source: CameraSourceStatus, _ step: String) -> DoctorFinding {
        DoctorFinding(
            .camera, .warning, "Connecting: \(source.reason ?? step).", device: name,
            advice: "Ask again in a few seconds.")
    }

    /// Whether something keeps the machine's clock right.
    static func clock(isSynchronized: Bool) -> DoctorFinding {
        if isSynchronized { return DoctorFinding(.clock, .good, "A time server keeps the system clock right.") }
        return DoctorFinding(
            .clock, .warning,
            "The system clock is not synchronized, so recordings, events and signatures may have a wrong time.",
            advice: "Switch on systemd-timesyncd or chrony.")
    }

    /// Whether there is room for what the gateway keeps in a folder.
    static func disk(_ space: FileSystemSpace?, folder: String) -> DoctorFinding {
        guard let space else {
            return DoctorFinding(
                .disk, .failure, "The folder \(folder) cannot be read.",
                advice: "Check that it exists and that the gateway's user may use it.")
        }
        let megabytes = space.free / 1_000_000
        let room = "The disk of \(folder) has \(megabytes) MB free."
        if space.free < 100_000_000 {
            return DoctorFinding(
                .disk, .failure, room, advice: "Free up disk space; the gateway may be unable to save changes.")
        }
        if space.free < 1_000_000_000 {
            return DoctorFinding(.disk, .warning, room, advice: "Free up disk space before the disk is full.")
        }
        return DoctorFinding(.disk, .good, room)
    }
}
