import StreamFormats

/// Why a camera that sends a stream other than RTP sends none for now.
public enum StreamFailure: Error, Equatable, Sendable {
    /// What comes cannot be read.
    case format(StreamFormatError)
    /// The address leads to something else; says what the server calls it.
    case notStream(contentType: String)
    /// No picture and no sound has come for so many seconds.
    case silent(seconds: Int)
    /// The stream has ended, as a recording does.
    case ended
    /// A playlist names an address on another host, or one that is not of HTTP.
    case leadsElsewhere(address: String)
    /// A segment or what waits to be shown is larger than it may be.
    case tooLarge
    /// The address to listen on cannot be used; says why.
    case cannotListen(CameraUnreachable)
    /// A camera of this machine cannot be used; says why.
    case device(VideoDeviceFailure)

    /// The failure as the end of a sentence about a camera.
    var words: String {
        switch self {
        case .format(let error): error.description
        case .notStream(let type):
            "the camera sends \(type) instead of a stream; check the address, or leave the part up to the plus sign out of it"
        case .silent(let seconds): "the camera has sent no picture and no sound for \(seconds) s"
        case .ended: "the stream has ended"
        case .leadsElsewhere(let address):
            "the playlist names \(address), which is not on the camera's own host, so it is not requested. If the stream "
                + "is there, write the address of its playlist there into the config"
        case .tooLarge: "the camera sends more at once than can be kept"
        case .cannotListen(let error): error.description
        case .device(let failure): failure.words
        }
    }

    /// The failure as the circuit counts it.
    var asCircuitFailure: CircuitBreaker.Failure {
        switch self {
        case .format(.refused), .silent, .ended, .tooLarge, .cannotListen, .format(.damaged): .unreachable
        case .format, .notStream, .leadsElsewhere: .mediaRefused
        case .device(let failure): failure.isPermanent ? .mediaRefused : .unreachable
        }
    }
}
