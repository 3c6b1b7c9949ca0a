/// What an output of a camera is for. Sound from the camera is an output like its pictures; sound to the camera is not one.
///
/// Source: Matter 1.5, `StreamUsageEnum`, which names live view, recording and analysis.
public enum OutputUsage: String, Sendable, CaseIterable, Codable {
    /// Somebody watches now: WebRTC, WHEP, RTSP, and footage of a recording that still runs.
    case liveView
    /// A single picture of now.
    case snapshot
    /// Footage is kept, including what came before its trigger.
    case recording
    /// A program looks at the pictures.
    case analysis
    /// Footage of a recording that has ended is shown.
    case playback

    /// Whether it needs what the camera sends now.
    public var needsMedia: Bool { self != .playback }
}

/// Why an output is refused, or ended.
public enum OutputRefusal: String, Sendable, CaseIterable, Codable {
    /// No recording connection of the camera is active: it is switched off.
    case off
    /// `softLivestreamPrivacyModeEnabled`.
    case livestreamPrivacy
    /// `softRecordingPrivacyModeEnabled`.
    case recordingPrivacy
    /// `hardPrivacyModeOn`.
    case hardPrivacy
    /// `streamUsagePriorities` without `liveView`.
    case usage

    /// Whether it is one of the privacy switches. Only these discard footage that waits, and only what was recorded after
    /// they were set.
    public var isPrivacy: Bool { self != .off && self != .usage }

    /// What is the case, as the end of a sentence about the camera.
    public var words: String {
        switch self {
        case .off: "is switched off"
        case .livestreamPrivacy: "shows no live view: its privacy mode for live views is on"
        case .recordingPrivacy: "records and analyses nothing: its privacy mode for recordings is on"
        case .hardPrivacy: "shows and records nothing: its privacy switch is on"
        case .usage: "shows no live view: its stream usage priorities do not contain liveView"
        }
    }

    /// Why a session ended, as its viewer reads it.
    public var endReason: String {
        switch self {
        case .off: "the camera was switched off"
        case .livestreamPrivacy: "privacy: the camera's live views were switched off"
        case .recordingPrivacy: "privacy: the camera's recordings were switched off"
        case .hardPrivacy: "privacy: the camera's privacy switch was turned on"
        case .usage: "liveView was removed from the camera's stream usage priorities"
        }
    }
}

/// Which outputs of a camera are allowed. Pure.
///
/// Source: Matter 1.5, the privacy attributes and the stream usage priorities of Camera AV Stream Management, and the
/// transport status of Push AV Stream Transport: the camera is on while any of its recording connections is active.
/// Deviation: a live view whose usage is not among the priorities is refused like one of a camera that is off, and not with
/// `DynamicConstraintError`, because every path out of the gateway refuses it, with or without Matter's statuses.
public struct OutputPolicy: Sendable, Hashable, Codable {
    /// Whether any recording connection is active.
    public var isOn: Bool
    /// Refuses recording and analysis.
    public var softRecordingPrivacy: Bool
    /// Refuses live views and snapshots.
    public var softLivestreamPrivacy: Bool
    /// Refuses what both soft switches refuse.
    public var hardPrivacy: Bool
    /// Whether the camera's stream usage priorities contain live views.
    public var permitsLiveViews: Bool
    /// Whether no sound of the camera leaves.
    public var mutesSound: Bool
    /// Whether no sound of the camera is recorded, whatever live views get.
    public var mutesRecordings: Bool

    /// Allows everything unless a parameter says otherwise.
    public init(
        isOn: Bool = true, softRecordingPrivacy: Bool = false, softLivestreamPrivacy: Bool = false,
        hardPrivacy: Bool = false, permitsLiveViews: Bool = true, mutesSound: Bool = false,
        mutesRecordings: Bool = false
    ) {
        self.isOn = isOn
        self.softRecordingPrivacy = softRecordingPrivacy
        self.softLivestreamPrivacy = softLivestreamPrivacy
        self.hardPrivacy = hardPrivacy
        self.permitsLiveViews = permitsLiveViews
        self.mutesSound = mutesSound
        self.mutesRecordings = mutesRecordings
    }

    /// Why a usage is refused; nil if it is allowed. If there are several reasons, it is the one that has to go first: a
    /// camera cannot be switched on while a privacy mode is on.
    public func refusal(of usage: OutputUsage) -> OutputRefusal? {
        switch usage {
        case .liveView, .snapshot:
            if hardPrivacy { return .hardPrivacy }
            if softLivestreamPrivacy { return .livestreamPrivacy }
        case .recording, .analysis:
            if hardPrivacy { return .hardPrivacy }
            if softRecordingPrivacy { return .recordingPrivacy }
        case .playback:
            break
        }
        guard isOn else { return .off }
        return usage == .liveView && !permitsLiveViews ? .usage : nil
    }

    /// Whether sound may be recorded.
    public var recordsSound: Bool { !mutesSound && !mutesRecordings }

    /// What is allowed.
    public var allowed: Set<OutputUsage> { Set(OutputUsage.allCases.filter { refusal(of: $0) == nil }) }

    /// Whether anything is allowed that needs what the camera sends.
    public var needsMedia: Bool { allowed.contains(where: \.needsMedia) }
}
