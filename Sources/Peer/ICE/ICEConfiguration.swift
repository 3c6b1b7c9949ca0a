import Transport

/// Which agent decides on the pair (RFC 8445, section 6.1.1).
public enum ICERole: Sendable, BitwiseCopyable {
    /// The agent nominates: the one whose side sent the offer, or a full agent whose peer is lite.
    case controlling
    /// The agent accepts what the peer nominates.
    case controlled
}

/// How a controlling agent nominates.
public enum ICENomination: Sendable, BitwiseCopyable {
    /// A second check on the best valid pair carries USE-CANDIDATE (RFC 8445, section 8.1.1).
    case regular
    /// Every check carries USE-CANDIDATE, and the valid pair with the highest priority is used. RFC 8445 dropped it
    /// from RFC 5245, but it saves a round trip and every current agent still accepts it.
    case aggressive
}

/// The user name fragment and password of one agent in one generation (RFC 8839, section 5.4).
public struct ICECredentials: Hashable, Sendable {
    /// 4 to 256 characters of the ICE alphabet.
    public var usernameFragment: String
    /// 22 to 256 characters of the ICE alphabet.
    public var password: String

    /// Holds credentials as a session description carries them.
    public init(usernameFragment: String, password: String) {
        self.usernameFragment = usernameFragment
        self.password = password
    }

    /// Makes fresh credentials: 48 random bits of name, 144 of password.
    public init(using random: inout RandomSource) {
        self.init(usernameFragment: random.iceCharacters(8), password: random.iceCharacters(24))
    }

    /// Whether the lengths are those of RFC 8839, section 5.4. Credentials of other lengths are used all the same,
    /// as long as they fit a message.
    public var hasStandardLengths: Bool {
        (4...256).contains(usernameFragment.utf8.count) && (22...256).contains(password.utf8.count)
    }
}

/// The addresses at which an agent can be reached: what its candidates are made from.
public struct ICEAddresses: Hashable, Sendable {
    /// The addresses of its host, the best first, all of one socket per version of the Internet Protocol.
    public var hosts: [TransportAddress]
    /// The addresses at which STUN servers see the sockets of ``hosts``.
    public var reflexive: [TransportAddress]
    /// The addresses at which TURN servers relay for the agent.
    public var relayed: [TransportAddress]
    /// The addresses at which the agent accepts TCP connections (RFC 6544): its passive candidates.
    public var passive: [TransportAddress]
    /// How many of ``hosts``, from the first on, the peer reaches: it has just done so, or the routes say so. Their pairs come
    /// before all others; see ``ICELocalCandidate/hosts(_:reached:)``. 0 if nothing is known.
    public var reachedHosts: UInt8

    /// Names the addresses.
    public init(
        hosts: [TransportAddress], reachedHosts: UInt8 = 0, reflexive: [TransportAddress] = [],
        relayed: [TransportAddress] = [], passive: [TransportAddress] = []
    ) {
        self.hosts = hosts
        self.reachedHosts = reachedHosts
        self.reflexive = reflexive
        self.relayed = relayed
        self.passive = passive
    }
}

/// The settings of an agent.
public struct ICEConfiguration: Sendable {
    /// The role to begin with; a conflict may change it.
    public var role: ICERole
    /// The agent's own credentials.
    public var localCredentials: ICECredentials
    /// The peer's credentials, where they are known already.
    public var remoteCredentials: ICECredentials?
    /// The agent's own addresses.
    public var addresses: ICEAddresses
    /// Whether the peer only answers checks (RFC 8445, section 2.5). The agent is then controlling, whatever `role`
    /// says.
    public var remoteIsLite: Bool
    /// How to nominate when controlling.
    public var nomination: ICENomination
    /// The agent's intervals.
    public var timing = ICETiming()
    /// Where the agent may send checks to.
    public var reach = ICEReach()
    /// The first byte of the transaction identifiers of the agent's checks; nil for a random one.
    public var transactionMark: UInt8?

    /// Describes an agent.
    public init(
        role: ICERole, localCredentials: ICECredentials, remoteCredentials: ICECredentials? = nil,
        addresses: ICEAddresses, remoteIsLite: Bool = false, nomination: ICENomination = .regular
    ) {
        self.role = role
        self.localCredentials = localCredentials
        self.remoteCredentials = remoteCredentials
        self.addresses = addresses
        self.remoteIsLite = remoteIsLite
        self.nomination = nomination
    }
}

/// Which of the addresses that a peer names an agent may send checks to.
///
/// Deviation from RFC 8445, which pairs every remote candidate: attackers would like to have services probed on
/// privileged ports (DNS, NTP, SNMP) and on link-local addresses (the metadata service of cloud hosts is
/// 169.254.169.254). Viewers do not receive media there. Browsers and TURN relays use ephemeral ports. TURN servers
/// take requests at 443 and 3478, but a relayed candidate never has those ports.
public struct ICEReach: Sendable, BitwiseCopyable {
    /// Whether ports below 1024 are checked.
    public var includesPrivilegedPorts = false
    /// Whether 169.254.0.0/16 and `fe80::/10` are checked: for a peer that is known to be on the link.
    public var includesLinkLocal = false

    /// The reach for a viewer from elsewhere.
    public init() {}

    /// Everything, for an agent that trusts its peer: the gateway's media port may be any port.
    public static var everything: ICEReach {
        var reach = ICEReach()
        reach.includesPrivilegedPorts = true
        reach.includesLinkLocal = true
        return reach
    }
}

/// The intervals of an agent.
public struct ICETiming: Sendable, BitwiseCopyable {
    /// Ta: the time between two checks that nothing triggered (RFC 8445, section 14.2: 50 ms, at least 5 ms).
    public var pacing: Duration = .milliseconds(20)
    /// How long a check waits for its response before it is sent again; each further wait is twice as long.
    ///
    /// RFC 8445, section 14.3, requires at least half a second. On a lossy path the first second decides when the
    /// picture comes, and the pairs are few. So the agent begins lower and backs off.
    public var initialRetransmission: Duration = .milliseconds(100)
    /// The longest wait between two transmissions of a check.
    public var maximumRetransmission: Duration = .milliseconds(1600)
    /// How often a check may be sent. With the waits above it fails after 27.1 seconds: it survives a burst of losses
    /// for most of the agent's patience.
    public var maximumTransmissions: UInt8 = 20
    /// The longest wait between two transmissions of a check to an address from which nothing has ever come.
    public var maximumUnansweredRetransmission: Duration = .milliseconds(6400)
    /// How often a check may be sent to an address from which nothing has ever come. At first it is sent as often as to
    /// any other, so that a lossy path is found as fast. Then it is sent less and less often, for 25.5 seconds.
    public var maximumUnansweredTransmissions: UInt8 = 9
    /// How long a regular nomination waits for a better pair whose check is still in progress.
    public var nominationDelay: Duration = .milliseconds(100)
    /// How long after a pair was selected only a pair of higher priority replaces it; see ``ICEAgent``.
    public var settling: Duration = .seconds(2)
    /// The basic period of consent checks, randomised from 0.8 to 1.2 times (RFC 7675, section 5.1).
    public var consentInterval: Duration = .seconds(5)
    /// How soon an unanswered consent check is repeated; see ``ICEAgent``.
    public var consentRepetition: Duration = .seconds(1)
    /// How long consent checks may go unanswered before the path no longer counts as the peer's own: the first check
    /// and its three repetitions. See ``ICEAgent/hasFreshConsent(from:at:)``.
    public var consentFreshness: Duration = .seconds(4)
    /// How long consent lasts without a response (RFC 7675, section 5.1).
    public var consentLifetime: Duration = .seconds(30)
    /// How long checks from a relayed address that the peer does not know go unanswered before a restart is worth asking for;
    /// see ``ICEAgent/wantsRestart``. A peer that these checks reach answers within two round trips.
    public var relayPatience: Duration = .seconds(2)
    /// How long the agent waits for a pair before it fails (RFC 8863, section 4: 39.5 seconds at least).
    public var patience: Duration = .milliseconds(39_500)

    /// The intervals for ordinary use.
    public init() {}

    /// The intervals of an agent that trusts its peer: checks to an address that has never answered stay just as
    /// frequent.
    public static var persistent: ICETiming {
        var timing = ICETiming()
        timing.maximumUnansweredRetransmission = timing.maximumRetransmission
        timing.maximumUnansweredTransmissions = timing.maximumTransmissions
        return timing
    }
}

/// The bounds that keep a hostile session description or peer from growing an agent.
enum ICELimits {
    /// The most pairs of one agent (RFC 8445, section 6.1.2.5, requires a limit; 100 by default).
    static let pairs = 32
    /// The most responses that wait for the driver. It drains them after each datagram, so more than one or two mean a
    /// driver that does not.
    static let responses = 8
    /// The number of role conflicts after which a refused check fails instead of being sent in the other role.
    static let roleConflicts: UInt32 = 8
    /// How soon a check in progress may be sent again because the peer's own check came in.
    static let triggeredRepetition: Duration = .milliseconds(20)
}
