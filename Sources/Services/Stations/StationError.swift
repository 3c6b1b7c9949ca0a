import MediaRelay

/// Why a station cannot do what it was asked.
public enum StationError: Error, Hashable, Sendable {
    /// The camera sends nothing that can be used; says why.
    case cameraUnavailable(String)
    /// There is not enough processor time for another transcoder.
    case transcodingRefused(TranscodingRefusal)
    /// The camera does not have this; says what is missing.
    case failedPrecondition(String)
    /// The camera is off, or a privacy mode is on.
    case refused(camera: String, OutputRefusal)
    /// Another gateway of the home runs the camera, or this one's tenure has ended.
    case runsElsewhere(camera: String)
    /// The camera took too long.
    case deadlineExceeded(String)
    /// A fault of the gateway.
    case internalFault(String)
}
