import HTTPMedia
import RTSP

/// What went wrong between the gateway and a camera's ONVIF services. No case holds a password.
public enum ONVIFError: Error, Hashable, Sendable {
    /// An address that cannot be used; says why.
    case invalidAddress(String)
    /// The document is not well-formed XML; says where and why.
    case malformedXML(String)
    /// The document declares a document type, which no camera has reason to send (SOAP 1.2 part 1, section 5).
    case documentType
    /// Something exceeds the limits of this reader.
    case tooLarge(what: String, limit: Int)
    /// The camera answered with a SOAP fault.
    case fault(SOAPFault)
    /// The answer lacks an element that it must have.
    case missing(element: String, in: String)
    /// The HTTP answer cannot be read; says why.
    case malformedHTTP(String)
    /// The camera answered with a status that is neither success nor a SOAP fault.
    case status(Int)
    /// Authentication failed.
    case unauthorized(AuthenticationFailure)
    /// The connection could not be made, or it broke; says why.
    case unreachable(String, cause: UnreachableCause = .other)
    /// No complete answer in time.
    case noAnswer(seconds: Int)
    /// The owner wants to stop.
    case stopped
    /// The camera lacks what is needed.
    case unsupported(Lack)
    /// libexpat could not make a parser: it got no memory.
    case noParser
    /// The camera has one stream: no other profile is a smaller video stream of the same picture.
    case noSecondProfile

    /// What a camera lacks.
    public enum Lack: Hashable, Sendable {
        /// It has no event service.
        case eventService
        /// None of its media profiles has video.
        case videoProfile
        /// The address that it gives for a stream cannot be used.
        case streamAddress
        /// It no longer offers the settings of its picture.
        case imagingSettings
        /// Its picture can no longer be turned.
        case rotation
        /// The level of its loudspeaker can no longer be changed.
        case speakerLevel
    }

    /// Whether the camera refused the credentials: trying again soon would lock the account of some cameras.
    public var isRefusal: Bool {
        switch self {
        case .unauthorized: true
        case .fault(let fault): fault.isNotAuthorized
        case .status(let status): status == 401 || status == 403
        default: false
        }
    }

    /// Whether the camera answers, but not as it should.
    var isAnswer: Bool {
        switch self {
        case .fault, .status, .missing, .malformedXML, .documentType, .tooLarge: !isRefusal
        default: false
        }
    }
}

extension ONVIFError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidAddress(let reason): "the address of the ONVIF device cannot be used: \(reason)"
        case .malformedXML(let reason): "the camera's answer is not XML: \(reason)"
        case .documentType: "the camera's answer is refused: it declares a document type, which SOAP forbids"
        case .tooLarge(let what, let limit): "the camera's answer contains \(what) of more than \(limit)"
        case .fault(let fault): fault.description
        case .missing(let element, let answer): "the camera's \(answer) lacks \(element)"
        case .malformedHTTP(let reason): "the camera's HTTP answer cannot be read: \(reason)"
        case .status(let status) where (300..<400).contains(status):
            "the camera redirects ONVIF requests (HTTP status \(status)), which is not followed. If it wants HTTPS, write "
                + "its https:// address into the config"
        case .status(let status): "the camera answered with HTTP status \(status)"
        case .unauthorized(let failure): Self.words(for: failure)
        case .unreachable(let reason, _): reason
        case .noAnswer(let seconds): "no complete answer within \(seconds) s"
        case .stopped: "stopped"
        case .unsupported(let lack): lack.words
        case .noParser: "libexpat could not make a parser"
        case .noSecondProfile: "the camera has no second profile that is a smaller video stream"
        }
    }

    private static func words(for failure: AuthenticationFailure) -> String {
        switch failure {
        case .credentialsMissing: "the camera asks for a user name and password, and the config has none"
        case .credentialsRefused: "the camera does not accept the user name and password of the config for ONVIF"
        // Only TLS hides the password, and every device must accept Digest (ONVIF Core, section 5.9.1).
        case .passwordWithheld:
            "the camera asks for the password in clear text (Basic) for ONVIF, which is sent only over HTTPS. "
                + "Turn on Digest in the camera, or write its https:// address into the config"
        case .methodUnsupported:
            "the camera asks for credentials for ONVIF by a method that is not supported (Basic and Digest are)"
        case .hashUnavailable: Challenge.hashUnavailableReason
        }
    }
}

extension ONVIFError.Lack {
    fileprivate var words: String {
        switch self {
        case .eventService: "the camera offers no event service"
        case .videoProfile: "the camera has no profile with video"
        case .streamAddress: "the camera's stream is at an address that cannot be used"
        case .imagingSettings: "the camera no longer offers this setting"
        case .rotation: "the camera no longer offers to turn its picture"
        case .speakerLevel: "the level of the camera's loudspeaker can no longer be changed"
        }
    }
}

/// A SOAP 1.2 fault (SOAP 1.2 part 1, section 5.4), or a SOAP 1.1 server's counterpart.
public struct SOAPFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The codes from the outermost to the innermost, without their prefixes: `Sender`, `NotAuthorized`.
    public var codes: [String]
    /// The reason in words, as the camera gave it; at most 200 characters.
    public var reason: String

    /// Describes a fault.
    public init(codes: [String], reason: String) {
        self.codes = codes
        self.reason = reason
    }

    /// Whether the fault says that the credentials are missing or wrong: ONVIF's code, WS-Security's codes, or the
    /// words of cameras that know neither.
    public var isNotAuthorized: Bool {
        let known = ["notauthorized", "failedauthentication", "invalidsecurity", "invalidsecuritytoken"]
        if codes.contains(where: { known.contains($0.lowercased()) }) { return true }
        let words = reason.lowercased()
        return words.contains("not authorized") || words.contains("unauthorized") || words.contains("authority failure")
    }

    public var description: String {
        let code = codes.last ?? "unknown fault"
        return reason.isEmpty ? "the camera refused: \(code)" : "the camera refused: \(reason) (\(code))"
    }
}
