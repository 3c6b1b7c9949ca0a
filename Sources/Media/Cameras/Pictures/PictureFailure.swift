import Codecs
import HTTPMedia
import RTSP

/// Why a camera that sends pictures over HTTP sends none for now.
public enum PictureFailure: Error, Hashable, Sendable {
    /// The camera asks for credentials, and the config has none.
    case credentialsMissing
    /// The camera does not accept the credentials.
    case credentialsRefused
    /// The camera asks for the password itself, although it has accepted Digest before. It has refused nothing.
    case passwordWithheld
    /// The camera offers only Digest with a hash that libcrypto refuses here. It has refused nothing.
    case hashUnavailable
    /// The camera answered with a status other than success.
    case refused(status: Int)
    /// What the camera sends is not pictures; says what it is.
    case notPictures(contentType: String)
    /// No complete picture has come for this many seconds.
    case silent(seconds: Int)
    /// The camera's pictures cannot be decoded or encoded.
    case damaged(CodecError)
    /// The camera redirects to another host, from HTTPS to HTTP, or to something other than an HTTP address.
    case redirected(to: String)
    /// The camera's answer cannot be read.
    case answer(HTTPStreamError)

    /// The failure as the end of a sentence about a camera.
    var words: String {
        switch self {
        case .credentialsMissing: "the camera asks for a user name and password, and the config has none"
        case .credentialsRefused: "the camera does not accept the user name and password of the config"
        case .passwordWithheld: Challenge.withheldReason
        case .hashUnavailable: Challenge.hashUnavailableReason
        case .refused(let status): "the camera answered with the HTTP status \(status)"
        case .notPictures(let type):
            "the camera sends \(type) instead of JPEG pictures; write the address of its MJPEG stream or of its "
                + "snapshot into the config"
        case .silent(let seconds): "the camera has sent no complete JPEG picture for \(seconds) s"
        case .damaged(let error): "the camera's pictures cannot be used: \(error)"
        case .redirected(to: ""): "the camera redirects without saying where; check the address"
        case .redirected(let place):
            "the camera redirects to \(place), which is not followed; write that address into the config"
        case .answer(let error): error.description
        }
    }

    /// The failure as the circuit counts it.
    var asCircuitFailure: CircuitBreaker.Failure {
        switch self {
        case .credentialsMissing, .credentialsRefused: .credentialsRefused
        // The answer of a slow or busy camera says nothing about its address.
        case .refused(408), .refused(429): .unreachable
        // A password that was kept back was not refused: no account comes closer to its lock.
        case .passwordWithheld, .hashUnavailable, .refused(400..<500), .notPictures, .redirected: .mediaRefused
        case .refused, .silent, .damaged, .answer: .unreachable
        }
    }
}
