/// What went wrong between the gateway and a camera's RTSP server. No case holds a password.
public enum RTSPError: Error, Hashable, Sendable {
    /// The camera's address cannot be used; says which part and why.
    case invalidURL(String)
    /// A message that cannot be read.
    case malformedMessage(RTSPMessageFault)
    /// A message beyond what a camera has reason to send.
    case tooLarge(what: String, limit: Int)
    /// So many bytes between the messages belong to none of them that the framing can no longer be trusted.
    case framingLost(discardedBytes: Int)
    /// No answer in time.
    case noAnswer(method: RTSPMethod, seconds: Int)
    /// The camera refused a request.
    case refused(method: RTSPMethod, status: Int, reason: String)
    /// The camera refused to carry RTSP inside HTTP.
    case tunnelRefused(status: Int)
    /// Authentication failed.
    case unauthorized(AuthenticationFailure)
    /// The camera redirects to an address, here without a password, that is not followed.
    case redirectionRefused(to: String, RedirectionRefusal)
    /// The answer to DESCRIBE held no description.
    case noDescription
    /// The camera does not offer the requested transport.
    case transportRefused(RTSPTransportKind, status: Int)
    /// The camera refused every track; holds the last refusal.
    indirect case noTrack(RTSPError?)
}

extension RTSPError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidURL(let reason): "the camera's address cannot be used: \(reason)"
        case .malformedMessage(let fault): "the camera's message cannot be read: \(fault)"
        case .tooLarge(let what, let limit): "the camera sent \(what) of more than \(limit) bytes"
        case .framingLost(let count): "\(count) bytes in a row belong to no message or packet"
        case .noAnswer(let method, let seconds): "no answer to \(method) within \(seconds) s"
        case .refused(let method, let status, let reason):
            reason.isEmpty
                ? "the camera refused \(method) with status \(status)"
                : "the camera refused \(method) with status \(status) (\(reason))"
        case .tunnelRefused(let status): "the camera refuses RTSP inside HTTP with status \(status)"
        case .unauthorized(let failure): Self.words(for: failure)
        case .redirectionRefused(let address, let refusal): refusal.words(to: address)
        case .noDescription: "the camera's answer to DESCRIBE contains no session description"
        case .transportRefused(let transport, let status):
            "the camera does not send \(transport) (status \(status))"
        case .noTrack(let last): "the camera refused every track: \(last?.description ?? "no reason given")"
        }
    }

    private static func words(for failure: AuthenticationFailure) -> String {
        switch failure {
        case .credentialsMissing: "the camera asks for a user name and a password, and its address has none"
        case .credentialsRefused: "the camera does not accept the user name and password"
        case .passwordWithheld: Challenge.withheldReason
        case .methodUnsupported:
            "the camera asks for credentials by a method that is not supported (Basic and Digest are)"
        case .hashUnavailable: Challenge.hashUnavailableReason
        }
    }
}

/// The transport of a session's RTP packets.
public enum RTSPTransportKind: Sendable, Hashable, CustomStringConvertible {
    /// The connection of the requests (RFC 2326, section 10.12).
    case connection
    /// UDP, to a pair of ports for each track.
    case datagrams

    public var description: String {
        switch self {
        case .connection: "over the connection (TCP)"
        case .datagrams: "over UDP"
        }
    }
}
