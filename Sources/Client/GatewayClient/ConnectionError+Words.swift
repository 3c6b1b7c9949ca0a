import HomeTypes

extension HomeError.ConnectionError {
    /// The error of a request to the gateway at `url`.
    func error(url: String) -> HomeError {
        HomeError(code, words(url: url), subtype: .connection(self))
    }

    private var code: HomeError.Code {
        switch self {
        case .invalidAddress, .unsupportedScheme: .invalidArgument
        case .cancelled: .cancelled
        case .deadlineExceeded: .deadlineExceeded
        case .timedOut, .closed, .untrustedCertificate, .certificateOfAnotherName, .noHTTPS, .unknownHost, .refused,
            .unreachable, .other:
            .unavailable
        }
    }

    /// The reason as a person reads it who has named the address.
    private func words(url: String) -> String {
        switch self {
        case .invalidAddress: "\(url) is not the address of a gateway; one looks like http://127.0.0.1:8080"
        case .unsupportedScheme: "\(url) is not the address of a gateway; it begins with http:// or https://"
        case .cancelled: "the request to \(url) was cancelled"
        case .deadlineExceeded: "the gateway at \(url) did not answer in time; a change may still have happened"
        case .timedOut: "the gateway at \(url) did not answer in time"
        case .closed:
            "the gateway at \(url) closed the connection; does this port accept "
                + "\(url.hasPrefix("https") ? "http" : "https")://?"
        case .untrustedCertificate:
            "the certificate of \(url) is not trusted on this machine. If the gateway signed it itself, copy "
                + "https-certificate.pem from its state folder and name the copy with --certificate"
        case .certificateOfAnotherName: "the certificate of \(url) is for another name or address"
        case .noHTTPS: "\(url) does not speak HTTPS; try http://"
        case .unknownHost: "the host name in \(url) cannot be resolved; check the name, or use an address"
        case .refused: "no gateway runs at \(url); start it with gatehouse serve, or check the port"
        case .unreachable: "the host of \(url) cannot be reached; check the network"
        case .other(let reason): "no gateway answers at \(url): \(reason)"
        }
    }
}
