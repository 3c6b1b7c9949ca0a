import Foundation
import HomeTypes

/// Alarms: every watcher gets them, and a later watcher gets those that are still raised.
extension HomeHub {
    /// Handles an alarm. One that is already raised with the same reason is not repeated.
    public func take(_ alarm: HomeAlarm) {
        let subject = HomeChange.subject(of: alarm)
        switch alarm.state {
        case .raised:
            if let known = alarms[subject], known.reason == alarm.reason, known.segments == alarm.segments {
                return
            }
            alarms[subject] = alarm
        case .cleared:
            guard alarms.removeValue(forKey: subject) != nil else { return }
        case .occurred: break
        }
        publish(.alarm(alarm))
    }

    /// The alarms that are still raised, in the order in which they were raised.
    var lastingAlarms: [HomeAlarm] {
        alarms.sorted { ($0.value.timestamp, $0.key) < ($1.value.timestamp, $1.key) }.map(\.value)
    }
}
