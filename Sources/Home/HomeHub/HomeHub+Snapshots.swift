import HomeTypes
import Signalling
import Stations

extension HomeHub {
    /// The newest picture of a device.
    /// - Parameter maximumWidth: the maximum width in pixels; nil for the picture's own size.
    public func snapshot(of deviceID: String, maximumWidth: Int?) async throws(HomeError) -> CameraSnapshot {
        try self.requireDevice(deviceID)
        do {
            return try await self.liveView.snapshot(of: deviceID, maximumWidth: maximumWidth)
        } catch {
            throw HomeError(error)
        }
    }
}
