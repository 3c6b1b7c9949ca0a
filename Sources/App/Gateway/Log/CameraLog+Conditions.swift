import Foundation
import HomeTypes

extension CameraLog.Condition {
    /// What a source's state means to the log.
    init(_ status: CameraSourceStatus) {
        switch status.state {
        case .flowing:
            self = .up(status.tracks.map(\.codec).joined(separator: ", "))
        case .stalled, .backingOff, .givenUp:
            self = .down(reason: Self.plain(status.reason), isGivenUp: status.state == .givenUp)
        case .idle: self = .resting
        // A camera whose media cannot be used is stopped with a reason. One that its owner stopped has none.
        case .stopped: self = status.reason.map { .down(reason: $0, isGivenUp: false) } ?? .moving
        case .resolving, .connecting, .authenticating, .describing, .settingUp: self = .moving
        }
    }

    /// What the state of a camera's events means to the log.
    init(_ status: EventSourceStatus) {
        switch status.state {
        case .subscribed: self = .up("")
        case .backingOff: self = .down(reason: Self.plain(status.reason), isGivenUp: false)
        case .connecting, .stopped: self = .moving
        }
    }

    /// The reason without the parts that change with each attempt: when the next one is, and how many there were.
    private static func plain(_ reason: String?) -> String {
        guard var reason else { return "unknown" }
        for tail in [CameraSourceStatus.nextTry, CameraSourceStatus.givenUp] {
            if let range = reason.range(of: tail) { reason = String(reason[..<range.lowerBound]) }
        }
        return reason
    }
}
