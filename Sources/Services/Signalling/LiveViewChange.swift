import Stations

/// A change in the life of a session, a publisher or a talk.
public enum LiveViewChange: Sendable, Equatable {
    /// A session has been answered.
    case started(mediaSessionId: String, deviceID: String, principal: String)
    /// Its media flows.
    case connected(mediaSessionId: String, deviceID: String)
    /// The camera's video is damaged, so no picture can be made of it. With nil, pictures can be made again. Reported
    /// once each time.
    case pictures(deviceID: String, damage: PictureDamage?)
    /// A session has ended.
    case ended(mediaSessionId: String, deviceID: String, end: SessionEnd)
    /// A publisher has been answered. `protocolName` says how it publishes: `WHIP`, `RTSP` or `RTMP`.
    case publisherStarted(sessionID: String, deviceID: String, principal: String, protocolName: String)
    /// A publisher has ended.
    case publisherEnded(sessionID: String, deviceID: String, end: PublisherEnd)
    /// A camera's speaker plays a session's microphone, or a clip. `talkID` names the talk.
    case talkStarted(talkID: String, deviceID: String, principal: String)
    /// A talk that had started has ended.
    case talkEnded(talkID: String, deviceID: String, end: TalkEnd)
}
