/// Why a camera's station goes away.
public enum StationEnd: Hashable, Sendable {
    /// The camera is no longer in the config.
    case removed
    /// Another station with other settings follows.
    case restarting
    /// The camera's new settings make no station.
    case unusable
}

extension StationEnd {
    /// Why a session ended, as its viewer reads it.
    public var words: String {
        switch self {
        case .removed: "the camera was removed"
        case .restarting: "the camera restarts with new settings; start the view again"
        case .unusable: "the camera cannot be used with its new settings"
        }
    }
}
