import Cameras
import HomeTypes
import MediaRelay
import SDP
import Stations
import Transport

extension LiveViewService {
    /// What a session reports to its data channels; nil if it has ended.
    func channelState(of sessionID: String) -> ChannelState? {
        guard let lease = ledger.leases[sessionID], let session = sessions[sessionID] else { return nil }
        let camera = session.station.snapshot
        let picture = session.streams.first { $0.track.description.kind == .video }
        return ChannelState(
            deviceID: lease.deviceID, isConnected: session.status.isConnected,
            expiresInSeconds: max(0, (lease.expiry - now).inSeconds), expiry: "\(lease.expiry.nanoseconds)",
            quality: picture.map { $0.track.description.stream == .sub ? "sd" : "hd" },
            codecs: session.streams.map(\.codec.name), notes: session.notesWithFailures,
            cameraState: CameraSourceState(camera.state), cameraReason: camera.explanation)
    }
}

extension TalkFloor {
    /// What a session reports to its data channels about talking to its camera.
    func channelState(of sessionID: String, deviceID: String) -> ChannelMessage.Talkback {
        let snapshot = talkback(of: sessionID)
        let floor: ChannelMessage.Talkback.Floor =
            switch holder(of: deviceID)?.talker {
            case nil: .free
            case .session(sessionID): .you
            case .session: .viewer
            case .clip: .clip
            }
        return ChannelMessage.Talkback(
            state: snapshot?.state.rawValue ?? "idle", reason: snapshot?.reason, floor: floor)
    }
}
