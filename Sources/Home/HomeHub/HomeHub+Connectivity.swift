import Foundation
import HomeTypes

/// How long devices have been offline.
extension HomeHub {
    /// For how many whole days the devices that are offline now have been so. A gateway that was started meanwhile counts
    /// from the last change that its log has of the device.
    public func daysOffline() -> [String: Int] {
        let now = self.now()
        var result: [String: Int] = [:]
        for (id, since) in offlineSince where states[id]?.snapshot.connectivityState == .offline {
            result[id] = max(0, Int(now.timeIntervalSince(since) / 86_400))
        }
        return result
    }

    func noteConnectivity(of device: DeviceSnapshot, at time: Date) {
        switch device.connectivityState {
        case .offline: if offlineSince[device.id] == nil { offlineSince[device.id] = time }
        // After a start a device is unknown until it was looked for.
        case .unknown: break
        default: offlineSince[device.id] = nil
        }
    }
}
