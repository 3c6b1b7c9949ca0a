/// How a publisher is refused or ended, in the codes that RTMP clients know. OBS takes no notice of
/// `NetStream.Publish.BadName`: it waits for the end of the connection, and does not log why.
public enum RTMPRefusal: String, Hashable, Sendable {
    /// The token does not permit it, there is no such camera, or it takes no publisher.
    case denied = "NetStream.Publish.Denied"
    /// Something else keeps the client from publishing, or ends it.
    case failed = "NetStream.Failed"
}
