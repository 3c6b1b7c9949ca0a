import AsyncHTTPClient
import Foundation
import Glibc
import HomeTypes
import NIOCore
import NIOHTTP1
import NIOSSL
import Testing

@testable import GatewayClient

/// Why a gateway does not answer.
@Suite struct ConnectionErrorTests {
    struct Odd: Error {}

    static let errors: [(any Error, HomeError.ConnectionError)] = [
        (HTTPClientError.invalidURL, .invalidAddress), (HTTPClientError.emptyHost, .invalidAddress),
        (HTTPClientError.emptyScheme, .invalidAddress),
        (HTTPClientError.unsupportedScheme("ftp"), .unsupportedScheme),
        (HTTPClientError.cancelled, .cancelled), (CancellationError(), .cancelled),
        (HTTPClientError.deadlineExceeded, .deadlineExceeded),
        (HTTPClientError.connectTimeout, .timedOut), (HTTPClientError.readTimeout, .timedOut),
        (HTTPClientError.remoteConnectionClosed, .closed),
        (HTTPClientError.bodyLengthMismatch, .other("HTTPClientError.bodyLengthMismatch")),
        (NIOSSLError.noCertificateToValidate, .certificateOfAnotherName),
        (NIOSSLError.unableToValidateCertificate, .certificateOfAnotherName),
        (NIOSSLError.uncleanShutdown, .other("uncleanShutdown")),
        (NIOSSLExtraError.failedToValidateHostname, .certificateOfAnotherName),
        (NIOSSLExtraError.serverHostnameImpossibleToMatch, .certificateOfAnotherName),
        (IOError(errnoCode: ECONNREFUSED, reason: "connect"), .refused),
        (IOError(errnoCode: ENETUNREACH, reason: "connect"), .unreachable),
        (IOError(errnoCode: EHOSTUNREACH, reason: "connect"), .unreachable),
        (Odd(), .other("Odd()")),
    ]

    @Test func `An error of a library has its meaning`() {
        for (error, expected) in Self.errors {
            let found = HomeError.ConnectionError(error)
            #expect(found == expected, "\(error)")
        }
    }

    static let sentences: [(HomeError.ConnectionError, HomeError.Code, String)] = [
        (
            .invalidAddress, .invalidArgument,
            "http://a is not the address of a gateway; one looks like http://127.0.0.1:8080"
        ),
        (
            .unsupportedScheme, .invalidArgument,
            "http://a is not the address of a gateway; it begins with http:// or https://"
        ),
        (.cancelled, .cancelled, "the request to http://a was cancelled"),
        (
            .deadlineExceeded, .deadlineExceeded,
            "the gateway at http://a did not answer in time; a change may still have happened"
        ),
        (.timedOut, .unavailable, "the gateway at http://a did not answer in time"),
        (
            .closed, .unavailable,
            "the gateway at http://a closed the connection; does this port accept https://?"
        ),
        (
            .untrustedCertificate, .unavailable,
            "the certificate of http://a is not trusted on this machine. If the gateway signed it itself, copy "
                + "https-certificate.pem from its state folder and name the copy with --certificate"
        ),
        (.certificateOfAnotherName, .unavailable, "the certificate of http://a is for another name or address"),
        (.noHTTPS, .unavailable, "http://a does not speak HTTPS; try http://"),
        (
            .unknownHost, .unavailable,
            "the host name in http://a cannot be resolved; check the name, or use an address"
        ),
        (
            .refused, .unavailable,
            "no gateway runs at http://a; start it with gatehouse serve, or check the port"
        ),
        (.unreachable, .unavailable, "the host of http://a cannot be reached; check the network"),
        (.other("odd"), .unavailable, "no gateway answers at http://a: odd"),
    ]

    @Test(arguments: ConnectionErrorTests.sentences)
    func `A reason has its code and its words`(
        reason: HomeError.ConnectionError, code: HomeError.Code, words: String
    ) {
        let error = reason.error(url: "http://a")
        #expect(error == HomeError(code, words) && error.subtype == .connection(reason))
    }

    @Test func `A server that closes a connection of HTTPS may speak HTTP`() {
        let error = HomeError.ConnectionError.closed.error(url: "https://a")
        #expect(error.message == "the gateway at https://a closed the connection; does this port accept http://?")
    }

    /// What a reverse proxy answers while the gateway restarts: clients try again. Other pages come from something else.
    @Test(arguments: [(502, true), (503, true), (504, true), (404, false), (500, false)])
    func `A proxy's answer means that the gateway is away`(status: Int, isAway: Bool) {
        let response = HTTPClientResponse(status: .init(statusCode: status))
        let error = #expect(throws: HomeError.self) {
            try GatewayConnection.check(response, Data("<html>".utf8), url: "https://home.example/v1/devices")
        }
        #expect((error?.code == .unavailable) == isAway)
    }
}
