/// Programs whose media is a camera (RFC 9725).
public protocol PublishingServing: Sendable {
    /// Fails unless the device's media is published rather than pulled.
    func requirePublishing(deviceID: String) async throws(SignallingError)

    /// Answers a publisher's offer (RFC 9725). The publisher becomes the camera, in place of the one before.
    func startPublishing(_ request: StartLiveViewRequest) async throws(SignallingError) -> StartLiveViewResponse

    /// Fails unless the publisher exists and belongs to the principal and the device.
    func requirePublisher(_ session: SessionReference) async throws(SignallingError)

    /// Adds candidates to a publisher's session, or restarts its ICE (RFC 9725, section 4.4).
    /// - Parameter reachedAddresses: see ``StartLiveViewRequest/reachedAddresses``; a restart offers them.
    func tricklePublisher(
        _ fragment: String, _ session: SessionReference, reachedAddresses: [String]
    ) async throws(SignallingError) -> TrickleResult

    /// Ends a publisher. Ending one of the principal's that has ended already is not an error.
    func stopPublishing(_ session: SessionReference) async throws(SignallingError)
}
