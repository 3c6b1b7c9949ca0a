/// What a media description carries (RFC 8866, section 5.14).
public enum MediaKind: String, Hashable, Sendable {
    /// Sound.
    case audio
    /// Pictures.
    case video
}
