import Foundation
import HomeTypes

/// Alarms: every watcher gets them, and a watcher that comes later gets those that last.
extension HomeHub {
    /// Takes an alarm. One that is raised already and says the same is not repeated.
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

    /// The alarms that last, in the order in which they were raised.
    var lastingAlarms: [HomeAlarm] {
        self.alarms.sorted { ($0.value.timestamp, $0.key) < ($1.value.timestamp, $1.key) }.map(\.value)
    }
}
