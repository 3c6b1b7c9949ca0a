/// Talks from viewers to cameras.
public protocol TalkServing: Sendable {
    /// Takes the camera's floor for this session's microphone, and opens the path to the camera's speaker. Returns when
    /// what is said reaches the camera. A second call while the speaker opens has the same outcome as the first.
    ///
    /// `offerSdp` is for devices whose talkback is of the type `renegotiation`. All of the gateway's are `directly`:
    /// the sound uses the path that the live view has negotiated, and the offer is not read.
    func startTalkback(_ session: SessionReference, offerSdp: String?) async throws(SignallingError)

    /// Releases the floor. Idempotent, also after the session has ended.
    func stopTalkback(_ session: SessionReference) async throws(SignallingError)
}

/// Sounds that are played on cameras' speakers.
public protocol ClipServing: Sendable {
    /// Plays a clip on a camera's speaker. The clip takes the floor as a talker of its own. Returns when the speaker is
    /// open; the clip then plays by itself.
    func playClip(
        _ clip: TalkClip, deviceID: String, principal: String
    ) async throws(SignallingError) -> TalkClipSnapshot

    /// Ends a clip: the principal that started it may, and the owner may end any. Ending one that has ended is not an
    /// error.
    /// - Throws: `permissionDenied` for another principal's clip, `unknownClip` for one that never was or that ended
    ///   long ago.
    func stopClip(_ id: String, deviceID: String, principal: String) async throws(SignallingError)

    /// Waits until the clip that plays on a device has ended, at most `patience`. If none plays, it does not wait.
    func waitForClip(of deviceID: String, atMost patience: Duration) async

    /// The holder of a device's speaker, and what is delivered to it.
    func speaker(of deviceID: String) async throws(SignallingError) -> SpeakerSnapshot
}
