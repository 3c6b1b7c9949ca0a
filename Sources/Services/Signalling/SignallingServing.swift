import Stations

/// All that clients ask of live views and of the cameras' media.
public typealias SignallingServing = ClipServing & LiveViewServing & PublishingServing & SnapshotServing & TalkServing

/// The talk of a viewer to a camera.
public protocol TalkServing: Sendable {
    /// Takes the camera's floor for this session's microphone, and opens the way to the camera's speaker. Returns when
    /// what is said reaches the camera. Whoever asks again while it opens is told what becomes of that opening.
    ///
    /// `offerSdp` is of use to devices whose talkback is of the type `renegotiation`. All of the gateway's are
    /// `directly`: the sound takes the way that the live view has negotiated, and the offer is not looked at.
    func startTalkback(mediaSessionId: String, principal: String, offerSdp: String?) async throws(SignallingError)

    /// Gives the floor back. Idempotent, also after the session has ended.
    func stopTalkback(mediaSessionId: String, principal: String) async throws(SignallingError)
}

/// Sounds that are played to a camera.
public protocol ClipServing: Sendable {
    /// Plays a clip through a camera's speaker, which takes the floor as a talker of its own. Returns when the camera's
    /// speaker is open; the clip then plays by itself.
    func playClip(
        _ clip: TalkClip, deviceID: String, principal: String
    ) async throws(SignallingError) -> TalkClipSnapshot

    /// Ends a clip: whoever started it may, and the owner may end any. Ending one that has ended is no error.
    /// - Throws: `permissionDenied` for another principal's clip, `unknownClip` for one that never was or that ended
    ///   long ago.
    func stopClip(_ id: String, deviceID: String, principal: String) async throws(SignallingError)

    /// Who has a device's speaker, and what is delivered to it.
    func speaker(of deviceID: String) async throws(SignallingError) -> SpeakerSnapshot
}

/// Programs whose media is a camera (RFC 9725).
public protocol PublishingServing: Sendable {
    /// Fails unless the device's media is published, and not pulled.
    func requirePublishing(deviceID: String) async throws(SignallingError)

    /// Answers a publisher's offer (RFC 9725) and lets it be the camera, in the place of the publisher before.
    func startPublishing(_ request: StartLiveViewRequest) async throws(SignallingError) -> StartLiveViewResponse

    /// Fails unless the publisher is there, the principal's, and of this device.
    func requirePublisher(sessionID: String, deviceID: String, principal: String) async throws(SignallingError)

    /// Adds candidates to a publisher's session, or restarts its ICE (RFC 9725, section 4.4).
    func tricklePublisher(
        _ fragment: String, sessionID: String, deviceID: String, principal: String
    ) async throws(SignallingError) -> TrickleResult

    /// Ends a publisher. Ending one of the principal's that has ended already is no error.
    func stopPublishing(sessionID: String, deviceID: String, principal: String) async throws(SignallingError)
}

/// Pictures of cameras.
public protocol SnapshotServing: Sendable {
    /// The newest picture of a device as a JPEG image: for every codec, and without waiting for a key frame where the
    /// camera is being pulled.
    /// - Parameter maximumWidth: the most pixels across; nil for the picture as it is.
    /// Of damaged video it is the last picture that could be decoded, while that is recent.
    /// - Throws: `unknownDevice`, `cameraUnavailable`, or `deadlineExceeded` when no picture came.
    func snapshot(of deviceID: String, maximumWidth: Int?) async throws(SignallingError) -> CameraSnapshot
}

/// A service without cameras that can be published to.
extension PublishingServing {
    public func requirePublishing(deviceID: String) async throws(SignallingError) {
        throw .failedPrecondition("you cannot publish to \(deviceID)")
    }

    public func startPublishing(
        _ request: StartLiveViewRequest
    ) async throws(SignallingError) -> StartLiveViewResponse {
        throw .failedPrecondition("you cannot publish to \(request.deviceID)")
    }

    public func requirePublisher(
        sessionID: String, deviceID: String, principal: String
    ) async throws(SignallingError) { throw .unknownSession }

    public func tricklePublisher(
        _ fragment: String, sessionID: String, deviceID: String, principal: String
    ) async throws(SignallingError) -> TrickleResult { throw .unknownSession }

    public func stopPublishing(
        sessionID: String, deviceID: String, principal: String
    ) async throws(SignallingError) { throw .unknownSession }
}

/// Services without clips, as those of tests.
extension ClipServing {
    public func playClip(
        _ clip: TalkClip, deviceID: String, principal: String
    ) async throws(SignallingError) -> TalkClipSnapshot {
        throw .failedPrecondition("\(deviceID) has no speaker")
    }

    public func stopClip(_ id: String, deviceID: String, principal: String) async throws(SignallingError) {}

    public func speaker(of deviceID: String) async throws(SignallingError) -> SpeakerSnapshot { SpeakerSnapshot() }
}
