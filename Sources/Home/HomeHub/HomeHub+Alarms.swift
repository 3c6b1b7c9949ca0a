import Foundation
import HomeTypes

/// Alarms: every watcher gets them, and a later watcher gets those that are still raised.
extension HomeHub {
    /// Handles an alarm. One that is already raised with the same reason is not repeated.
    public func take(_ alarm: HomeAlarm) {
        let subject = HomeChange.subject(of: alarm)
        switch alarm.state {
        case .raised:
            if let known = self.alarms[subject], known.reason == alarm.reason, known.segments == alarm.segments {
                return
            }
            self.alarms[subject] = alarm
        case .cleared:
            guard self.alarms.removeValue(forKey: subject) != nil else { return }
        case .occurred: break
        }
        self.publish(.alarm(alarm))
    }

    /// The alarms that are still raised, in the order in which they were raised.
    var lastingAlarms: [HomeAlarm] {
        self.alarms.sorted { ($0.value.timestamp, $0.key) < ($1.value.timestamp, $1.key) }.map(\.value)
    }
}
