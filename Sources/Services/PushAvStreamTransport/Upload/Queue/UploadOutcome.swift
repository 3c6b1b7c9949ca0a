/// How an attempt to upload an object ended.
public enum UploadOutcome: Equatable, Sendable {
    /// The receiver accepted it (a status from 200 to 299).
    case accepted
    /// The receiver sent another status. `retryAfter` is what its `Retry-After` asks for.
    case refused(status: Int, retryAfter: Duration? = nil)
    /// There was no answer: no connection, a reset, a deadline, a certificate that is not trusted. The text says which.
    case unreachable(String)
    /// The file no longer exists, so it can never be uploaded.
    case sourceMissing
    /// The file cannot be read at the moment.
    case sourceFailed(String)
    /// Nothing was sent, because something has to be put right on this side first. The text says what.
    case held(String)
    /// The attempt was ended from this side, because the footage was discarded or the gateway stops.
    case cancelled
}

/// What is to be done about it. Nothing is given up: footage leaves the queue only when it was accepted, when the queue is
/// full, when its owner or a privacy switch discards it, or when the connection's principal has lost its right.
enum UploadVerdict: Equatable {
    case done
    /// Again after the usual back-off. `affectsDestination` when the destination as a whole does not answer.
    case retry(affectsDestination: Bool)
    /// Again, but seldom, because only a person can change it, and with an alarm at once.
    case retrySlowly
    /// Again as a whole, at once: the receiver does not take a body of unknown length.
    case retryWhole
    case lost
    case nothing

    /// Judges an outcome (RFC 9110, section 15).
    init(_ outcome: UploadOutcome, isGrowing: Bool) {
        switch outcome {
        case .accepted: self = .done
        case .refused(let status, _):
            switch status {
            // Length Required, and servers that do not implement chunked bodies.
            case 411 where isGrowing, 501 where isGrowing: self = .retryWhole
            // Timeouts and overload pass by themselves.
            case 408, 425, 429, 500, 502, 503, 504, 509: self = .retry(affectsDestination: false)
            // A body of unknown length may be what is wrong with any other request. The next attempt has a length.
            case _ where isGrowing: self = .retry(affectsDestination: false)
            // Redirects are not followed. 4xx and the rest of 5xx mean that the request is wrong in the server's eyes.
            default: self = .retrySlowly
            }
        case .unreachable: self = .retry(affectsDestination: true)
        case .sourceFailed, .held: self = .retrySlowly
        case .sourceMissing: self = .lost
        case .cancelled: self = .nothing
        }
    }
}

extension UploadOutcome: CustomStringConvertible {
    /// In words for the owner.
    public var description: String {
        switch self {
        case .accepted: "accepted"
        case .refused(let status, _) where (300..<400).contains(status):
            "the server redirects (status \(status)), which is not followed; set the connection's URL to the new address"
        case .refused(let status, _) where status == 401 || status == 403:
            "the server refuses access (status \(status)); check the endpoint's certificate or keys"
        case .refused(let status, _): "the server responded with status \(status)"
        case .unreachable(let reason), .held(let reason): reason
        case .sourceMissing: "the recording's file is missing"
        case .sourceFailed(let reason): "the recording's file cannot be read: \(reason)"
        case .cancelled: "cancelled"
        }
    }
}
