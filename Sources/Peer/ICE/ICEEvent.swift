import STUN
import Transport

/// A pair of addresses between which datagrams flow.
public struct ICEPath: Hashable, Sendable, BitwiseCopyable {
    /// The peer's address.
    public var remote: TransportAddress
    /// The own address that the datagrams leave from; nil leaves the choice to the kernel's routes.
    public var local: TransportAddress?

    /// Describes a path.
    public init(remote: TransportAddress, local: TransportAddress? = nil) {
        self.remote = remote
        self.local = local
    }
}

/// What an agent reports.
public enum ICEEvent: Hashable, Sendable {
    /// A first pair is selected: media may flow.
    case connected(ICEPath)
    /// Another pair is selected: the peer moved, nominated another one, or a restart ended.
    case pairChanged(ICEPath)
    /// Consent expired (RFC 7675): nothing may be sent until a restart.
    case disconnected
    /// No pair was found.
    case failed(ICEFailure)
}

/// Why an agent found no pair.
public enum ICEFailure: Hashable, Sendable {
    /// The peer named no usable candidate and sent no check.
    case noCandidates
    /// Checks were sent and none was answered.
    case noResponse
    /// A pair works, but the controlling peer nominated none.
    case notNominated
}

extension ICEFailure: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noCandidates: "the peer named no usable candidate and sent no connectivity check"
        case .noResponse: "no connectivity check was answered"
        case .notNominated: "a pair works, but the peer nominated none"
        }
    }
}

/// The state of an agent.
public enum ICEState: Hashable, Sendable, BitwiseCopyable {
    /// Looking for a pair.
    case checking
    /// A pair is selected and has consent.
    case connected
    /// Consent expired.
    case disconnected
    /// No pair was found in time.
    case failed
}

/// What a datagram was to the agent.
public enum ICEDatagramResult: Hashable, Sendable {
    /// A check by the peer, authenticated and answered.
    case request
    /// The answer to a check of the agent.
    case response
    /// A keep-alive; it changes nothing.
    case indication
    /// Nothing that the agent could trust. It changed only a counter.
    case ignored(ICERejection)
}

/// Why a datagram was ignored.
public enum ICERejection: Hashable, Sendable {
    /// Not a well-formed STUN message.
    case malformed(STUNError)
    /// STUN, but not a Binding message.
    case unknownMethod
    /// FINGERPRINT is missing or does not match the bytes.
    case wrongFingerprint
    /// USERNAME or MESSAGE-INTEGRITY is missing or wrong.
    case unauthenticated
    /// A check from an address that the agent must not send to; see ``ICEReach``.
    case outOfReach
    /// A response that no transaction of the agent waits for, or one from an address other than that of the request.
    case unknownTransaction
    /// The agent failed or was disconnected, and answers nothing until a restart.
    case inactive
}

/// How often events happened that a healthy session does not see.
public struct ICECounters: Hashable, Sendable, BitwiseCopyable {
    /// Datagrams that were not well-formed STUN Binding messages.
    public var malformed: UInt32 = 0
    /// Messages whose USERNAME, MESSAGE-INTEGRITY or FINGERPRINT was wrong or missing.
    public var unauthenticated: UInt32 = 0
    /// Responses that do not match any request.
    public var unknownTransactions: UInt32 = 0
    /// Role conflicts, in either direction.
    public var roleConflicts: UInt32 = 0
    /// Remote candidates that were filtered out.
    public var filteredCandidates: UInt32 = 0
    /// Requests that found no room for a response or a pair.
    public var dropped: UInt32 = 0
    /// Checks that waited because the ``CheckBudget`` was spent.
    public var postponedChecks: UInt32 = 0
}
