/// Why a receiver may not play a stream that it is sent all the same. Browsers decode more than they name.
public enum CodecDoubt: Hashable, Sendable {
    /// The receiver asks for H.264 in single units only. The stream also has fragments (RFC 6184, section 6.2).
    case packetizationModeZero
    /// The receiver names no H.264 profile that contains the stream's (RFC 6184, section 8.1).
    case h264Profile(own: H264Profile.Profile, theirs: H264Profile.Profile)
    /// The stream's H.264 level is above the receiver's (RFC 6184, section 8.1).
    case h264Level(own: H264Profile.Level, theirs: H264Profile.Level)
    /// The receiver's `profile-level-id` cannot be read (RFC 6184, section 8.1).
    case unreadableH264Profile
    /// The stream's H.265 level is above the receiver's. Both are a `level-id`, which is the level times 30 (RFC 7798,
    /// section 7.1).
    case h265Level(own: Int, theirs: Int)
    /// The stream's AV1 level is above the receiver's. Both are a `level-idx` (AV1's payload format, section 7.2.3).
    case av1Level(own: Int, theirs: Int)
}
