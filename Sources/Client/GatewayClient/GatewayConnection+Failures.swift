import AsyncHTTPClient
import HomeTypes

extension GatewayConnection {
    /// The reason why a request did not get a response, as a text. The libraries below do not have one.
    static func failure(_ error: any Error, url: String) -> HomeError {
        switch error as? HTTPClientError {
        case .invalidURL?, .emptyScheme?, .emptyHost?:
            return .invalidArgument(
                "\(url) is not the address of a gateway; one looks like http://127.0.0.1:8080")
        case .cancelled?: return .cancelled("the request to \(url) was cancelled")
        case .deadlineExceeded?:
            return .deadlineExceeded(
                "the gateway at \(url) did not answer in time; a change may still have happened")
        case .connectTimeout?, .readTimeout?:
            return .unavailable("the gateway at \(url) did not answer in time")
        case .remoteConnectionClosed?:
            return .unavailable(
                "the gateway at \(url) closed the connection; does this port accept "
                    + "\(url.hasPrefix("https") ? "http" : "https")://?")
        default: break
        }
        if error is CancellationError { return .cancelled("the request to \(url) was cancelled") }
        let told = "\(error)"
        if told.contains("unsupportedScheme") {
            return .invalidArgument("\(url) is not the address of a gateway; it begins with http:// or https://")
        }
        if told.contains("CERTIFICATE_VERIFY_FAILED") {
            return .unavailable(
                "the certificate of \(url) is not trusted on this machine. If the gateway signed it itself, copy "
                    + "https-certificate.pem from its state folder and name the copy with --certificate")
        }
        if told.contains("WRONG_VERSION_NUMBER") {
            return .unavailable("\(url) does not speak HTTPS; try http://")
        }
        if told.contains("unable to validate") || told.contains("noCertificateToValidate") || told.contains("hostname")
        {
            return .unavailable("the certificate of \(url) is for another name or address")
        }
        if told.contains("UnknownHost") {
            return .unavailable("the host name in \(url) cannot be resolved; check the name, or use an address")
        }
        if told.contains("Connection refused") {
            return .unavailable("no gateway runs at \(url); start it with gatehouse serve, or check the port")
        }
        if told.contains("unreachable") || told.contains("No route") {
            return .unavailable("the host of \(url) cannot be reached; check the network")
        }
        return .unavailable("no gateway answers at \(url): \(told)")
    }
}
