/// A request (RFC 2326, section 6).
public struct RTSPRequest: Equatable, Sendable {
    /// The method as written, since a camera may send an unknown one.
    public var method: String
    /// The request URI.
    public var uri: String
    /// The header lines.
    public var headers: RTSPHeaders
    /// The body, empty where there is none.
    public var body: [UInt8]

    /// Makes a request.
    public init(method: String, uri: String, headers: RTSPHeaders = [:], body: [UInt8] = []) {
        self.method = method
        self.uri = uri
        self.headers = headers
        self.body = body
    }

    /// The request as it goes over the wire; `Content-Length` is added where there is a body.
    public func encoded() -> [UInt8] {
        encodeMessage(firstLine: "\(method) \(uri) RTSP/1.0", headers: headers, body: body)
    }
}

/// A response (RFC 2326, section 7).
public struct RTSPResponse: Equatable, Sendable {
    /// The status code, 100 to 999.
    public var status: Int
    /// The reason phrase; some cameras leave it out.
    public var reason: String
    /// The header lines.
    public var headers: RTSPHeaders
    /// The body, empty where there is none.
    public var body: [UInt8]

    /// Makes a response.
    public init(status: Int, reason: String = "", headers: RTSPHeaders = [:], body: [UInt8] = []) {
        self.status = status
        self.reason = reason
        self.headers = headers
        self.body = body
    }

    /// The response as it goes over the wire; `Content-Length` is added where there is a body.
    public func encoded() -> [UInt8] {
        encodeMessage(firstLine: "RTSP/1.0 \(status) \(reason)", headers: headers, body: body)
    }
}

private func encodeMessage(firstLine: String, headers: RTSPHeaders, body: [UInt8]) -> [UInt8] {
    var bytes = Array("\(firstLine)\r\n".utf8)
    headers.encode(into: &bytes)
    if !body.isEmpty, headers["Content-Length"] == nil {
        bytes += "Content-Length: \(body.count)\r\n".utf8
    }
    bytes += "\r\n".utf8
    return bytes + body
}

/// A message that is not interleaved data.
enum RTSPMessage {
    case request(RTSPRequest)
    case response(RTSPResponse)

    /// Reads the lines before the body; the body is still empty.
    init(head: String) throws(RTSPError) {
        // The split is on the line feed only, since some cameras end lines without a carriage return.
        var lines = head.utf8.split(separator: UInt8(ascii: "\n")).map { line in
            Substring(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
        }
        guard !lines.isEmpty else { throw .malformedMessage(.empty) }
        let first = lines.removeFirst().split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
        let headers = RTSPHeaders(lines: lines)
        if let version = first.first, version.hasPrefixIgnoringCase("RTSP/") {
            guard first.count >= 2, let status = Int(first[1].trimmedASCII), (100...999).contains(status) else {
                throw .malformedMessage(.statusCode)
            }
            let reason = first.count > 2 ? first[2].trimmedASCII : ""
            self = .response(RTSPResponse(status: status, reason: reason, headers: headers))
            return
        }
        guard first.count == 3, first[2].hasPrefixIgnoringCase("RTSP/") else {
            throw .malformedMessage(.firstLine)
        }
        self = .request(RTSPRequest(method: String(first[0]), uri: String(first[1]), headers: headers))
    }

    var headers: RTSPHeaders {
        switch self {
        case .request(let request): request.headers
        case .response(let response): response.headers
        }
    }
}
