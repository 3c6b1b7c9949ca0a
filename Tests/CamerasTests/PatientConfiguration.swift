import Cameras

extension RTSPSource.Configuration {
    /// Settings for a camera of these tests: it answers in the end, but its thread may stand still for seconds on a busy
    /// machine. A test that is about one of the timeouts sets it.
    static var patient: RTSPSource.Configuration {
        let hour = Duration.seconds(3_600)
        var configuration = RTSPSource.Configuration()
        configuration.connectTimeout = hour
        configuration.answerTimeout = hour
        configuration.featureTimeout = hour
        configuration.firstPacketTimeout = hour
        configuration.stallTimeout = hour
        configuration.silenceTimeout = hour
        configuration.speaker.connectTimeout = hour
        configuration.speaker.answerTimeout = hour
        return configuration
    }
}
