import AsyncHTTPClient
import Glibc
import HomeTypes
import NIOCore
import NIOPosix
import NIOSSL

extension GatewayConnection {
    /// The reason why a request did not get a response.
    static func failure(_ error: any Error, url: String) -> HomeError {
        HomeError.ConnectionError(error).error(url: url)
    }
}

extension HomeError.ConnectionError {
    /// What an error of the libraries means.
    init(_ error: any Error) {
        self = Self.known(error) ?? .other("\(error)")
    }

    /// What an error means; nil where nothing better can be said than the error itself says.
    private static func known(_ error: any Error) -> Self? {
        switch error {
        case let error as HTTPClientError: known(error)
        case is CancellationError: .cancelled
        case let error as NIOConnectionError: known(error)
        case let error as NIOSSLError: known(error)
        case let error as NIOSSLExtraError: known(error)
        case is SocketAddressError.UnknownHost: .unknownHost
        case let error as IOError: known(error)
        default: nil
        }
    }

    private static func known(_ error: HTTPClientError) -> Self? {
        switch error {
        case .invalidURL, .emptyScheme, .emptyHost: .invalidAddress
        case .cancelled: .cancelled
        case .deadlineExceeded: .deadlineExceeded
        case .connectTimeout, .readTimeout: .timedOut
        case .remoteConnectionClosed: .closed
        // The error holds the scheme, whichever it is. Its short description does not.
        case _ where error.shortDescription == HTTPClientError.unsupportedScheme("").shortDescription:
            .unsupportedScheme
        default: nil
        }
    }

    private static func known(_ error: NIOConnectionError) -> Self? {
        if let lookUp = error.dnsAError ?? error.dnsAAAAError { return known(lookUp) }
        // One for each address of the host.
        let reasons = error.connectionErrors.compactMap { known($0.error) }
        return reasons.contains(.refused) ? .refused : reasons.first
    }

    private static func known(_ error: NIOSSLError) -> Self? {
        switch error {
        case .noCertificateToValidate, .unableToValidateCertificate: return .certificateOfAnotherName
        case .handshakeFailed(.sslError(let stack)), .handshakeFailed(.unknownError(let stack)):
            // BoringSSL's numbers are not public. Only the texts name them.
            let texts = stack.map(\.description)
            if texts.contains(where: { $0.contains("CERTIFICATE_VERIFY_FAILED") }) { return .untrustedCertificate }
            return texts.contains { $0.contains("WRONG_VERSION_NUMBER") } ? .noHTTPS : nil
        default: return nil
        }
    }

    private static func known(_ error: NIOSSLExtraError) -> Self? {
        error == .failedToValidateHostname || error == .serverHostnameImpossibleToMatch
            ? .certificateOfAnotherName : nil
    }

    private static func known(_ error: IOError) -> Self? {
        switch error.errnoCode {
        case ECONNREFUSED: .refused
        case ENETUNREACH, EHOSTUNREACH: .unreachable
        default: nil
        }
    }
}
