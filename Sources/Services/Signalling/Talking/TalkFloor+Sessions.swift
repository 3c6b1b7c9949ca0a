import Cameras
import Codecs
import MediaRelay
import Stations
import Transport

/// The talks of viewers' microphones.
extension TalkFloor: TalkServing {
    func startTalkback(_ reference: SessionReference, offerSdp: String?) async throws(SignallingError) {
        let session = try registry.session(reference)
        guard let speaker = session.station.source.speaker else {
            throw .noSpeaker(device: session.deviceID)
        }
        guard !session.talkbackCodecs.isEmpty else { throw .noMicrophone }
        if let known = sessionTalks[session.id], !known.talk.hasEnded { return try await known.opening.value.get() }
        let decoder: TalkbackDecoder
        do throws(CodecError) {
            decoder = try TalkbackDecoder(
                speaker: speaker, codecs: session.talkbackCodecs, voiceHold: registry.configuration.voiceHold,
                voiceChanged: voiceHandler(session.id))
        } catch {
            throw .noTalkbackDecoder(error)
        }
        let talk = try take(
            session.deviceID, talker: .session(session.id), principal: session.principal, speaker: speaker,
            decoder: decoder)
        let (relay, id) = (relay, session.id)
        let opening = Task { () -> Result<Void, SignallingError> in
            do throws(SignallingError) {
                try await self.open(talk) {
                    guard let thread = TalkThread(decoder: decoder) else { return false }
                    relay.setTalkbackSink(id, thread)
                    return true
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        sessionTalks[id] = SessionTalk(talk: talk, opening: opening)
        registry.changes.add(id)
        try await opening.value.get()
    }

    func stopTalkback(_ reference: SessionReference) async throws(SignallingError) {
        // The end of a session has released its floor.
        guard let session = try registry.sessionOrEnded(reference) else { return }
        release(.session(session.id), because: .stopped)
    }

    /// A session has ended, and its talk with it.
    func forget(_ sessionID: String, because end: SessionEnd) {
        let talkEnd = TalkEnd.sessionEnded(end)
        // A talk that has ended before may still be sending its last words.
        if talkEnd.isSilent { sessionTalks[sessionID]?.talk.speaker.silence() }
        release(.session(sessionID), because: talkEnd)
        sessionTalks[sessionID] = nil
    }

    /// The talk of a session, or its last one; nil if there has been none.
    func talkback(of sessionID: String) -> TalkbackSnapshot? { sessionTalks[sessionID]?.talk.snapshot }

    /// The same for all sessions.
    func talkbacks() -> [String: TalkbackSnapshot] { sessionTalks.mapValues(\.talk.snapshot) }

    /// Half duplex: while the talker speaks, the camera's sound is left out for them. The relay forwards sound without
    /// decoding it, so it can only send all of it or none.
    private func voiceHandler(_ sessionID: String) -> (@Sendable (Bool) -> Void)? {
        guard registry.configuration.mutesReturnPath else { return nil }
        let relay = relay
        return { isSpeaking in relay.holdSound(sessionID, for: isSpeaking ? Self.longestSilence : nil) }
    }

    /// How long sound is left out unless the talker is heard again. While they speak, the decoder reports it each
    /// second.
    private static let longestSilence: Duration = .seconds(2)
}
