import HomeTypes
import NIOHTTP1

/// Why a request is refused before anything looks at its path or its token.
struct RequestRefusal: Error, Equatable {
    var status: HTTPResponseStatus
    /// What was wrong, for a person.
    var message: String
    /// The error in the body.
    var error: HomeError { .invalidArgument(message) }
}

/// Whether a request is well-formed enough to be answered (RFC 9110 and 9112).
enum RequestRules {
    /// The longest target, in bytes.
    static let maximumTarget = 8 * 1024

    /// What is wrong with a head, or nil.
    static func refusal(of head: HTTPRequestHead) -> RequestRefusal? {
        if head.uri.utf8.count > maximumTarget { return targetTooLong }
        return refusalOfHost(head) ?? refusalOfLength(head) ?? refusalOfExpectation(head)
    }

    /// RFC 9112, section 3.2: one `Host`, exactly one from HTTP/1.1 on.
    private static func refusalOfHost(_ head: HTTPRequestHead) -> RequestRefusal? {
        let hosts = head.headers["host"]
        if hosts.isEmpty {
            return head.version.minor == 0
                ? nil : RequestRefusal(status: .badRequest, message: "the header Host is missing")
        }
        guard hosts.count == 1 else {
            return RequestRefusal(status: .badRequest, message: "there are \(hosts.count) Host headers; send one")
        }
        let host = hosts[0].utf8
        let isPlain = host.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: "-._~:[]%".utf8.contains(byte)
            }
        }
        guard isPlain, !host.isEmpty, host.count <= 300 else {
            return RequestRefusal(
                status: .badRequest, message: "the header Host is not a host name or address with or without a port")
        }
        return nil
    }

    /// RFC 9112, section 6: a body whose end two readers could see in different places.
    private static func refusalOfLength(_ head: HTTPRequestHead) -> RequestRefusal? {
        let encodings = head.headers["transfer-encoding"]
        let lengths = head.headers["content-length"]
        if !encodings.isEmpty {
            guard head.version.minor > 0 else {
                return RequestRefusal(status: .badRequest, message: "HTTP/1.0 has no Transfer-Encoding")
            }
            guard lengths.isEmpty else {
                return RequestRefusal(
                    status: .badRequest, message: "the request has both Content-Length and Transfer-Encoding; send one")
            }
            guard encodings.count == 1, encodings[0].lowercased() == "chunked" else {
                return RequestRefusal(
                    status: .notImplemented, message: "the only supported Transfer-Encoding is chunked")
            }
        }
        guard lengths.count <= 1 else {
            return RequestRefusal(
                status: .badRequest, message: "there are \(lengths.count) Content-Length headers; send one")
        }
        return nil
    }

    /// RFC 9110, section 10.1.1.
    private static func refusalOfExpectation(_ head: HTTPRequestHead) -> RequestRefusal? {
        let expectations = head.headers["expect"]
        guard !expectations.isEmpty, head.version.minor > 0 else { return nil }
        guard expectations.count == 1, expectations[0].lowercased() == "100-continue" else {
            return RequestRefusal(
                status: .expectationFailed, message: "the only supported Expect is 100-continue")
        }
        return nil
    }

    /// What a parser's error means for the client.
    static func refusal(_ error: HTTPParserError, inFirstLine: Bool) -> RequestRefusal {
        switch error {
        case .headerOverflow where inFirstLine: return targetTooLong
        case .headerOverflow:
            return RequestRefusal(
                status: .requestHeaderFieldsTooLarge,
                message: "a header is longer than \(GatewayHTTPChannel.maximumHeaderBytes) bytes, or there are too many"
            )
        case .invalidVersion:
            return RequestRefusal(status: .httpVersionNotSupported, message: "only HTTP/1.1 is supported here")
        case .invalidChunkSize:
            return RequestRefusal(status: .badRequest, message: "the size of a chunk of the body cannot be read")
        case .strictModeAssertion:
            return RequestRefusal(
                status: .badRequest, message: "a line or a chunk of the body does not end as HTTP/1.1 requires")
        case .invalidContentLength, .unexpectedContentLength:
            return RequestRefusal(status: .badRequest, message: "Content-Length is not a valid length")
        case .invalidEOFState, .closedConnection:
            return RequestRefusal(status: .badRequest, message: "the connection closed before the request was complete")
        default:
            return RequestRefusal(status: .badRequest, message: "this is not an HTTP/1.1 request (\(error))")
        }
    }

    private static let targetTooLong = RequestRefusal(
        status: .uriTooLong, message: "the address is longer than \(maximumTarget) bytes")
}
