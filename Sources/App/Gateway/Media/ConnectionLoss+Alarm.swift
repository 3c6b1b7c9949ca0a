import Foundation
import HomeHub
import HomeTypes
import PushAvStreamTransport

extension HomeHub {
    /// Raises an alarm for each camera whose recording connections could not be read. Only another start ends it.
    func report(_ losses: [ConnectionLoss], at now: Date = Date()) {
        for loss in losses {
            take(HomeAlarm(.recordingConnectionsLost, .raised, of: loss.device, reason: loss.reason, at: now))
        }
    }
}
