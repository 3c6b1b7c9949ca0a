/// Features that a client can require of a server (RFC 2326, section 12.32).
public enum RTSPFeature {
    /// The camera's speaker as a track of its description (ONVIF Streaming Specification, section 5.3).
    public static let backChannel = "www.onvif.org/ver20/backchannel"
    /// Packets of recorded footage with the time of their capture (ONVIF Streaming Specification, section 6.3).
    public static let replay = "onvif-replay"
}
