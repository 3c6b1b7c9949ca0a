import HomeTypes
import Signalling

/// Publishing to a camera by WHIP (RFC 9725).
extension HomeHub {
    /// Fails unless the device's media is published rather than pulled.
    public func requirePublishing(_ deviceID: String) async throws(HomeError) {
        try self.requireDevice(deviceID)
        do { try await self.liveView.requirePublishing(deviceID: deviceID) } catch { throw HomeError(error) }
    }

    /// Starts a publisher as the device's camera.
    public func startPublishing(_ request: StartLiveViewRequest) async throws(HomeError) -> StartLiveViewResponse {
        try self.requireDevice(request.deviceID)
        do { return try await self.liveView.startPublishing(request) } catch { throw HomeError(error) }
    }

    /// Fails unless the publisher exists and belongs to the principal and this device.
    public func requirePublisher(_ session: String, of deviceID: String, principal: String) async throws(HomeError) {
        do {
            try await self.liveView.requirePublisher(sessionID: session, deviceID: deviceID, principal: principal)
        } catch { throw HomeError(error) }
    }

    /// Adds candidates to a publisher's session or restarts its ICE.
    public func tricklePublisher(
        _ fragment: String, _ session: String, of deviceID: String, principal: String
    ) async throws(HomeError) -> TrickleResult {
        do {
            return try await self.liveView.tricklePublisher(
                fragment, sessionID: session, deviceID: deviceID, principal: principal)
        } catch { throw HomeError(error) }
    }

    /// Ends a publisher.
    public func stopPublishing(_ session: String, of deviceID: String, principal: String) async throws(HomeError) {
        do {
            try await self.liveView.stopPublishing(sessionID: session, deviceID: deviceID, principal: principal)
        } catch { throw HomeError(error) }
    }
}
