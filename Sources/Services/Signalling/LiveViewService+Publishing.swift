extension LiveViewService: PublishingServing {
    public func requirePublishing(deviceID: String) async throws(SignallingError) {
        try await publishing.require(deviceID: deviceID)
    }

    public func startPublishing(
        _ request: StartLiveViewRequest
    ) async throws(SignallingError) -> StartLiveViewResponse {
        try await publishing.start(
            request, isWatched: ledger.leases.values.contains { $0.deviceID == request.deviceID })
    }

    public func requirePublisher(
        sessionID: String, deviceID: String, principal: String
    ) async throws(SignallingError) {
        try await publishing.require(sessionID: sessionID, deviceID: deviceID, principal: principal)
    }

    public func tricklePublisher(
        _ fragment: String, sessionID: String, deviceID: String, principal: String
    ) async throws(SignallingError) -> TrickleResult {
        try await publishing.trickle(fragment, sessionID: sessionID, deviceID: deviceID, principal: principal)
    }

    public func stopPublishing(
        sessionID: String, deviceID: String, principal: String
    ) async throws(SignallingError) {
        try await publishing.stop(sessionID: sessionID, deviceID: deviceID, principal: principal)
    }
}
