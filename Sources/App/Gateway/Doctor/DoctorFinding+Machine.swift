import HomeTypes
import PushAvStreamTransport

extension DoctorFinding {
    /// Whether a camera delivers media.
    static func camera(_ name: String, _ source: CameraSourceStatus) -> DoctorFinding {
        switch source.state {
        case .flowing:
            let codecs = source.tracks.map(\.codec).joined(separator: " and ")
            return DoctorFinding(
                .camera, .good, codecs.isEmpty ? "It delivers media." : "It delivers \(codecs).", device: name)
        case .idle, .stopped:
            return DoctorFinding(
                .camera, .note, source.reason ?? "It is not pulled at the moment.", device: name)
        case .resolving, .connecting, .authenticating, .describing, .settingUp:
            return DoctorFinding(
                .camera, .warning, "It is being connected: \(source.reason ?? source.state.rawValue).", device: name,
                advice: "Ask again in a few seconds.")
        case .stalled:
            return DoctorFinding(
                .camera, .warning, source.reason ?? "A track of it has stopped.", device: name,
                advice: "Check the camera and its network.")
        case .backingOff, .givenUp:
            return DoctorFinding(
                .camera, .failure, source.reason ?? "It cannot be reached.", device: name,
                advice: "gatehouse camera probe says at which step a camera fails.")
        }
    }

    /// Whether something keeps the machine's clock right.
    static func clock(isSynchronized: Bool) -> DoctorFinding {
        if isSynchronized { return DoctorFinding(.clock, .good, "The clock is kept right by a time server.") }
        return DoctorFinding(
            .clock, .warning,
            "No time server keeps the clock right, so recordings, events and signatures may have a wrong time.",
            advice: "Switch on systemd-timesyncd or chrony.")
    }

    /// Whether there is room for the state of the gateway.
    static func disk(_ space: FileSystemSpace?, folder: String) -> DoctorFinding {
        guard let space else {
            return DoctorFinding(
                .disk, .failure, "The state folder \(folder) cannot be read.",
                advice: "Check that it exists and that the gateway's user may use it.")
        }
        let megabytes = space.free / 1_000_000
        let room = "The disk of the state folder has \(megabytes) MB free."
        if space.free < 100_000_000 {
            return DoctorFinding(.disk, .failure, room, advice: "Delete something: changes can no longer be stored.")
        }
        if space.free < 1_000_000_000 {
            return DoctorFinding(.disk, .warning, room, advice: "Delete something before the disk is full.")
        }
        return DoctorFinding(.disk, .good, room)
    }
}
