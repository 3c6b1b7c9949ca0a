import HomeTypes
import Stations

extension OutputPolicy {
    /// What the connections of a camera permit.
    public init(_ table: ConnectionTable) {
        self.init(
            isOn: table.isOn, softRecordingPrivacy: table.privacy.softRecording,
            softLivestreamPrivacy: table.privacy.softLivestream, hardPrivacy: table.privacy.hard,
            permitsLiveViews: table.usagePriorities.contains(.liveView), mutesSound: table.privacy.microphoneMuted,
            mutesRecordings: table.privacy.recordingMicrophoneMuted)
    }
}
