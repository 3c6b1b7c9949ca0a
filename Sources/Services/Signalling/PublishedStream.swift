import Cameras

/// What a program publishes by a protocol whose server takes the packets itself.
public struct PublishedStream: Sendable {
    /// The device that is to show it.
    public var deviceID: String
    /// Who publishes.
    public var principal: String
    /// The protocol, as the log names it: `RTSP` or `RTMP`.
    public var protocolName: String
    /// What the program sends, the picture first.
    public var tracks: [TrackDescription]

    /// Describes a stream.
    public init(deviceID: String, principal: String, protocolName: String, tracks: [TrackDescription]) {
        self.deviceID = deviceID
        self.principal = principal
        self.protocolName = protocolName
        self.tracks = tracks
    }
}

/// A stream that is the camera now.
public struct StartedPublication: Sendable {
    /// The session's unguessable name.
    public let sessionID: String
    /// Takes the packets. Only one thread may call it. Once the stream has ended, it drops them.
    public let publication: Publication

    /// Describes a stream that has started.
    public init(sessionID: String, publication: Publication) {
        self.sessionID = sessionID
        self.publication = publication
    }
}
