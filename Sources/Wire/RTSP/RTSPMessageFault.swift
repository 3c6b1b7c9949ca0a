/// Why a message cannot be read.
public enum RTSPMessageFault: Sendable, Hashable, CaseIterable {
    /// It has no lines.
    case empty
    /// Its first line is neither a status line nor a request line.
    case firstLine
    /// Its status line has no status code of three digits.
    case statusCode
    /// Its `Content-Length` is not a number.
    case contentLength
    /// It is one of HTTP.
    case http
    /// The answer to the GET of a tunnel does not begin with a status line of HTTP.
    case tunnelStatusLine
}

extension RTSPMessageFault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .empty: "it has no lines"
        case .firstLine: "the first line is neither a status line nor a request line"
        case .statusCode: "the status line has no three-digit status code"
        case .contentLength: "Content-Length is not a number"
        case .http: "the server answers with HTTP; give the address of its RTSP port"
        case .tunnelStatusLine: "the answer to the tunnel's GET does not begin with an HTTP status line"
        }
    }
}
