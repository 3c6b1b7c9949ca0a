import StreamFormats

/// Why a camera that sends a stream other than RTP sends none for now.
public enum StreamFailure: Error, Hashable, Sendable {
    /// What comes cannot be read.
    case format(StreamFormatError)
    /// The address leads to something else; says what the server calls it.
    case notStream(contentType: String)
    /// No picture and no sound has come for this many seconds.
    case silent(seconds: Int)
    /// The stream has ended, as a recording does.
    case ended
    /// A playlist or a redirection names an address that is not requested; says why.
    case leadsElsewhere(address: String, Refusal)
    /// Another host, to which a playlist or a redirection leads, has answered with a status other than success; or
    /// another port of the camera's host with 403, or with 401 if a playlist may have named it.
    case refusedElsewhere(address: String, status: Int)
    /// The server sends whole files instead of their parts, and a part lies too far behind.
    case ignoresRanges
    /// A segment or what waits to be shown is larger than it may be.
    case tooLarge
    /// The address to listen on cannot be used; says why.
    case cannotListen(CameraUnreachable)
    /// A camera of this machine cannot be used; says why.
    case device(VideoDeviceFailure)

    /// Why an address is not requested.
    public enum Refusal: Hashable, Sendable {
        /// It is not one of HTTP.
        case notHTTP
        /// The stream comes over TLS, and this would not.
        case notEncrypted
        /// Its port is neither above 1023 nor one of HTTP.
        case port
        /// It is on this machine, on its link or in a private network, and the place that names it is not.
        case network
        /// The stream names more hosts than are asked.
        case manyHosts
    }

    /// The failure as the end of a sentence about a camera.
    var words: String {
        switch self {
        case .format(let error): error.description
        case .notStream(let type):
            "the camera sends \(type) instead of a stream; check the address, or remove the part up to the plus sign"
        case .silent(let seconds): "the camera has sent no picture and no sound for \(seconds) s"
        case .ended: "the stream has ended"
        case .leadsElsewhere(let address, let refusal):
            "the stream leads to \(address), which is not requested: \(refusal.words)"
        case .refusedElsewhere(let address, 401):
            "the stream leads to \(address), which asks for a password. The one of the config is for the configured "
                + "address alone and is not sent there. If the stream is there, write the address of its playlist there "
                + "into the config"
        case .refusedElsewhere(let address, let status):
            "\(address), to which the camera leads, answered with the HTTP status \(status)"
        case .ignoresRanges:
            "the playlist names parts of a long file, and the server sends the whole file instead (it ignores Range). Use "
                + "a server that sends parts, or let the camera write a file for each segment"
        case .tooLarge: "the camera sends more at once than can be buffered"
        case .cannotListen(let error): error.description
        case .device(let failure): failure.words
        }
    }

    /// The failure as the circuit counts it.
    var asCircuitFailure: CircuitBreaker.Failure {
        switch self {
        case .format(.refused), .silent, .ended, .tooLarge, .cannotListen, .format(.damaged): .unreachable
        // The answer of a busy server says nothing about its address.
        case .refusedElsewhere(_, 408), .refusedElsewhere(_, 429), .refusedElsewhere(_, 500...): .unreachable
        case .format, .notStream, .leadsElsewhere, .refusedElsewhere, .ignoresRanges: .mediaRefused
        case .device(let failure): failure.isPermanent ? .mediaRefused : .unreachable
        }
    }
}

extension StreamFailure.Refusal {
    /// The reason as the end of a sentence about an address.
    var words: String {
        switch self {
        case .notHTTP: "it is not an address of HTTP"
        case .notEncrypted: "it is not encrypted, and the stream began with HTTPS"
        case .port: "a stream leads to no port below 1024 but 80 and 443"
        case .network:
            "it is on this machine or in a private network, and what names it is not. If the stream is there, write the "
                + "address of its playlist there into the config"
        case .manyHosts: "the stream names more than \(HostAllowance.maximum) hosts"
        }
    }
}
