/// Programs whose media is a camera. They publish by WebRTC (WHIP, RFC 9725), or by a protocol whose server takes the
/// packets itself.
public protocol PublishingServing: Sendable {
    /// Fails unless the device's media is published rather than pulled.
    func requirePublishing(deviceID: String) async throws(SignallingError)

    /// Answers a publisher's offer (RFC 9725). The publisher becomes the camera, in place of the one before.
    /// - Throws: `publishersChangeTooOften` if another one has been replaced less than a second ago, or ten have begun
    ///   within ten seconds, whatever their protocols; `unknownDevice`, `takesNoPublisher`, `stopped`, and what is wrong
    ///   with the offer.
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

    /// Makes a stream the camera, in place of the publisher before, whatever its protocol. The caller's one thread then
    /// hands the packets to the publication.
    /// - Parameters:
    ///   - requestKeyFrame: asks the publisher for a key frame of a track. Called on any thread; must not wait.
    ///   - ended: called once if anything but ``endPublishing(_:because:)`` ends the publisher. Called on any thread,
    ///     perhaps before this returns; must not wait.
    /// - Throws: `unknownDevice`, `takesNoPublisher` for a camera that is pulled, `stopped`, and `publishersChangeTooOften` if
    ///   another publisher has been replaced less than a second ago, or ten have begun within ten seconds, whatever their
    ///   protocols.
    func startPublishing(
        _ stream: PublishedStream, requestKeyFrame: @escaping @Sendable (Int) -> Void,
        ended: @escaping @Sendable (PublisherEnd) -> Void
    ) async throws(SignallingError) -> StartedPublication

    /// Ends a stream on behalf of its own server. Has no effect if it has ended already.
    func endPublishing(_ sessionID: String, because end: PublisherEnd) async

    /// Ends the publishers of a principal whose cameras it may no longer publish to.
    func endPublishers(of principal: String, unless mayPublish: @escaping @Sendable (_ deviceID: String) -> Bool) async
}
