import HomeTypes
import Signalling

/// The commands of the trait `WebRtcLiveView`. Each names the device, and a session of another device is not found.
extension HomeHub {
    /// Starts a live view of the request's device.
    public func startLiveView(_ request: StartLiveViewRequest) async throws(HomeError) -> StartLiveViewResponse {
        try self.requireDevice(request.deviceID)
        try Google.WebRtcLiveViewTrait.StartLiveViewParameters(offerSdp: request.offerSdp).validate()
        do {
            let response = try await self.liveView.startLiveView(request)
            // The watchers get the change without making the viewer wait for its answer.
            Task { await self.refreshSessions() }
            return response
        } catch {
            throw HomeError(error)
        }
    }

    /// Moves a session's expiry.
    /// - Returns: the granted seconds from now.
    public func extendLiveView(
        deviceID: String, mediaSessionId: String, principal: String, extendedDurationSeconds: UInt16?
    ) async throws(HomeError) -> UInt16 {
        try await self.requireSession(mediaSessionId, of: deviceID, principal: principal)
        do {
            let granted = try await self.liveView.extendLiveView(
                mediaSessionId: mediaSessionId, principal: principal,
                extendedDurationSeconds: extendedDurationSeconds)
            await self.refreshSessions()
            return granted
        } catch {
            throw HomeError(error)
        }
    }

    /// Ends a session. It is not an error if the principal's session has ended already.
    public func stopLiveView(
        deviceID: String, mediaSessionId: String, principal: String
    ) async throws(HomeError) {
        if await self.hasEnded(mediaSessionId, of: deviceID, principal: principal) { return }
        try await self.requireSession(mediaSessionId, of: deviceID, principal: principal)
        try await self.endSession(mediaSessionId, principal: principal)
    }

    /// Takes the camera's floor for the session's microphone.
    public func startTalkback(
        deviceID: String, mediaSessionId: String, principal: String, offerSdp: String?
    ) async throws(HomeError) {
        try await self.requireSession(mediaSessionId, of: deviceID, principal: principal)
        do {
            try await self.liveView.startTalkback(
                mediaSessionId: mediaSessionId, principal: principal, offerSdp: offerSdp)
        } catch {
            throw HomeError(error)
        }
        await self.refreshSessions()
    }

    /// Releases the floor. If the principal's session has ended, it has released the floor already.
    public func stopTalkback(
        deviceID: String, mediaSessionId: String, principal: String
    ) async throws(HomeError) {
        if await self.hasEnded(mediaSessionId, of: deviceID, principal: principal) { return }
        try await self.requireSession(mediaSessionId, of: deviceID, principal: principal)
        do {
            try await self.liveView.stopTalkback(mediaSessionId: mediaSessionId, principal: principal)
        } catch {
            throw HomeError(error)
        }
        await self.refreshSessions()
    }

    /// Requests another quality.
    /// - Returns: the quality in use.
    public func changeLiveViewQuality(
        deviceID: String, mediaSessionId: String, principal: String, qualityHint: QualityHint
    ) async throws(HomeError) -> QualityHint {
        try await self.requireSession(mediaSessionId, of: deviceID, principal: principal)
        do {
            return try await self.liveView.changeLiveViewQuality(
                mediaSessionId: mediaSessionId, principal: principal, qualityHint: qualityHint)
        } catch {
            throw HomeError(error)
        }
    }

    /// Adds candidates to a session or restarts its ICE.
    public func trickle(
        _ fragment: String, deviceID: String, mediaSessionId: String, principal: String
    ) async throws(HomeError) -> TrickleResult {
        try await self.requireSession(mediaSessionId, of: deviceID, principal: principal)
        do {
            return try await self.liveView.trickle(fragment, mediaSessionId: mediaSessionId, principal: principal)
        } catch {
            throw HomeError(error)
        }
    }

    /// Whether this was a session of this principal with this device. It may have ended.
    private func hasEnded(_ mediaSessionId: String, of deviceID: String, principal: String) async -> Bool {
        await self.liveView.deviceOfEnded(mediaSessionId, principal: principal) == deviceID
    }

    /// Fails unless the session is alive and belongs to the principal and this device.
    public func requireSession(
        _ mediaSessionId: String, of deviceID: String, principal: String
    ) async throws(HomeError) {
        try self.requireDevice(deviceID)
        let session = try await self.session(mediaSessionId, principal: principal)
        guard session.session.deviceID == deviceID else { throw HomeHub.unknownSession }
    }
}
