/// The way of a protocol's server to the publishers: with the rights of whoever publishes.
public struct PublishingGate: Sendable {
    private let service: any PublishingServing
    private let mayPublish: @Sendable (_ principal: String, _ deviceID: String) -> Bool

    /// Leads to a service.
    /// - Parameter mayPublish: whether a principal may publish to a device now. Called on any thread; must not wait.
    public init(
        _ service: any PublishingServing,
        mayPublish: @escaping @Sendable (_ principal: String, _ deviceID: String) -> Bool
    ) {
        self.service = service
        self.mayPublish = mayPublish
    }

    /// Fails unless the principal may publish to the device.
    /// - Throws: `mayNotPublish`.
    public func requireRight(of principal: String, to deviceID: String) throws(SignallingError) {
        guard mayPublish(principal, deviceID) else { throw .mayNotPublish(device: deviceID) }
    }

    /// Makes a stream the camera, if its principal may. The right is checked again once the publisher can be ended: what
    /// ends the things of a principal does not know of it before.
    /// - Parameters: as of ``PublishingServing/startPublishing(_:requestKeyFrame:ended:)``.
    /// - Throws: what that throws, and `mayNotPublish`.
    public func start(
        _ stream: PublishedStream, requestKeyFrame: @escaping @Sendable (Int) -> Void,
        ended: @escaping @Sendable (PublisherEnd) -> Void
    ) async throws(SignallingError) -> StartedPublication {
        try requireRight(of: stream.principal, to: stream.deviceID)
        let started = try await service.startPublishing(stream, requestKeyFrame: requestKeyFrame, ended: ended)
        do throws(SignallingError) {
            try requireRight(of: stream.principal, to: stream.deviceID)
        } catch {
            await service.endPublishing(started.sessionID, because: .accessEnded)
            throw error
        }
        return started
    }

    /// Ends a stream on behalf of its own server. Has no effect if it has ended already.
    public func end(_ sessionID: String, because end: PublisherEnd) async {
        await service.endPublishing(sessionID, because: end)
    }
}
