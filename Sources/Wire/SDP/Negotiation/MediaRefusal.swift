/// Why an offered media description is not used.
public enum MediaRefusal: Error, Hashable, Sendable {
    /// It is neither audio nor video.
    case unsupportedKind(MediaKind)
    /// Its port is 0 (RFC 3264, section 5.1).
    case disabled
    /// Its protocol, as written, is not a profile of RTP that an answer can have (RFC 8829, section 5.1.2).
    case unusableProfile(String)
    /// It is outside every BUNDLE group and does not carry RTCP on the port of RTP (RFC 5761).
    case noRTCPMux
    /// It does not share the transport of the media that is used (RFC 9143).
    case outsideBundle
    /// Data channels whose `a=sctp-port` is missing or is not a port (RFC 8841, section 5).
    case noSCTPPort
    /// The camera has no track of the kind.
    case noTrack(MediaKind)
    /// The camera's track of the kind is used by an earlier `m=` line.
    case alreadyUsed(MediaKind)
    /// The camera has tracks of the kind, and none suits it.
    case noMatchingTrack
    /// The peer's direction leaves nothing for a track to do. `sends` says whether the track has media to send.
    case direction(MediaDirection, sends: Bool)
    /// Both sides have media of the kind but share no codec.
    case noCommonCodec(CodecMismatch)
}
