import SDP
import Stations

/// What a person should know about a session besides what it is sent.
public enum SessionNote: Hashable, Sendable {
    /// What the negotiation of the offer has to say.
    case offer(NegotiationNote)
    /// A track of the camera does not reach every viewer.
    case camera(TrackFault)
    /// The gateway makes a track for the viewer from one of the camera's. Both codecs have their SDP names.
    /// `hasBFrames` says whether the camera sends B-frames.
    case transcoded(MediaKind, from: String, hasBFrames: Bool, to: String)
}
