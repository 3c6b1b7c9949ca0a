import HomeTypes
import PushAvStreamTransport

extension DoctorFinding {
    /// Whether a camera delivers media, and whether browsers play it.
    /// - Parameters:
    ///   - isPublished: whether a publisher sends its media.
    ///   - isTranscoded: whether the gateway makes pictures of another codec for browsers that need it.
    static func camera(
        _ name: String, _ source: CameraSourceStatus, isPublished: Bool = false, isTranscoded: Bool = true
    ) -> DoctorFinding {
        switch source.state {
        case .flowing: return flowing(name, source.tracks, isTranscoded: isTranscoded)
        case .idle:
            return DoctorFinding(
                .camera, .note, source.reason ?? "It is not pulled at the moment.", device: name,
                advice: source.cause?.advice)
        case .stopped:
            return DoctorFinding(
                .camera, .warning, source.reason.map { "It is stopped: \($0)." } ?? "It is stopped.", device: name,
                advice: "Correct its settings, or remove it. gatehouse camera probe shows what the camera sends.")
        case .resolving: return connecting(name, source, "looking up its address")
        case .connecting: return connecting(name, source, "reaching its port")
        case .authenticating: return connecting(name, source, "signing in")
        case .describing: return connecting(name, source, "asking what it sends")
        case .settingUp: return connecting(name, source, "setting up its tracks")
        case .stalled:
            return DoctorFinding(
                .camera, .warning, source.reason ?? "One of its tracks has stopped.", device: name,
                advice: "Check the camera and its network.")
        case .backingOff where isPublished, .givenUp where isPublished:
            return DoctorFinding(
                .camera, .note, source.reason ?? "It waits for a publisher.", device: name,
                advice: "Start the program that publishes it.")
        case .backingOff, .givenUp:
            return DoctorFinding(
                .camera, .failure, source.reason ?? "It cannot be reached.", device: name,
                advice: source.cause?.advice ?? CameraSourceCause.general)
        }
    }

    /// What every current browser plays over WebRTC.
    private static let pictureCodecs: Set<String> = ["H264", "VP8", "VP9", "AV1"]

    private static func flowing(_ name: String, _ tracks: [CameraTrack], isTranscoded: Bool) -> DoctorFinding {
        let codecs = tracks.map(\.codec).joined(separator: " and ")
        let message = codecs.isEmpty ? "It delivers media" : "It delivers \(codecs)"
        let pictures = tracks.filter { $0.kind == "video" }.map(\.codec)
        let playable = pictures.first { pictureCodecs.contains($0.uppercased()) }
        guard let other = pictures.first(where: { !pictureCodecs.contains($0.uppercased()) }) else {
            return DoctorFinding(.camera, .good, message + ".", device: name)
        }
        if let playable {
            return DoctorFinding(
                .camera, .good, "\(message). Browsers that do not play \(other) get \(playable).", device: name)
        }
        let problem = "\(message). Many browsers do not play \(other)"
        let remedy = "let the camera send H.264, at least as its smaller stream (substream)"
        if isTranscoded {
            return DoctorFinding(
                .camera, .note,
                "\(problem), so the gateway transcodes it to VP8 for them, which costs processor time.", device: name,
                advice: "If that is too much, \(remedy).")
        }
        return DoctorFinding(
            .camera, .warning, "\(problem), and transcodeVideo is never, so they show no picture.", device: name,
            advice: "Set transcodeVideo to auto, or \(remedy).")
    }

    /// What browsers make of a camera's recordings, which have the codec of its main stream; nil where every current
    /// browser plays them.
    static func recordings(of name: String, _ source: CameraSourceStatus) -> DoctorFinding? {
        let recorded = source.tracks.first { $0.kind == "video" }?.codec.uppercased()
        guard recorded == "H265" else { return nil }
        return DoctorFinding(
            .camera, .note,
            "Its recordings are H.265, which some browsers do not play. The page then offers them as downloads.",
            device: name,
            advice: "If that matters, let the camera send its main stream as H.264. Of an onvif:// source, that is the "
                + "largest stream, which is often H.265.")
    }

    private static func connecting(_ name: String, _ source: CameraSourceStatus, _ step: String) -> DoctorFinding {
        DoctorFinding(
            .camera, .warning, "Connecting: \(source.reason ?? step).", device: name,
            advice: "Ask again in a few seconds.")
    }

    /// Whether something keeps the machine's clock right.
    static func clock(isSynchronized: Bool) -> DoctorFinding {
        if isSynchronized { return DoctorFinding(.clock, .good, "A time server keeps the system clock correct.") }
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
