import Foundation
import HomeTypes

/// How long devices have been offline.
extension HomeHub {
    /// How many whole days each offline device has been offline. After a restart, the gateway counts from the last
    /// change of the device in its log.
    public func daysOffline() -> [String: Int] {
        let now = self.now()
        var result: [String: Int] = [:]
        for (id, since) in offlineSince where states[id]?.snapshot.connectivityState == .offline {
            result[id] = max(0, Int(now.timeIntervalSince(since) / 86_400))
        }
        return result
    }

    func recordConnectivity(of device: DeviceSnapshot, at time: Date) {
        switch device.connectivityState {
        case .offline: if offlineSince[device.id] == nil { offlineSince[device.id] = time }
        // After a start, a device is unknown until the gateway has tried to reach it.
        case .unknown: break
        default: offlineSince[device.id] = nil
        }
    }
}
