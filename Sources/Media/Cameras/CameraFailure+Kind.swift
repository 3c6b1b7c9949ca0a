import HTTPMedia
import ONVIF
import RTSP
import StreamFormats

extension CameraFailure {
    /// What kind of failure it is, from which the advice for people follows.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The host name of the camera's address is not known.
        case unknownName
        /// The host is there, and nothing listens at the port.
        case refused
        /// No network leads to the host, or the host does not answer there.
        case noRoute
        /// Nothing answers the attempt to connect.
        case timedOut
        /// The connection is made, and the camera does not answer or falls silent.
        case silent
        /// TLS fails, or the certificate is another one.
        case insecure
        /// The user name or the password is missing or wrong.
        case credentials
        /// The camera asks for the password where it is not sent: in clear text, at another address, or with a hash that
        /// this machine lacks.
        case passwordWithheld
        /// Another host, or another port of the camera, to which the camera leads, refuses the request. The camera's user
        /// name and password are not sent there.
        case refusedElsewhere
        /// The camera is there, and what the address names is not.
        case wrongAddress
        /// The camera has no room for another client at the moment.
        case busy
        /// The camera offers nothing that can be played.
        case unplayable
        /// The camera agrees to play, and no media comes.
        case noMedia
        /// The camera ends the connection or the stream.
        case ended
        /// The gateway itself lacks something, such as ports or threads.
        case gateway
        /// Nobody publishes the camera.
        case noPublisher
        /// Something else, which only the words say.
        case other
    }

    /// What kind of failure it is.
    public var kind: Kind {
        switch self {
        case .unreachable(let error): error.answer.map { Kind($0) } ?? Kind(error.cause)
        case .connectionClosed, .connectionBroken, .sessionEnded, .streamEnded: .ended
        case .redirectionCircle: .wrongAddress
        case .passwordWithheld: .passwordWithheld
        case .rtsp(let error): Kind(error)
        case .onvif(let error): Kind(error)
        case .pictures(let failure): Kind(failure)
        case .stream(let failure): Kind(failure)
        case .unreadableDescription, .nothingToPlay: .unplayable
        case .noMedia, .nothingCame: .noMedia
        case .stalled: .silent
        case .noPorts, .noFileDescriptor, .noThread, .noBuiltInThread, .encoding: .gateway
        case .noPublisher: .noPublisher
        }
    }

    /// Whether the camera asks for the password where or as that is not sent, and has refused nothing. So no account comes
    /// closer to its lock.
    ///
    /// It is false for ONVIF: each of its requests that needs a password carries a digest of it (WS-Security), and a camera
    /// that then asks for something else has refused that.
    var isPasswordWithheld: Bool {
        if case .onvif = self { return false }
        return kind == .passwordWithheld
    }
}

extension CameraFailure.Kind {
    fileprivate init(_ cause: UnreachableCause) {
        self =
            switch cause {
            case .unknownName: .unknownName
            case .refused: .refused
            case .noRoute: .noRoute
            case .timedOut: .timedOut
            case .silent: .silent
            case .insecure: .insecure
            case .other: .other
            }
    }

    fileprivate init(_ failure: AuthenticationFailure) {
        self =
            switch failure {
            case .passwordWithheld, .hashUnavailable: .passwordWithheld
            case .credentialsMissing, .credentialsRefused, .methodUnsupported: .credentials
            }
    }

    /// - Parameter status: that of an answer of RTSP or HTTP.
    fileprivate init(status: Int) {
        self =
            switch status {
            case 401, 403: .credentials
            // 453 is RTSP's "Not Enough Bandwidth" (RFC 2326, section 11.3.6).
            case 408, 429, 453, 503: .busy
            case 300..<400, 400, 404, 405, 410, 451: .wrongAddress
            default: .other
            }
    }

    fileprivate init(_ error: RTSPError) {
        self =
            switch error {
            case .unauthorized(let failure): Self(failure)
            case .noAnswer: .silent
            case .refused(_, let status, _), .tunnelRefused(let status): Self(status: status)
            case .noTrack(.refused(_, let status, _)?) where Self(status: status) != .other: Self(status: status)
            case .invalidURL, .redirectionRefused: .wrongAddress
            case .noDescription, .noTrack: .unplayable
            case .transportRefused, .malformedMessage, .tooLarge, .framingLost: .other
            }
    }

    fileprivate init(_ error: ONVIFError) {
        self =
            switch error {
            case .unauthorized(let failure): Self(failure)
            case _ where error.isRefusal: .credentials
            case .unreachable(_, let cause): Self(cause)
            case .noAnswer: .silent
            case .status(let status): Self(status: status)
            // What answers there is not the camera's ONVIF service.
            case .invalidAddress, .malformedXML, .malformedHTTP, .missing: .wrongAddress
            case .unsupported, .noSecondProfile: .unplayable
            case .documentType, .tooLarge, .fault, .stopped: .other
            case .noParser: .gateway
            }
    }

    fileprivate init(_ failure: PictureFailure) {
        self =
            switch failure {
            case .credentialsMissing, .credentialsRefused: .credentials
            case .passwordWithheld, .hashUnavailable: .passwordWithheld
            case .refused(let status): Self(status: status)
            case .notPictures, .redirected: .wrongAddress
            case .silent: .silent
            case .damaged: .unplayable
            case .answer: .other
            }
    }

    fileprivate init(_ failure: StreamFailure) {
        self =
            switch failure {
            case .format(.notOfFormat), .format(.refused), .notStream, .leadsElsewhere: .wrongAddress
            case .refusedElsewhere(_, 401), .refusedElsewhere(_, 403): .refusedElsewhere
            case .refusedElsewhere(_, let status): Self(status: status)
            case .format(.encryptedTags), .format(.encrypted): .unplayable
            case .silent: .silent
            case .ended: .ended
            case .cannotListen: .gateway
            case .format, .ignoresRanges, .tooLarge, .device: .other
            }
    }
}
