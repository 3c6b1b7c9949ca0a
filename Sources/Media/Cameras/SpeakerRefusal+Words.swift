extension SpeakerRefusal {
    /// Why the camera does not play talk, as the talker reads it.
    public var words: String {
        switch self {
        case .unreachable(let failure): "the camera's speaker cannot be reached: \(failure.words)"
        case .noAnswer(let duration):
            "the camera's speaker cannot be reached: it did not answer within \(duration.components.seconds) s"
        case .unauthorized(let failure): "the camera's speaker needs credentials: \(failure.words)"
        case .noBackChannel:
            "the camera describes no speaker (no back channel); it may have to be enabled in the camera's settings"
        case .noCommonCodec(let offered):
            "the camera's speaker accepts \(offered.joined(separator: ", ")), and the gateway can encode none of them"
        case .needsDatagrams:
            "the camera accepts sound only over UDP; talkback needs RTP over the RTSP connection (interleaved)"
        case .sessionRefused(let failure):
            "the camera refuses the session for its speaker: \(failure.words); it may serve one client at a time"
        case .brokenOff(let failure): "the connection to the camera's speaker was lost: \(failure.words)"
        case .sourceStopped: "the connection to the camera's speaker was lost: the camera's source has been stopped"
        case .gatewayFault(let failure): "the gateway could not open the camera's speaker: \(failure.words)"
        }
    }
}
