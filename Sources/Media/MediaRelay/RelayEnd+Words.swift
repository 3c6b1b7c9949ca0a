import PeerConnection

extension RelayEnd {
    /// Why the session ended, as its viewer or publisher reads it.
    public var words: String {
        switch self {
        case .notConnected(let error): "\(error)"
        case .connectionFailed(let failure): failure.description
        case .viewer(let end): end.words
        case .goodbye: "the publisher has said goodbye"
        case .removed: "the session was ended"
        case .shuttingDown: "the gateway is shutting down"
        }
    }

    /// The most bytes that the reason of an RTCP goodbye may have (RFC 3550, section 6.6).
    private static let longestReason = 255

    /// Words as a goodbye carries them: as many whole characters as fit, and an ellipsis where some do not.
    static func goodbyeReason(_ words: String) -> String {
        guard words.utf8.count > longestReason else { return words }
        let ellipsis = "…"
        var left = longestReason - ellipsis.utf8.count
        let whole = words.prefix(while: { character in
            left -= character.utf8.count
            return left >= 0
        })
        return String(whole) + ellipsis
    }
}

extension ViewerEnd {
    /// Why the session ended, as its viewer reads it.
    fileprivate var words: String {
        switch self {
        case .trackGone: "the camera no longer sends this track"
        case .bFrames:
            "the camera's video has B-frames, which browsers cannot play; start the view again to get another stream"
        case .transcodingRefused(let refusal): refusal.words
        case .revoked: "the camera was switched off, or a privacy mode was switched on"
        }
    }
}

extension TranscodingRefusal {
    /// The refusal as a viewer reads it, with what would help.
    public var words: String {
        let tenths = Int((cores * 10).rounded())
        let others =
            switch running {
            case 0: "It alone would need too much"
            case 1: "One other camera is being transcoded"
            default: "\(running) other cameras are being transcoded"
            }
        return
            "this viewer needs the pictures of \(camera) transcoded to VP8, and there is not enough processor time. "
            + "\(others); transcoding may use \(tenths / 10).\(tenths % 10) processor cores in all. Close other views, "
            + "give \(camera) a substream in H.264, set the camera to a codec that the viewer plays, or set "
            + "transcodeVideo: true for \(camera), which lifts the limit"
    }
}
