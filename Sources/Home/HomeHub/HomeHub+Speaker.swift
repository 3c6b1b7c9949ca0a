import HomeTypes
import Signalling

/// The camera's speaker: who holds it, and the clips that are played through it.
extension HomeHub {
    /// Who holds a device's speaker, and what is delivered to it.
    public func speaker(of deviceID: String) async throws(HomeError) -> SpeakerSnapshot {
        try self.requireDevice(deviceID)
        do {
            return try await self.liveView.speaker(of: deviceID)
        } catch .unknownDevice {
            // The camera of this device could not be made, so nobody talks to it.
            return SpeakerSnapshot()
        } catch {
            throw HomeError(error)
        }
    }

    /// Plays a WAV file through a device's speaker, or the chime if there is no file. Returns when the camera accepts
    /// it.
    public func playClip(
        wav bytes: [UInt8]?, deviceID: String, principal: String
    ) async throws(HomeError) -> TalkClipSnapshot {
        try self.requireDevice(deviceID)
        do {
            let clip = if let bytes { try TalkClip(wav: bytes) } else { TalkClip.chime }
            return try await self.liveView.playClip(clip, deviceID: deviceID, principal: principal)
        } catch {
            throw HomeError(error)
        }
    }

    /// Ends a clip. It is not an error if the clip has ended already. Only the owner ends another principal's clip.
    public func stopClip(_ id: String, deviceID: String, principal: String) async throws(HomeError) {
        try self.requireDevice(deviceID)
        do {
            try await self.liveView.stopClip(id, deviceID: deviceID, principal: principal)
        } catch {
            throw HomeError(error)
        }
    }
}
