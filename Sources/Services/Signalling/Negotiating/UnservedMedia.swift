import SDP

/// A media description of an offer that gets nothing from the camera, and the reason.
public enum UnservedMedia: Hashable, Sendable {
    /// The negotiation says why.
    case noted(NegotiationNote)
    /// The viewer only sends (`a=sendonly`).
    case onlySends(NegotiationNote.Media)
    /// The viewer has disabled it (`a=inactive`).
    case inactive(NegotiationNote.Media)
    /// The viewer plays none of the camera's codecs.
    case noPlayableCodec(NegotiationNote.Media)
}
